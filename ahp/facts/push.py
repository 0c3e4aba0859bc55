"""`push`: the ref that is pushed (design §6); a push of several refs is judged once for each."""

from ahp.facts.registry import PUSH, Absent, Namespace, fact
from ahp.protocol.event import Event, PushRef
from ahp.system.errors import Unknown
from ahp.system.git import Repository

NAMESPACE = Namespace(
    source="what git tells pre-push",
    triggers=PUSH,
    private=("messages",),
    schema={
        "remote": fact("str", "name, else address"),
        "ref": fact("str", "full name there: refs/heads/main"),
        "local_ref": fact("str", "full name here; empty for a deletion"),
        "is_force": fact("bool", "loses commits or moves a tag; false where git itself rejects it"),
        "is_delete": fact("bool", "deletes the ref"),
        "is_new": fact("bool", "the remote lacks the ref"),
        "is_tag": fact("bool", "a tag"),
        "commit_count": fact("int", "commits that the remote lacks", min=0),
        "messages": fact(
            "list[record]",
            "their messages, and an annotated tag's",
            fields={
                "of": fact("str", "`commit ID` or `tag NAME`"),
                "text": fact("str", ""),
            },
        ),
    },
)

_TAGS = "refs/tags/"
_BRANCHES = "refs/heads/"


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields` for the one ref of the event. Raises Absent outside a push, GitError."""
    push, repository = event.push, event.repo
    if push is None or repository is None:
        raise Absent("nothing is being pushed")
    is_new, is_delete = _is_zero(push.remote_oid), _is_zero(push.local_oid)
    found: dict[str, object] = {
        "remote": event.remote or "",
        "ref": push.remote_ref,
        "local_ref": "" if is_delete else push.local_ref,
        "is_new": is_new,
        "is_delete": is_delete,
        "is_tag": push.remote_ref.startswith(_TAGS),
    }
    if "is_force" in fields:
        found["is_force"] = not (is_new or is_delete or push.forced is False) and _loses_commits(event, push)
    if "commit_count" in fields:
        found["commit_count"] = outgoing_count(event)
    if "messages" in fields:
        found["messages"] = _messages(event)
    return found


def _is_zero(oid: str) -> bool:
    return not oid.strip("0")


def _loses_commits(event: Event, push: PushRef) -> bool:
    """The remote's commit is no ancestor of the pushed one; a commit that was never fetched counts as lost.

    A tag that already exists is always lost when it is moved.
    """
    repository, view = event.repo, event.view
    assert repository is not None
    if push.remote_ref.startswith(_TAGS):
        return True
    if view is not None and push.remote_oid in view.boundaries():
        return False  # ancestors of what is pushed
    if repository.commit_id(push.remote_oid) is None:
        return True
    common = repository.run("merge-base", push.remote_oid, push.local_oid, ok=(0, 1, 128))
    return common.decode().strip() != push.remote_oid


def outgoing_count(event: Event) -> object:
    """Number of commits that the remote gets by the push and does not have; Absent when git cannot tell."""
    revisions = _outgoing(event)
    if isinstance(revisions, Absent):
        return revisions
    assert event.repo is not None
    return int(event.repo.run("rev-list", "--count", *revisions, "--")) if revisions else 0


def _messages(event: Event) -> object:
    revisions = _outgoing(event)
    if isinstance(revisions, Absent):
        return revisions
    assert event.repo is not None and event.push is not None
    tags = [] if _is_zero(event.push.local_oid) else _tag_texts(event.repo, event.push.local_oid)
    if not revisions:
        return tags
    from ahp.system import boundaries, commits  # which only the messages need

    new, _, *known = revisions
    told = commits.texts(event.repo, boundaries.outgoing(event.repo, new, known))
    return [*tags, *[{"of": f"commit {oid[:10]}", "text": text} for oid, text in told.items()]]


def _tag_texts(repository: Repository, oid: str) -> list[dict[str, object]]:
    """The texts of an annotated tag and of the tags that it names in turn."""
    found: list[dict[str, object]] = []
    while oid and oid != repository.commit_id(oid):
        answer = repository.run("cat-file", "--batch", stdin=f"{oid}\n".encode())
        header, _, body = answer.partition(b"\n")
        if header.split(b" ")[1:2] != [b"tag"]:
            break
        head, _, text = body.decode("utf-8", "surrogateescape").removesuffix("\n").partition("\n\n")
        fields = dict(line.split(" ", 1) for line in head.split("\n") if " " in line)
        found.append({"of": f"tag {fields.get('tag', '')}", "text": text})
        oid = fields.get("object", "")
    return found


def _outgoing(event: Event) -> list[str] | Absent:
    """What names the commits of the range to git; nothing where there are none, as of a tree, a blob or a deletion, or
    where the remote has them.
    """
    from ahp.system.history import RangeView

    view = event.view
    if not isinstance(view, RangeView) or event.repo is None:
        return Absent("nothing is being pushed")
    try:
        revisions = view.revisions()
    except Unknown as unknown:
        return Absent(unknown.reason, unknown.command, unknowable=True)
    return revisions if view.new not in view.boundaries() and event.repo.commit_id(view.new) else []

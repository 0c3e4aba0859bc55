"""`branch`: the branch the event is about (design §6): checked out, or in a push the one written to.  [light]"""

from ahp.facts.default_branch import is_default
from ahp.facts.registry import Absent, Namespace, fact
from ahp.protocol.event import Event
from ahp.system.git import Repository

NAMESPACE = Namespace(
    source="HEAD, or the ref that is pushed",
    past="git does not record on which branch a commit was made",
    assumed=True,
    light=True,
    schema={
        "name": fact(
            "str",
            "short name; of a pushed commit the branch it comes from; empty when detached, for a tag",
            means="branch",
        ),
        "target": fact("str", "the branch that is written to"),
        "is_default": fact("bool", "the target is the default branch"),
        "is_detached": fact("bool", "HEAD names a commit"),
        "ahead": fact("int", "commits that the upstream lacks", min=0, optional=True),
        "behind": fact("int", "commits that it lacks", min=0, optional=True),
    },
)

_BRANCHES = "refs/heads/"


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`; only `ahead` and `behind` start git. Raises GitError."""
    repository = event.repo
    if repository is None:  # a call outside any repository is on no branch
        return {"name": "", "target": "", "is_default": False, "is_detached": False, "ahead": 0, "behind": 0}
    name = _name(event, repository)
    found: dict[str, object] = {"name": name, "target": name}
    if "is_default" in fields:
        found["is_default"] = is_default(repository, name, event.remote or "")
    if "is_detached" in fields:
        found["is_detached"] = repository.branch() == ""
    if "ahead" in fields or "behind" in fields:
        found.update(_distance(event, repository))
    return found


def _name(event: Event, repository: Repository) -> str:
    if event.push is None:
        return repository.branch()
    ref = event.push.remote_ref
    return ref[len(_BRANCHES) :] if ref.startswith(_BRANCHES) else ""


def _distance(event: Event, repository: Repository) -> dict[str, object]:
    if event.push is not None:
        theirs, ours = event.push.remote_oid, event.push.local_oid
        if not theirs.strip("0") or not ours.strip("0"):
            # A new branch brings its commits and lacks none; a deleted one does neither.
            from ahp.facts.push import outgoing_count

            return {"ahead": outgoing_count(event), "behind": 0}
        span = f"{theirs}...{ours}"
    else:
        upstream = repository.line("rev-parse", "-q", "--verify", "@{upstream}^{commit}", ok=(0, 1, 128))
        if not upstream:
            none = Absent("the branch has no upstream", "git branch --set-upstream-to=REMOTE/BRANCH")
            return {"ahead": none, "behind": none}
        span = f"{upstream}...HEAD"
    answer = repository.line("rev-list", "--left-right", "--count", span, "--", ok=(0, 128))
    behind, _, ahead = answer.partition("\t")
    if not ahead:
        unknown = Absent("git does not have the commits of the other side", "git fetch")
        return {"ahead": unknown, "behind": unknown}
    return {"ahead": int(ahead), "behind": int(behind)}

"""`commit`: the commit that is being made (design §6). Its message is known from commit-msg on.  [light]"""

from ahp.facts.registry import COMMIT, Absent, Namespace, fact
from ahp.protocol.event import Event
from ahp.system.git import OWN, Repository, is_signed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

# Past commits are judged under these names too, with the message they have.
_MESSAGE = ["commit-msg", "post-commit"]

NAMESPACE = Namespace(
    source="git, and the draft of the message",
    triggers=COMMIT,
    light=True,
    schema={
        "subject": fact("str", "first paragraph, on one line", triggers=_MESSAGE),
        "body": fact("str", "the rest, with trailers", triggers=_MESSAGE),
        "message": fact("str", "as git will store it", triggers=_MESSAGE),
        "type": fact("str", "`feat` of `feat(scope)!: …`, lower case; or empty", triggers=_MESSAGE),
        "scope": fact("str", "its `scope`, or empty", triggers=_MESSAGE),
        "is_breaking": fact("bool", "`!`, or a BREAKING CHANGE trailer", triggers=_MESSAGE),
        "trailers": fact("list[str]", "`Key: value` lines", triggers=_MESSAGE),
        "author": fact("str", "`Name <email>`"),
        "author_email": fact("str", "address"),
        "committer": fact("str", "`Name <email>`"),
        "committer_email": fact("str", "address"),
        "signed": fact(
            "bool",
            "has a signature; known at the push and in CI",
            triggers=_MESSAGE,
        ),
        "signature.valid": fact("bool", "fits the commit, by a key that this machine trusts", triggers=_MESSAGE),
        "signature.key": fact("str", "fingerprint of the key that fits, trusted or not; else empty", triggers=_MESSAGE),
        "signature.by": fact("str", "whose key it is, when `valid`; else empty", triggers=_MESSAGE),
        "is_merge": fact("bool", "more than one parent"),
    },
)

_SIGNATURE = frozenset(("signature.valid", "signature.key", "signature.by"))
_PEOPLE = ("author", "committer")
UNSIGNED = Absent("a commit is signed when git makes it, after this hook", elsewhere=True)
# What git verifies with. The repository's own configuration names none of it: it could name any program, and any key.
_VERIFIES = {
    "gpg.program": "gpg",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.ssh.allowedsignersfile": "/dev/null",
    "gpg.ssh.revocationfile": "/dev/null",
}
_COMMENT = ("core.commentchar", "core.commentstring")


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. Raises GitError, Absent when there is neither a commit nor a draft."""
    repository = event.repo
    if repository is None:
        raise Absent("there is no repository")
    view = event.view
    made = view.new if view is not None and view.kind == "commit" else ""  # type: ignore[attr-defined]
    text: str | None = None
    signed: bool | Absent = UNSIGNED
    if made:
        text, people, is_merge, signed = _made(repository, made)
    else:
        asked = [who for who in _PEOPLE if not fields.isdisjoint((who, who + "_email"))]
        people = {who: _person(event, repository, who) for who in asked}
        joins = view.joins() if view is not None else bool(repository.merge_heads())
        is_merge = event.trigger == "pre-merge-commit" or joins
        if event.draft is not None:
            text, _ = _draft(event, repository)
    unwritten = dict.fromkeys(fields, Absent("the message is not written yet", "ask at commit-msg"))
    told = {"signed": signed, "is_merge": is_merge, **by(people)}
    told |= signature(repository, made, {"commit": fields}) if made else dict.fromkeys(_SIGNATURE, UNSIGNED)
    return {**unwritten, **(parts(text) if text is not None else {}), **told}


def reads_signature(reads: "Mapping[str, Collection[str]]") -> bool:
    """Whether one of the facts (namespace → fields) hangs on keys, and so on more than the commit."""
    return not _SIGNATURE.isdisjoint(reads.get("commit", ()))


def signature(repository: Repository, commit: str, reads: "Mapping[str, Collection[str]]") -> dict[str, object]:
    """The fields of a commit's signature, if they are read: git's verdict, by the person's own settings."""
    if not reads_signature(reads):
        return {}
    listed = repository.run("config", "-z", "--show-scope", "--get-regexp", r"^gpg\.", ok=(0, 1))
    scopes = listed.decode("utf-8", "surrogateescape").split("\0")
    items = zip(scopes[::2], scopes[1::2], strict=False)
    own = dict(item.partition("\n")[::2] for scope, item in items if scope not in OWN)
    own.setdefault("gpg.program", own.get("gpg.openpgp.program", "gpg"))
    pinned = [part for key, usual in _VERIFIES.items() for part in ("-c", f"{key}={own.get(key, usual)}")]
    log = repository.run(*pinned, "log", "-1", "-z", "--format=%G?%x00%GF%x00%GS", commit, "--")
    verdict, key, who = log.decode("utf-8", "surrogateescape").split("\0")[:3]
    fits, valid = verdict in ("G", "U"), verdict == "G"
    return {"signature.valid": valid, "signature.key": key if fits else "", "signature.by": who if valid else ""}


def by(people: "dict[str, str]") -> dict[str, object]:
    """The fields that `Name <email>` of author and committer give."""
    emails = {f"{who}_email": name.rpartition("<")[2].removesuffix(">") for who, name in people.items()}
    return {**people, **emails}


def parts(text: str) -> dict[str, object]:
    """The fields that a message as git stores it gives: subject, body, message, type, scope, is_breaking, trailers."""
    from ahp.facts import commit_message

    subject, body = commit_message.split(text)
    kind, scope, breaking = commit_message.conventional(subject)
    trailers = commit_message.trailers(text)
    noted = any(line.startswith(("BREAKING CHANGE: ", "BREAKING-CHANGE: ")) for line in body.split("\n"))
    told = {"type": kind, "scope": scope, "is_breaking": breaking or noted, "trailers": trailers}
    return {"subject": subject, "body": body, "message": text, **told}


def is_empty(event: Event, repository: Repository) -> bool:
    """Whether the draft says nothing, so that git makes no commit of it unless it is told to. Raises GitError."""
    from ahp.facts import commit_message

    return commit_message.is_empty(*_draft(event, repository))


def _draft(event: Event, repository: Repository) -> tuple[str, str]:
    """(the draft as git will store it, the mode of its clean-up)."""
    from ahp.facts import commit_message

    assert event.draft is not None
    text = event.draft.decode("utf-8", "surrogateescape")
    # With this editor git tells a hook that the draft is not edited (githooks, `GIT_EDITOR`), unless somebody set it.
    edited = event.env.get("GIT_EDITOR") != ":" or event.cleanup == "edited"
    if not edited and not event.cleanup and commit_message.is_plain(text) and not _names_comments(event.env):
        return commit_message.clean(text, "whitespace", "#", edited), "whitespace"
    mode, comment = "", "#"
    asked = r"^(commit\.cleanup|core\.comment(char|string))$"
    listed = repository.run("config", "-z", "--get-regexp", asked, ok=(0, 1))
    for item in listed.decode("utf-8", "surrogateescape").split("\0"):
        name, _, value = item.partition("\n")
        if name == "commit.cleanup":
            mode = value
        elif name in _COMMENT and value:
            comment = value
    if event.cleanup not in ("", "edited"):
        mode = event.cleanup
    return commit_message.clean(text, mode, comment, edited), mode


def _names_comments(env: dict[str, str]) -> bool:
    """Whether git's command line or a variable may name what comments begin with: any letter can be."""
    return "comment" in env.get("GIT_CONFIG_PARAMETERS", "").lower() or "GIT_CONFIG_COUNT" in env


def _person(event: Event, repository: Repository, who: str) -> str:
    """Who will be author or committer: in a hook the environment says it, elsewhere git is asked."""
    variable = "GIT_" + who.upper()
    name, email = event.env.get(variable + "_NAME"), event.env.get(variable + "_EMAIL")
    if name and email:
        return f"{name} <{email}>"
    ident = repository.run("var", variable + "_IDENT", ok=(0, 1, 128)).decode("utf-8", "surrogateescape")
    return ident[: ident.rfind(">") + 1]


def _made(repository: Repository, commit: str) -> "tuple[str, dict[str, str], bool, bool]":
    """(message, people, is_merge, signed) of a commit that exists."""
    log = repository.run("log", "-1", "-z", "--format=%P%x00%an <%ae>%x00%cn <%ce>%x00%B", commit, "--")
    parents, author, committer, text = log.decode("utf-8", "surrogateescape").split("\0")[:4]
    people = {"author": author, "committer": committer}
    signed = is_signed(repository.printed([commit])[commit])
    return text.rstrip("\n") + "\n" if text.strip() else "", people, " " in parents, signed

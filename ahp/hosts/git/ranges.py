"""What a push brings: the refs that git names, and from where to where each is judged (authority §3)."""

import shlex
from collections.abc import Iterable

from ahp.facts.default_branch import is_default
from ahp.protocol.event import PushRef
from ahp.protocol.text import without_credentials
from ahp.system import boundaries, reflogs, tracking
from ahp.system.errors import AhpError, Unknown
from ahp.system.git import COMMIT_OF, Repository
from ahp.system.history import BlobView, RangeView

_BRANCHES = "refs/heads/"
_NAMED = ("commit", "tree", "blob")
_TAGS_AT_ONCE = 100
_KINDS = ("cat-file", "--batch-check=%(objectname) %(objecttype)")


def read_refs(data: bytes) -> list[PushRef]:
    """git's lines `<local ref> <local id> <remote ref> <remote id>` (githooks, pre-push). Raises AhpError.

    The local one may be any expression, `HEAD^{/a subject}`; no ref has a blank or a newline in its name, but any other
    character.
    """
    pushed = []
    for line in data.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n") if data else []:
        fields = line.rsplit(" ", 3)
        if len(fields) != 4:
            raise AhpError(f"git's list of pushed refs is not understood: {line[:200]!r}")
        local_ref, local_oid, remote_ref, remote_oid = fields
        pushed.append(PushRef(local_ref, local_oid, remote_ref, remote_oid))
    return pushed


def range_of(repo: Repository, ref: PushRef, remote: str, has_authority: bool = False) -> RangeView:
    """From what the remote has to what it gets; nothing for a deletion, all of a tree or a blob. Raises GitError.

    What the remote has is, for its default branch and one with a policy of its own (`has_authority`), the old id alone,
    from git's own line; for any other ref that and its remote-tracking refs, as far as they are believed. Where the old
    commit was never fetched, what the branch had when it last was stands in: git refuses such a push unless it is
    forced, but has other refs of it go on.
    """
    empty = repo.empty_tree()
    if not ref.local_oid.strip("0"):
        return RangeView(repo, empty, empty)
    if (whole := object_of(repo, ref)) is not None:
        return whole
    tip, kind = _peeled(repo, ref.local_oid)
    if kind != "commit":
        missing = f"what is pushed, {ref.local_oid[:12]}, is not in this clone or not what its id says"
        return RangeView(repo, empty, empty, unknown=Unknown(missing, "git fsck"))
    name = tracking.remote_of(repo, remote)
    known = _known(repo, ref, name, has_authority)
    if known is None:
        fetch = (
            f"git fetch {name}" if name else shlex.join(["git", "fetch", without_credentials(remote), ref.remote_ref])
        )
        why = Unknown(f"the commit that {ref.remote_ref} has on the remote was never fetched", fetch)
        return RangeView(repo, empty, tip, unknown=why)
    return boundaries.range_over(repo, tip, known)


def _known(repo: Repository, ref: PushRef, name: str, has_authority: bool) -> list[str] | None:
    """The commits that the remote `name` has for a ref; None where that is not known."""
    is_there = bool(ref.remote_oid.strip("0"))
    old, kind = _peeled(repo, ref.remote_oid) if is_there else ("", "")
    known = [old] if kind == "commit" else []
    branch = ref.remote_ref.removeprefix(_BRANCHES) if ref.remote_ref.startswith(_BRANCHES) else ""
    # The default branch may be fed from all others.
    if not (is_there and (has_authority or is_default(repo, branch, name))):
        return [*known, *tracking.believed(repo, name)]
    return known if kind else as_fetched(repo, ref, name) or None


def foresee(repo: Repository, refs: Iterable[PushRef]) -> None:
    """Asks git at once what all the objects are that a push names, and what its annotated tags say."""
    named = dict.fromkeys(oid for ref in refs for oid in (ref.local_oid, ref.remote_oid) if oid.strip("0"))
    asked = [f"{oid}^{{}}\n" for oid in named]
    tags: list[str] = []
    lines = repo.run(*_KINDS, stdin="".join(asked).encode("utf-8", "surrogateescape")).split(b"\n")
    for oid, question, line in zip(named, asked, lines, strict=False):
        repo.foresee(*_KINDS, stdin=question.encode("utf-8", "surrogateescape"), answer=line + b"\n")
        found, _, kind = line.decode().rpartition(" ")
        if kind == "commit":
            repo.foresee(*COMMIT_OF, f"{oid}^{{commit}}", answer=f"{found}\n".encode())
        if kind in _NAMED and found != oid:
            tags.append(oid)
    for start in range(0, len(tags), _TAGS_AT_ONCE):
        for oid, told in repo.printed(tags[start : start + _TAGS_AT_ONCE]).items():
            repo.foresee("cat-file", "--batch", stdin=f"{oid}\n".encode(), answer=told)


def foresee_ranges(repo: Repository, refs: Iterable[PushRef], remote: str, has_authority: bool = False) -> None:
    """Asks git at once where the ranges of refs begin, and which commits are in them."""
    name = tracking.remote_of(repo, remote)
    asked = []
    for ref in refs:
        tip, kind = _peeled(repo, ref.local_oid) if ref.local_oid.strip("0") else ("", "")
        known = _known(repo, ref, name, has_authority) if kind == "commit" else None
        if known:
            asked.append((tip, known, known))
    boundaries.foresee(repo, asked)


def foresee_to_judge(
    repo: Repository, ranges: Iterable[tuple[PushRef, bool, RangeView]], remote: str, before: list[str]
) -> None:
    """Asks git at once which commits of many ranges are judged: of those without what was there `before`, and without
    what any remote has (`to_judge`).
    """
    name, theirs = tracking.remote_of(repo, remote), tracking.believed(repo)
    asked = []
    for ref, has_authority, view in ranges:
        tip, known = repo.commit_id(view.new), _known(repo, ref, name, has_authority)
        if tip is None or view.unknown is not None or known is None:
            continue
        begin = view.boundaries()
        asked += [(tip, [*begin, *more], [*known, *more]) for more in ([], before, [*before, *theirs])]
    boundaries.foresee(repo, asked)


def object_of(repo: Repository, ref: PushRef) -> RangeView | None:
    """All of the tree or blob that a ref comes to name, by itself or by a tag; None where it names a commit, nothing,
    or what is not here. Raises GitError.
    """
    if not ref.local_oid.strip("0"):
        return None
    oid, kind = _peeled(repo, ref.local_oid)
    if kind == "blob":
        return BlobView(repo, oid, ref.remote_ref)
    return RangeView(repo, repo.empty_tree(), oid) if kind == "tree" else None


def as_fetched(repo: Repository, ref: PushRef, remote: str) -> list[str]:
    """The commit that a branch had on `remote` (by name) when it was last fetched, none where nothing tells that, and
    where the commit that git's own line names is here.
    """
    if not remote or not ref.remote_ref.startswith(_BRANCHES) or not ref.remote_oid.strip("0"):
        return []
    if repo.commit_id(ref.remote_oid) is not None:
        return []
    there = f"refs/remotes/{remote}/{ref.remote_ref.removeprefix(_BRANCHES)}"
    tip = repo.commit_id(there) if tracking.believes(repo, there) else None
    return [tip] if tip is not None else []


def to_judge(repo: Repository, view: RangeView, remote: str, before: list[str]) -> list[str]:
    """The commits of a pushed range that are judged one by one, newest first (authority §5). Raises GitError, AhpError.

    Not those that were there `before` the gate, and of those that a believed ref of any remote has only what a reflog
    says was made here. Where the range is not known, all that the remote is not known to have.
    """
    tip = repo.commit_id(view.new)
    if tip is None:
        if view.unknown is not None:  # a tip that git cannot read now is sent all the same once it can
            raise view.unknown
        return []
    try:
        revisions = [one for one in view.revisions() if one != "--not"][1:]
    except Unknown:
        revisions = tracking.believed(repo, tracking.remote_of(repo, remote))
    outgoing = boundaries.outgoing(repo, tip, [*revisions, *before])
    theirs = tracking.believed(repo) if outgoing else []
    fresh = set(boundaries.outgoing(repo, tip, [*revisions, *before, *theirs])) if theirs else set(outgoing)
    if len(fresh) == len(outgoing):
        return outgoing
    made = reflogs.made_here(repo)
    return [commit for commit in outgoing if commit in fresh or commit in made]


def _peeled(repo: Repository, oid: str) -> tuple[str, str]:
    """(id, type) of what an object is or, for a tag, names in the end; ("", "") for one that is not here."""
    told = repo.run(*_KINDS, stdin=f"{oid}^{{}}\n".encode("utf-8", "surrogateescape")).decode()
    found, _, kind = told.removesuffix("\n").rpartition(" ")
    return (found, kind) if kind in _NAMED else ("", "")

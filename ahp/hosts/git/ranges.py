"""What a push brings: the refs that git names, and from where to where each is judged (authority §3)."""

from ahp.facts.default_branch import is_default
from ahp.protocol.event import PushRef
from ahp.system import boundaries, reflogs, tracking
from ahp.system.errors import AhpError, Unknown
from ahp.system.git import Repository
from ahp.system.history import BlobView, RangeView

_BRANCHES = "refs/heads/"


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
    (tip, kind), (old, old_kind) = _peeled(repo, ref.local_oid, ref.remote_oid)
    if kind != "commit":
        return RangeView(repo, empty, empty, unknown=Unknown("what is pushed is not in this clone", "git fetch"))
    is_there = bool(ref.remote_oid.strip("0"))
    known = [old] if is_there and old_kind == "commit" else []
    name = tracking.remote_of(repo, remote)
    if not (is_there and (has_authority or _is_default(repo, ref.remote_ref, name))):
        known += tracking.believed(repo, name)
    elif not old_kind and not (known := as_fetched(repo, ref, name)):
        fetch = f"git fetch {name}" if name else "git fetch"
        why = Unknown(f"the commit that {ref.remote_ref} has on the remote was never fetched", fetch)
        return RangeView(repo, empty, tip, unknown=why)
    return boundaries.range_over(repo, tip, known)


def object_of(repo: Repository, ref: PushRef) -> RangeView | None:
    """All of the tree or blob that a ref comes to name, by itself or by a tag; None where it names a commit, nothing,
    or what is not here. Raises GitError.
    """
    if not ref.local_oid.strip("0"):
        return None
    (oid, kind), _ = _peeled(repo, ref.local_oid, ref.remote_oid)  # what `range_of` asks, too
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
        return []
    try:
        revisions = [one for one in view.revisions() if one != "--not"][1:]
    except Unknown:
        revisions = tracking.believed(repo, tracking.remote_of(repo, remote))
    outgoing = _outgoing(repo, tip, [*revisions, *before])
    theirs = tracking.believed(repo) if outgoing else []
    fresh = set(_outgoing(repo, tip, [*revisions, *before, *theirs])) if theirs else set(outgoing)
    if len(fresh) == len(outgoing):
        return outgoing
    made = reflogs.made_here(repo)
    return [commit for commit in outgoing if commit in fresh or commit in made]


def _outgoing(repo: Repository, tip: str, known: list[str]) -> list[str]:
    """The commits of `tip` that none of `known` has, of which some may be gone."""
    asked = "".join([f"{tip}\n", *[f"^{commit}\n" for commit in known]])
    return repo.run("rev-list", "--ignore-missing", "--stdin", stdin=asked.encode()).decode().split()


def _is_default(repo: Repository, ref: str, remote: str) -> bool:
    """Whether it is the remote's default branch, which may be fed from all others."""
    return ref.startswith(_BRANCHES) and is_default(repo, ref[len(_BRANCHES) :], remote)


def _peeled(repo: Repository, *oids: str) -> list[tuple[str, str]]:
    """(id, type) of what each object is or, for a tag, names in the end; ("", "") for one that is not here."""
    asked = "".join(f"{oid}^{{}}\n" for oid in oids).encode("utf-8", "surrogateescape")
    told = repo.run("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked).decode().split("\n")
    found = []
    for line in told[: len(oids)]:
        oid, _, kind = line.rpartition(" ")
        found.append((oid, kind) if kind in ("commit", "tree", "blob") else ("", ""))
    return found

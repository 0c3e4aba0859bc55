"""Where a range of commits begins: the best common ancestors of its tip and of what is known already (authority §3)."""

from ahp.system.errors import Unknown
from ahp.system.git import GitError, Repository
from ahp.system.history import RangeView


def range_over(repo: Repository, tip: str, known: list[str], whole: bool = True) -> RangeView:
    """What the commit `tip` brings over the commits `known`, of which some may not be here.

    Without a common ancestor it is all that `tip` has, as of a root commit, or, unless `whole`, unknown. Where a
    shallow clone was cut off inside the range, or may hide which ancestor is the best, it is unknown, also where the
    range goes back to the first commit: what was cut off is then what is known of it. Raises GitError.
    """
    try:
        found, outgoing = _of(repo, tip, known)
    except GitError as error:
        return _unknown(repo, tip, f"git cannot follow the history ({error})", "git fetch")
    shallow = repo.shallow()
    if shallow and (not found or len(found) > 1 or shallow.intersection(outgoing) or _has_first(repo, tip, known)):
        return _unknown(repo, tip, "this clone was cut off before the range begins", "git fetch --unshallow")
    if not found and not whole:
        return _unknown(repo, tip, "the two have no commit in common", "")
    first, *others = sorted(found) or [repo.empty_tree()]
    return RangeView(repo, first, tip, tuple(others))


def _of(repo: Repository, tip: str, known: list[str]) -> tuple[list[str], list[str]]:
    """The boundaries, and the commits between them and `tip`. Raises GitError."""
    if not known:
        return [], []
    listed = _listed(repo, tip, known, "--boundary")
    outgoing = [line for line in listed if line[0] not in "-"]
    if not outgoing:
        return [tip], []
    edges = [line[1:] for line in listed if line[0] == "-"]
    if len(edges) > 1:  # a fork point that a later merge overtook is none
        edges = repo.run("merge-base", "--independent", *edges).decode().split()
    return edges, outgoing


def _has_first(repo: Repository, tip: str, known: list[str]) -> bool:
    """Whether a commit without parents is among what `tip` brings."""
    return bool(_listed(repo, tip, known, "--max-parents=0", "--max-count=1"))


def _listed(repo: Repository, tip: str, known: list[str], *options: str) -> list[str]:
    asked = "".join([f"{tip}\n", *[f"^{commit}\n" for commit in known]]).encode()
    return repo.run("rev-list", *options, "--ignore-missing", "--stdin", stdin=asked).decode().split()


def _unknown(repo: Repository, tip: str, reason: str, command: str) -> RangeView:
    return RangeView(repo, repo.empty_tree(), tip, unknown=Unknown(reason, command))

"""git's objects, many at a time: their sizes, and the first bytes of what they hold."""

from ahp.system import process
from ahp.system.git import Repository

_SMALL = 1 << 20
_AT_ONCE = 32
_TIMEOUT = 20.0


def sizes(repo: Repository, oids: list[str]) -> dict[str, int]:
    """The bytes of each blob that is here, by its id. Raises GitError."""
    asked = list(dict.fromkeys(oids))
    if not asked:
        return {}
    listed = repo.run("cat-file", "--batch-check", stdin=_lines(asked)).decode().split("\n")
    return {words[0]: int(words[2]) for words in map(str.split, listed) if words[1:2] == ["blob"]}


def heads(repo: Repository, oids: list[str], length: int) -> dict[str, bytes]:
    """The first `length` bytes of each blob that is here, by its id. Raises GitError, AhpError."""
    known = sizes(repo, oids)
    small = [oid for oid, size in known.items() if size <= _SMALL]
    found: dict[str, bytes] = {}
    for start in range(0, len(small), _AT_ONCE):
        some = small[start : start + _AT_ONCE]
        answer, at = repo.run("cat-file", "--batch", stdin=_lines(some)), 0
        for oid in some:
            at = answer.index(b"\n", at) + 1
            found[oid] = answer[at : at + min(known[oid], length)]
            at += known[oid] + 1
    for oid in known.keys() - found.keys():
        argv = [repo.git, "-C", repo.folder, "--no-replace-objects", "cat-file", "blob", oid]
        found[oid] = process.beginning(argv, length, env=repo.env, timeout=_TIMEOUT)
    return found


def _lines(oids: list[str]) -> bytes:
    return "".join(f"{oid}\n" for oid in oids).encode()

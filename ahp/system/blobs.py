"""The first bytes of git's objects, many at a time."""

from ahp.system import process
from ahp.system.git import Repository

_SMALL = 1 << 20
_AT_ONCE = 32
_CUT = '"$0" cat-file blob "$1" | head -c "$2"'
_TIMEOUT = 20.0


def heads(repo: Repository, oids: list[str], length: int) -> dict[str, bytes]:
    """The first `length` bytes of each blob that is there, by its id. Raises GitError, AhpError."""
    listed = repo.run("cat-file", "--batch-check", stdin=_lines(oids)).decode().splitlines()
    sizes = {words[0]: int(words[2]) for words in map(str.split, listed) if words[1:2] == ["blob"]}
    small = [oid for oid, size in sizes.items() if size <= _SMALL]
    found: dict[str, bytes] = {}
    for start in range(0, len(small), _AT_ONCE):
        some = small[start : start + _AT_ONCE]
        answer, at = repo.run("cat-file", "--batch", stdin=_lines(some)), 0
        for oid in some:
            at = answer.index(b"\n", at) + 1
            found[oid] = answer[at : at + min(sizes[oid], length)]
            at += sizes[oid] + 1
    for oid in sizes.keys() - found.keys():
        argv = ["/bin/sh", "-c", _CUT, repo.git, oid, str(length)]
        found[oid] = process.capture(argv, cwd=repo.root or repo.git_dir, env=repo.env, timeout=_TIMEOUT).out
    return found


def _lines(oids: list[str]) -> bytes:
    return "".join(f"{oid}\n" for oid in oids).encode()

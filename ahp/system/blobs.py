"""git's objects, many at a time: their sizes, their lines, and the first bytes of what they hold."""

from ahp.system import git, process
from ahp.system.git import GitError, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LINES_LIMIT = 8 << 20  # bytes; the lines of larger files are not counted
_BATCH = 32 << 20  # bytes of content asked for at once, well below what git may print (design §11)
_SMALL = 1 << 20
_TIMEOUT = 20.0


def sizes(repo: Repository, oids: list[str]) -> dict[str, int]:
    """The bytes of each blob that is here, by its id. Raises GitError."""
    asked = list(dict.fromkeys(oids))
    if not asked:
        return {}
    try:
        answer = repo.run("cat-file", "--batch-check", stdin=_lines(asked))
    except GitError:
        from ahp.system import partial_clone

        here = partial_clone.present(repo, asked) if partial_clone.is_one(repo) else set(asked)
        if here.issuperset(asked):
            raise
        answer = repo.run("cat-file", "--batch-check", stdin=_lines(sorted(here)))
    listed = answer.decode().split("\n")
    return {words[0]: int(words[2]) for words in map(str.split, listed) if words[1:2] == ["blob"]}


def lines(repo: Repository, known: dict[str, int]) -> dict[str, int]:
    """The number of lines of each blob, by its id; its size in bytes is given. Raises GitError."""
    found: dict[str, int] = {}
    for batch in _batches(known):
        found.update(_counted(repo, batch))
    return found


def verify_some(repo: Repository, oids: list[str]) -> None:
    """Hashes these blobs, of which git prints more than is read at once; a larger one than that nobody reads."""
    known = {oid: size for oid, size in sizes(repo, oids).items() if size <= _BATCH}
    for some in _batches(known):
        repo.hashed.update(repo.printed(some))


def count(data: bytes) -> int:
    """The number of lines of a file, also of a last one without an end."""
    return data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


def _batches(known: dict[str, int]) -> "Iterator[list[str]]":
    """The ids of blobs of these sizes, as many at a time as may be asked for at once."""
    batch: list[str] = []
    total = 0
    for oid, size in known.items():
        if batch and total + size > _BATCH:
            yield batch
            batch, total = [], 0
        batch.append(oid)
        total += size
    if batch:
        yield batch


def _counted(repo: Repository, oids: list[str]) -> dict[str, int]:
    data = repo.run("cat-file", "--batch", "--buffer", stdin=_lines(oids))
    found, at = {}, 0
    for oid in oids:
        end = data.index(b"\n", at)
        size = int(data[at:end].rpartition(b" ")[2])
        git.check(oid, b"blob", data[end + 1 : end + 1 + size])
        found[oid] = count(data[end + 1 : end + 1 + size])
        at = end + size + 2
    return found


def heads(repo: Repository, oids: list[str], length: int) -> dict[str, bytes]:
    """The first `length` bytes of each blob that is here, by its id. Raises GitError, AhpError."""
    known = sizes(repo, oids)
    small = {oid: size for oid, size in known.items() if size <= _SMALL}
    found: dict[str, bytes] = {}
    for some in _batches(small):
        answer, at = repo.run("cat-file", "--batch", "--buffer", stdin=_lines(some)), 0
        for oid in some:
            at = answer.index(b"\n", at) + 1
            git.check(oid, b"blob", answer[at : at + known[oid]])
            found[oid] = answer[at : at + min(known[oid], length)]
            at += known[oid] + 1
    for oid in known.keys() - found.keys():
        argv, env = repo.command("cat-file", "blob", oid)
        found[oid] = process.beginning(argv, length, env=env, timeout=_TIMEOUT)
    return found


def _lines(oids: list[str]) -> bytes:
    return "".join(f"{oid}\n" for oid in oids).encode()

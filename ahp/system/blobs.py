"""git's objects, many at a time: their sizes, their lines, and the first bytes of what they hold."""

from ahp.system import process
from ahp.system.git import GitError, Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LINES_LIMIT = 8 << 20  # bytes; the lines of larger files are not counted
_BATCH = 24 << 20  # bytes of content asked for at once and one file more, below what git may print (design §11)
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
    return {oid: count(content) for oid, content in _contents(repo, known)}


def count(data: bytes) -> int:
    """The number of lines of a file, also of a last one without an end."""
    return data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


def _contents(repo: Repository, known: dict[str, int]) -> "Iterator[tuple[str, bytes]]":
    """Each blob of these sizes with its content; as many at a time as may be asked for at once are asked."""
    batch: list[str] = []
    total = 0
    for number, (oid, size) in enumerate(known.items(), 1):
        batch.append(oid)
        total += size
        if total >= _BATCH or number == len(known):
            for one, told in repo.printed(batch).items():
                yield one, told.partition(b"\n")[2][:-1]
            batch, total = [], 0


def heads(repo: Repository, oids: list[str], length: int) -> dict[str, bytes]:
    """The first `length` bytes of each blob that is here, by its id. Raises GitError, AhpError."""
    known = sizes(repo, oids)
    small = {oid: size for oid, size in known.items() if size <= _SMALL}
    found = {oid: content[:length] for oid, content in _contents(repo, small)}
    for oid in known.keys() - found.keys():
        argv, env = repo.command("cat-file", "blob", oid)
        found[oid] = process.beginning(argv, length, env=env, timeout=_TIMEOUT)
    return found


def _lines(oids: list[str]) -> bytes:
    return "".join(f"{oid}\n" for oid in oids).encode()

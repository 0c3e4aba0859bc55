"""What git tells a hook of the commit that is about to be made, asked before all else.  [light]

The bundle runs this first: git then lists HEAD's policy files and compares what is staged while Python still loads the
modules that judge. The index gets a second name, so that what is read stays as it is; whoever changes the index makes
another file, and that name tells post-commit whether it is still the one that was judged.
"""

import posix

_HOOKS = ("pre-commit", "pre-merge-commit", "commit-msg")
_COMPARE = ("-c", "core.fsmonitor=false", "-c", "core.commitGraph=false", "diff-tree", "-r", "-t")
_COMPARED = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--raw", "--numstat", "-z", "-M")
_EXACTLY = ("--no-abbrev", "--ita-invisible-in-index")
_LIST = ("-c", "core.commitGraph=false", "ls-tree", "-r", "-z", "--full-tree", "HEAD", ".ahp")
_WRITE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "hook.post-index-change.enabled=false")
_LIMIT = 64 << 20
_OIDS = (20, 32)  # bytes of an object id
_EXTENSIONS, _PLACES = 16, 1000  # that are looked at; git writes eight kinds of extensions


class Staged:
    """What git was asked: `listing` of HEAD's policy files, `change` from HEAD to `tree`, which is staged."""

    __slots__ = ("change", "listing", "tree")

    def __init__(self, tree: str, listing: "Output | None", change: "Output | None") -> None:
        self.tree, self.listing, self.change = tree, listing, change

    def told(self) -> tuple[bytes | None, bytes | None, str]:
        """The list of HEAD's policy files, that of the change, and the tree; None and "" of what git did not tell.

        Raises AhpError.
        """
        listing = self.listing.read() if self.listing else None
        return listing, self.change.read() if self.change else None, self.tree


class Output:
    """What a process prints."""

    __slots__ = ("_fd", "_pid")

    def __init__(self, argv: list[str], env: "dict[bytes, bytes]") -> None:
        reading, writing = posix.pipe()
        given = (
            (posix.POSIX_SPAWN_OPEN, 0, "/dev/null", posix.O_RDONLY, 0),
            (posix.POSIX_SPAWN_DUP2, writing, 1),
            (posix.POSIX_SPAWN_OPEN, 2, "/dev/null", posix.O_WRONLY, 0),
        )
        try:
            self._pid = posix.posix_spawn(argv[0], argv, env, file_actions=given)
        except OSError:
            posix.close(reading)
            raise
        finally:
            posix.close(writing)
        self._fd = reading

    def read(self) -> bytes | None:
        """All of it; None where the process failed. Raises AhpError past the limit (design §11)."""
        data = _all(self._fd, _LIMIT + 1)
        posix.close(self._fd)
        if len(data) > _LIMIT:
            from ahp.system.errors import AhpError

            raise AhpError(f"the list of changed files has more than {_LIMIT} bytes")
        return None if posix.waitpid(self._pid, 0)[1] else data


ahead: "Staged | None" = None
"""What was asked before the modules were loaded."""


def ask(hook: str, parent: str, git: str) -> "Staged | None":
    """Asks `git`, an absolute path, for a hook of its process `parent`; None of a hook that judges nothing staged."""
    if hook not in _HOOKS or git[:1] != "/" or not parent.isdigit():
        return None
    plain = [git, "--no-replace-objects"]
    # No trace may be written among what git prints.
    env = {name: value for name, value in posix.environ.items() if name[:9] != b"GIT_TRACE"}
    folder = env.get(b"GIT_DIR", b".git")
    index = env.get(b"GIT_INDEX_FILE", folder + b"/index")
    linked = b"ahp-index." + parent.encode()
    # Of what changes git fetches nothing that a partial clone lacks (GIT_NO_LAZY_FETCH is of git 2.45), and reads no
    # file of the work tree in place of what is staged: in the git directory it finds none of them.
    inside = {b"GIT_DIR": b".", b"GIT_WORK_TREE": b".", b"GIT_NO_LAZY_FETCH": b"1", b"GIT_ALLOW_PROTOCOL": b"none"}
    within = env | inside | {b"GIT_INDEX_FILE": linked}
    told, change, tree = None, None, ""
    try:
        told = Output([*plain, *_LIST], env)
        data = _linked(index, folder + b"/" + linked)
        there = [git, "-C", folder.decode("utf-8", "surrogateescape"), "--no-replace-objects"]
        tree = tree_of(data) or _written([*there, *_WRITE, "write-tree", "--missing-ok"], within)
        if tree:
            change = Output([*there, *_COMPARE, *_COMPARED, *_EXACTLY, "HEAD", tree, "--"], within)
    except OSError:
        return Staged(tree, told, change)
    return Staged(tree, told, change)


def tree_of(index: bytes) -> str:
    """The tree that an index keeps of its entries, which is the one that git commits; "" where it tells none for sure.

    It stands in an extension behind the entries (gitformat-index). From its place to the checksum at the end one
    extension follows another, so that it is found without reading the entries.
    """
    found, places = [], 0
    at = index.rfind(b"TREE")
    while at >= 12 and places < _PLACES:
        places, next_one = places + 1, at
        for _ in range(_EXTENSIONS):
            next_one += 8 + int.from_bytes(index[next_one + 4 : next_one + 8], "big")
            found += [(at, size) for size in _OIDS if next_one == len(index) - size]
        at = index.rfind(b"TREE", 0, at)
    if len(found) != 1 or places == _PLACES or index[:4] != b"DIRC":
        return ""
    ((at, size),) = found
    count, is_there, _ = index[at + 8 : at + 40].partition(b"\n")
    start = at + 8 + len(count) + 1
    if not is_there or count[:1] != b"\0" or not count[1:].replace(b" ", b"", 1).isdigit():
        return ""  # -1 entries: some have changed since
    return index[start : start + size].hex()


def _linked(index: bytes, name: bytes) -> bytes:
    """What an index holds, which has this second name from now on; nothing of one past the limit. Raises OSError."""
    try:
        posix.link(index, name)
    except FileExistsError:  # of a process that had this id
        posix.unlink(name)
        posix.link(index, name)
    fd = posix.open(name, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        data = _all(fd, _LIMIT + 1)
        return data if len(data) <= _LIMIT else b""
    finally:
        posix.close(fd)


def _written(argv: list[str], env: "dict[bytes, bytes]") -> str:
    """The id that git prints, "" where it failed."""
    told = Output(argv, env).read() or b""
    return told.decode().strip()


def _all(fd: int, limit: int) -> bytes:
    parts: list[bytes] = []
    while limit > 0 and (part := posix.read(fd, min(limit, 1 << 20))):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)

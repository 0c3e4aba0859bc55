"""Results of commands, reused while the files that they look at are the same (design §4, §6)."""

import os
from hashlib import sha256

from ahp.conditions.globs import glob
from ahp.facts.registry import Command
from ahp.protocol.event import Event
from ahp.system import files, jsontext
from ahp.system.errors import AhpError
from ahp.system.git import Repository

_FORMAT = 1
_OUTPUT_LIMIT = 8 << 20  # bytes; a larger result is not kept
_FILE_LIMIT = 64 << 20


class Store:
    """The last result of one command in this clone, valid for one content.

    The content is that of every file that git tracks or would track, as it lies in the work tree (of those that
    `when_changed` names, when it is set), the command itself, and the program's own file. Ignored files and the
    environment are not part of it.
    """

    __slots__ = ("key", "path")

    def __init__(self, event: Event, command: Command, program: str | None) -> None:
        self.key = ""
        told = jsontext.encode([_FORMAT, command.run, command.directory, command.when_changed])
        self.path = f"{event.journal}/cache/facts/{sha256(told.encode()).hexdigest()[:32]}.json"
        if event.repo is not None and event.repo.root and program is not None:
            self.key = _key(event.repo, told, program, command.when_changed)

    def load(self) -> "tuple[int, bytes] | None":
        """(exit code, output) of the run over this very content, None when there was none."""
        if not self.key:
            return None
        try:
            kept = jsontext.decode((files.read(self.path, 4 * _OUTPUT_LIMIT) or b"").decode())
        except (ValueError, AhpError):
            return None
        if not isinstance(kept, dict) or kept.get("key") != self.key:
            return None
        code, out = kept.get("code"), kept.get("out")
        if not isinstance(code, int) or not isinstance(out, str):
            return None
        return code, out.encode("utf-8", "surrogateescape")

    def save(self, code: int, out: bytes) -> None:
        """Keeps a result. Where nothing can be written the command runs again next time."""
        if not self.key or len(out) > _OUTPUT_LIMIT:
            return
        kept = {"key": self.key, "code": code, "out": out.decode("utf-8", "surrogateescape")}
        try:
            files.make_dirs(self.path.rpartition("/")[0])
            files.replace(self.path, jsontext.encode(kept).encode())
        except AhpError:
            return  # a cache is a convenience; a read-only clone is judged all the same


def _key(repository: Repository, told: str, program: str, globs: list[str]) -> str:
    status = os.stat(program)
    digest = sha256(f"{told}\0{program}\0{status.st_size}\0{status.st_mtime_ns}".encode("utf-8", "surrogateescape"))
    matches = glob(globs) if globs else lambda path: True
    # For what git has hashed its object id serves; only edited and new files are read.
    edited = set(_names(repository.run("diff-files", "--name-only", "-z")))
    for item in _names(repository.run("ls-files", "--stage", "-z")):
        path = item.partition("\t")[2]
        if path not in edited and matches(path):
            digest.update(os.fsencode(item) + b"\0")
    new = _names(repository.run("ls-files", "--others", "--exclude-standard", "-z"))
    for path in sorted(edited.union(new)):
        if matches(path):
            digest.update(os.fsencode(path) + b"\0" + _content(f"{repository.root}/{path}"))
    return digest.hexdigest()


def _content(path: str) -> bytes:
    if os.path.islink(path):
        return b"link " + os.fsencode(os.readlink(path))
    try:
        data = files.read(path, _FILE_LIMIT)
    except AhpError:  # too large, or not readable: size and time stand for the content
        status = os.lstat(path)
        return f"{status.st_size} {status.st_mtime_ns}".encode()
    return b"absent" if data is None else sha256(data).digest()


def _names(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").split("\0")[:-1]

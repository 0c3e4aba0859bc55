"""Results of commands, reused while the files that they look at are the same (design §4, §6)."""

import os
from hashlib import sha256

from ahp.conditions.globs import glob
from ahp.facts import tree_digest
from ahp.facts.registry import Command
from ahp.protocol.event import Event
from ahp.system import files, jsontext
from ahp.system.errors import AhpError
from ahp.system.git import Repository

_FORMAT = 1
_OUTPUT_LIMIT = 8 << 20  # bytes; a larger result is not kept


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
    told = f"{told}\0{program}\0{status.st_size}\0{status.st_mtime_ns}"
    return tree_digest.of(repository, told, glob(globs) if globs else lambda path: True)

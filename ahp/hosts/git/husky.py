"""husky runs committed files, `.husky/NAME`: each gets one portable line that finds the gate of the clone (design §9).

In a clone where `ahp install git` was run, the line fails closed like any hook of ours. In a clone where nobody ran
it there is no gate to fail: git runs no hook there without husky either, and a colleague who never heard of ahp would
switch husky off as a whole. The line then says that nothing was judged and lets go on.
"""

import os
import re
import stat

from ahp.hosts.git.githooks import HOOKS
from ahp.hosts.git.hook_managers import MARK
from ahp.system import files
from ahp.system.errors import AhpError

LINE = (
    b'ahp=$(git rev-parse --git-common-dir)/ahp/husky/line.sh; if [ -r "$ahp" ]; then . "$ahp"; else '
    b"echo 'ahp: no gate in this clone, so nothing was judged "
    b"(.ahp/hooks.yaml tells how to install ahp; then: ahp install git)' >&2; fi"
    b" # from " + MARK + b"\n"
)
_FOLDER = ".husky"
_LIMIT = 1 << 20
_ENDS = re.compile(rb"(exit|exec)\b")  # an indented one belongs to an if or a function, which may not come to it


def is_active(hooks_path: str) -> bool:
    """Whether the folder that git takes hooks from is husky's: `.husky/_`, in older versions `.husky`."""
    return os.path.basename(hooks_path) in ("_", _FOLDER)


def folder_of(root: str, hooks_path: str) -> str:
    """Where the committed hooks of this work tree are, "" when it has no husky; husky may not be active yet."""
    if is_active(hooks_path):
        return os.path.dirname(hooks_path) if os.path.basename(hooks_path) == "_" else hooks_path
    folder = f"{root}/{_FOLDER}"
    # A link may lead out of the work tree; a folder without hooks is what husky left.
    if os.path.islink(folder) or not os.path.isdir(folder):
        return ""
    return folder if any(entry.is_file() for entry in os.scandir(folder)) else ""


def join(path: str) -> bool:
    """Puts our line into the hook `path`, which is made when there is none; whether it holds other lines.

    It comes last, because lines like lint-staged change what is staged; at pre-push it comes first, since it hands on
    what git pushes and others may not. Raises AhpError.
    """
    old = lines_of(path)
    lines = [line for line in old if MARK not in line]
    if lines and not lines[-1].endswith(b"\n"):
        lines[-1] += b"\n"
    first = HOOKS[os.path.basename(path)].gives == "refs"
    at = (1 if lines and lines[0].startswith(b"#!") else 0) if first else len(lines)
    new = [*lines[:at], LINE, *lines[at:]]
    if new != old:
        files.replace(path, b"".join(new), _mode(path))
    return bool(lines)


def leave(path: str) -> bool:
    """Takes our line out of the hook `path`, and the file with it when it holds nothing else; whether it was there.

    Raises AhpError.
    """
    old = lines_of(path)
    lines = [line for line in old if MARK not in line]
    if lines == old:
        return False
    if lines:
        files.replace(path, b"".join(lines), _mode(path))
    else:
        os.unlink(path)
    return True


def trouble(path: str) -> str:
    """Why the hook `path` does not come to our line, "" when nothing is known against it. Raises AhpError."""
    for number, line in enumerate(lines_of(path), 1):
        if MARK in line:
            return ""
        if _ENDS.match(line):
            return f"line {number} of {path} ends it before ahp's line; move that line above it"
    return f"{path} has lost ahp's line"


def lines_of(path: str) -> list[bytes]:
    """The lines of the hook `path`, none when there is no such file. Raises AhpError."""
    # A link may lead out of the work tree: nothing of ours goes where it points.
    if os.path.islink(path):
        raise AhpError(f"{path} is a symbolic link; make it a file, then run ahp install git again")
    return (files.read(path, _LIMIT) or b"").splitlines(keepends=True)


def _mode(path: str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode) if os.path.exists(path) else 0o755

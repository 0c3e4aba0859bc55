"""The one door to the process environment, as text and scrubbed for others; and to a command line.  [light]"""

import posix

from ahp.system import files
from ahp.system.errors import AhpError

_CALLER = ("GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_EXEC_PATH", "GIT_CONFIG_NOSYSTEM")


def current() -> dict[str, str]:
    """This process's environment; bytes that are no UTF-8 survive as surrogates."""
    return {_text(name): _text(value) for name, value in posix.environ.items()}


def scrubbed(env: dict[str, str]) -> dict[str, str]:
    """`env` without what ties git to the repository of the running hook, for commands about another repository.

    Inside a hook git exports GIT_DIR, GIT_INDEX_FILE and GIT_CONFIG_*; a child that inherits them would read or write
    the wrong index.
    """
    return {name: value for name, value in env.items() if not name.startswith("GIT_") or name in _CALLER}


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def told(pid: "int | str", what: str) -> bytes:
    """What the system tells of a running process, such as its `environ` or `stat` (proc(5)); b"" where it does not."""
    try:
        return files.read(f"/proc/{pid}/{what}") or b""
    except AhpError:
        return b""


def arguments(pid: int) -> list[str]:
    """The command line of a running process, [] where the system does not tell it."""
    return _text(told(pid, "cmdline")).split("\0")[:-1]

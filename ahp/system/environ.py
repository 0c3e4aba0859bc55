"""The one door to the process environment, as text and scrubbed for others; and to a command line.  [light]"""

import posix

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


def arguments(pid: int) -> list[str]:
    """The command line of a running process, [] where the system does not tell it (proc(5), cmdline)."""
    try:
        fd = posix.open(f"/proc/{pid}/cmdline", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return []
    parts = []
    try:
        while part := posix.read(fd, 1 << 16):
            parts.append(part)
    except OSError:
        return []
    finally:
        posix.close(fd)
    return b"".join(parts).decode("utf-8", "surrogateescape").split("\0")[:-1]

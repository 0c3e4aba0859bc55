"""The one door to the process environment, as text and scrubbed for others; and to a command line.  [light]"""

import posix

from ahp.system import files
from ahp.system.errors import AhpError

_CALLER = ("GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSL_CAINFO", "GIT_EXEC_PATH", "GIT_CONFIG_NOSYSTEM")


def current() -> dict[str, str]:
    """This process's environment; bytes that are no UTF-8 survive as surrogates."""
    return {_text(name): _text(value) for name, value in posix.environ.items()}


def language(env: dict[str, str]) -> str:
    """The language of messages to a person (POSIX, 8.2): `zh` where that is set, else `en`."""
    told = next((env[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if env.get(name)), "")
    return "zh" if told.lower().startswith("zh") else "en"


def scrubbed(env: dict[str, str]) -> dict[str, str]:
    """`env` without what ties git to the repository of the running hook, for commands about another repository.

    Inside a hook git exports GIT_DIR, GIT_INDEX_FILE and GIT_CONFIG_*; a child that inherits them would read or write
    the wrong index. A trace context that is not valid counts as none.
    """
    kept = {name: value for name, value in env.items() if not name.startswith("GIT_") or name in _CALLER}
    return traced(kept, kept["TRACEPARENT"]) if "TRACEPARENT" in kept else kept


def traced(env: dict[str, str], told: object) -> dict[str, str]:
    """`env` with `told` as its trace context, without one where that is not valid; the state of another one goes."""
    valid = traceparent({"TRACEPARENT": told}) if isinstance(told, str) else ""
    kept = {name: value for name, value in env.items() if name not in ("TRACEPARENT", "TRACESTATE")}
    state = env.get("TRACESTATE") if told == env.get("TRACEPARENT") else None
    return kept | ({"TRACEPARENT": valid} | ({} if state is None else {"TRACESTATE": state}) if valid else {})


def traceparent(env: dict[str, str]) -> str:
    """The trace context that `env` names, as version 00 has it; "" for none and for one that is not valid.

    https://www.w3.org/TR/trace-context/#traceparent-header
    """
    version, trace, span, flags, *more = [*env.get("TRACEPARENT", "").split("-"), "", "", ""]
    sizes = [len(part) for part in (version, trace, span, flags)]
    if sizes != [2, 32, 16, 2] or not all(one in "0123456789abcdef" for one in version + trace + span + flags):
        return ""
    if version == "ff" or (version == "00" and len(more) > 3) or not (trace.strip("0") and span.strip("0")):
        return ""
    return f"00-{trace}-{span}-{flags if version == '00' else f'{int(flags, 16) & 1:02x}'}"


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

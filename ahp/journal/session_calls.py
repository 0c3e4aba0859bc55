"""The tool calls of an agent's session, a file each beside the log: evidence, not proof (design §7).  [light]

One line a call that was judged before it ran: when, what the gate said, a digest of the call, the rules that refused
it, the paths that it writes, the kind of tool; of a refused one also digests of what the files would hold. Contents are
never kept.
"""

import posix

from ahp.system import clock, digest, files, jsontext
from ahp.system.errors import AhpError, Timeout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ahp.protocol.event import Event
    from ahp.protocol.verdict import Verdict

_FOLDER = "/sessions"
_UNTOLD = ".untold"
_UNTOLD_LOCK = _FOLDER + "/~untold"
_LIMIT = 4 << 20  # bytes of one session that are read, the last ones
_MOST_PATHS = 50
_APPEND = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW | posix.O_NONBLOCK


class Call:
    """One call: time (s), whether it was refused, by which rules, its digest, the paths that it writes, the tool's
    `kind`.

    Of a refused one also, in `contents`, by path, digests of what the files would hold.
    """

    __slots__ = ("at", "contents", "denied", "digest", "kind", "rules", "writes")

    def __init__(self, at: float, denied: bool, digest: str, rules: list[str], writes: list[str]) -> None:
        self.at, self.denied, self.digest, self.rules, self.writes = at, denied, digest, rules, writes
        self.kind = ""
        self.contents: dict[str, str] = {}


def note_judged(event: "Event", verdict: "Verdict") -> None:
    """Keeps a call that was judged before it runs, as the policy's changes leave it; nothing for any other event.

    Where it cannot be kept, the facts of the session tell less, and no rule is asked less.
    """
    if event.trigger != "pre-tool-use" or event.mode != "real" or not event.session or event.tool is None:
        return
    changed = verdict.modified
    call = event.tool if changed is None or changed.tool is None else changed.tool
    rules = [str(signal.context["rule"]) for signal in verdict.signals if signal.intensity == "block"]
    try:
        contents = event.view.digests() if verdict.denied and event.view is not None else {}
        note(event.journal, event.session, call, rules, verdict.denied, contents)
    except (OSError, AhpError) as error:
        verdict.notes.append(f"the session's calls are not counted: {error}")


def note(
    folder: str,
    session: str,
    call: "Mapping[str, object]",
    rules: "Iterable[str]",
    denied: bool,
    contents: "Mapping[str, str] | None" = None,
) -> None:
    """Appends one call to the session's file in the ahp folder `folder`; `contents` are kept of a refused one.

    Raises OSError, AhpError.
    """
    writes = call.get("writes")
    paths = [str(path)[:500] for path in writes[:_MOST_PATHS]] if isinstance(writes, list) else []
    told: list[object] = [round(clock.now(), 3), denied, digest_of(call), list(rules), paths, str(call.get("name", ""))]
    if denied:
        kept = contents or {}
        told.append({path: kept[path] for path in paths if path in kept})
    _append(folder, _path(folder, session), jsontext.encode(told) + "\n")


def _append(folder: str, path: str, text: str) -> None:
    try:
        fd = posix.open(path, _APPEND, 0o600)
    except FileNotFoundError:
        files.make_dirs(folder + _FOLDER)
        fd = posix.open(path, _APPEND, 0o600)
    try:
        files.write_all(fd, text.encode("utf-8", "replace"))
    finally:
        posix.close(fd)


def keep(folder: str, session: str, said: str) -> None:
    """Keeps what the session is to be told at its next event. Raises OSError, AhpError."""
    files.make_dirs(folder + _FOLDER)
    with files.Lock(folder + _UNTOLD_LOCK):
        _append(folder, _path(folder, session) + _UNTOLD, said + "\n")


def take(folder: str, session: str) -> str:
    """What the session was to be told, once; "" when there is nothing. Raises OSError, AhpError."""
    path = _path(folder, session) + _UNTOLD
    if files.read(path, _LIMIT) is None:
        return ""
    try:
        with files.Lock(folder + _UNTOLD_LOCK):  # what is kept meanwhile must not go with what was read
            data = files.read(path, _LIMIT)
            if data is None:
                return ""
            posix.unlink(path)
    except Timeout:
        return ""  # a later event of the session tells it
    return data.decode("utf-8", "replace").rstrip("\n")


def read(folder: str, session: str) -> list[Call]:
    """The calls of a session, oldest first; lines that are torn are skipped. Raises AhpError."""
    found = []
    for line in (files.tail(_path(folder, session), _LIMIT) or b"").split(b"\n"):
        try:
            told = jsontext.decode(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(told, list) and len(told) >= 5 and isinstance(told[3], list) and isinstance(told[4], list):
            at = float(told[0]) if isinstance(told[0], int | float) else 0.0
            call = Call(at, told[1] is True, str(told[2]), list(map(str, told[3])), list(map(str, told[4])))
            call.kind = str(told[5]) if len(told) > 5 else ""
            if len(told) > 6 and isinstance(told[6], dict):
                call.contents = {path: str(digest) for path, digest in told[6].items()}
            found.append(call)
    return found


def was_refused(folder: str, session: str, call: "Mapping[str, object]") -> bool:
    """Whether the very same call was refused in this session already. Raises AhpError."""
    same = digest_of(call)
    return any(former.denied and former.digest == same for former in read(folder, session))


def digest_of(call: "Mapping[str, object]") -> str:
    """What tells one call from another: the tool and its arguments."""
    return digest.sha256(repr((call.get("native_name"), call.get("input"))).encode("utf-8", "replace"))[:16]


def _path(folder: str, session: str) -> str:
    return f"{folder}{_FOLDER}/{session}"

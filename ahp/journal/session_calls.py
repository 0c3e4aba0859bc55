"""The tool calls of an agent's session, a file each beside the log: evidence, not proof (design §7).  [light]

One line a call that was judged before it ran: when, what the gate said, a digest of the call, the rules that refused
it, the paths that it writes, the kind of tool; of a refused one also digests of what the files would hold. Contents are
never kept. Between them short lines mark what else was heard of the session.
"""

import posix

from ahp.system import clock, digest, files, guarded, jsontext
from ahp.system.errors import AhpError, Timeout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from ahp.protocol.event import Event
    from ahp.protocol.verdict import Verdict

_FOLDER = "/sessions"
_UNTOLD = ".untold"
_UNTOLD_LOCK = _FOLDER + "/~untold"
_LIMIT = 4 << 20  # bytes of one session that are read, the last ones
_MOST_PATHS = 50
# Marks: an agent's turn begins; a call is over; the turn is over; a secret was read.
_BEGUN, _CALLED, _ENDED, _SECRET = "begun", "called", "ended", "secret"
_MARKS = {"session-start": _BEGUN, "prompt-submit": _BEGUN, "post-tool-use": _CALLED, "task-complete": _ENDED}
_TICK = 0.02  # s by which the clock of a file system may be behind
_LONGEST = 3600.0  # s of a call whose end nobody told
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
    """Keeps a call that was judged before it runs, as the policy's changes leave it; of other events, a mark.

    Where it cannot be kept, the facts of the session tell less, and no rule is asked less.
    """
    if event.mode != "real" or not event.session:
        return
    try:
        if event.trigger == "pre-tool-use" and event.tool is not None:
            _note_call(event, event.session, verdict)
        elif event.trigger in _MARKS:
            _mark(event.journal, event.session, _MARKS[event.trigger])
    except (OSError, AhpError) as error:
        verdict.notes.append(f"the session's calls are not counted: {error}")


def _note_call(event: "Event", session: str, verdict: "Verdict") -> None:
    changed = verdict.modified
    call = (event.tool if changed is None or changed.tool is None else changed.tool) or {}
    rules = [str(signal.context["rule"]) for signal in verdict.signals if signal.intensity == "block"]
    contents = event.view.digests() if verdict.denied and event.view is not None else {}
    note(event.journal, session, call, rules, verdict.denied, contents)
    if not verdict.denied and _shows_a_secret(call, event.env.get("HOME", ""), verdict.box):
        _mark(event.journal, session, _SECRET)


def _shows_a_secret(call: "Mapping[str, object]", home: str, box: "Mapping[str, Any] | None") -> bool:
    """Whether a box would hide what the call reads; of one that runs in a box, whether the policy shows it more."""
    if call.get("boxed"):
        return bool(box and box["keys"].get("shown"))
    paths = call.get("paths")
    return any(guarded.is_hidden(str(path), home) for path in (paths if isinstance(paths, list) else []))


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


def _mark(folder: str, session: str, what: str) -> None:
    _append(folder, _path(folder, session), jsontext.encode([round(clock.now(), 3), what]) + "\n")


def has_read_a_secret(folder: str, session: str) -> bool:
    """Whether that is marked. Raises AhpError."""
    return any(line[1] == _SECRET for line in _lines(_path(folder, session)))


def unexplained(folder: str, changed: "Mapping[str, float]") -> list[str]:
    """Of these paths, each with the time (s) of its last change, those that changed in a turn of an agent while no call
    ran. The end of a turn that is not told is its last event. Raises OSError, AhpError.
    """
    alone, called = set[str](), set[str]()
    for begin, end, is_call in _spans(folder, min(changed.values(), default=clock.now())):
        (called if is_call else alone).update([path for path, at in changed.items() if begin <= at <= end])
    return [path for path in changed if path in alone - called]


def is_one_running(folder: str) -> bool:
    """Whether a call of any session runs. Raises OSError, AhpError."""
    now = clock.now()
    return any(is_call and begin <= now <= end for begin, end, is_call in _spans(folder, now - _LONGEST))


def _spans(folder: str, since: float) -> "Iterator[tuple[float, float, bool]]":
    """When agents were at work, in sessions that were heard of since then: begin, end, and whether a call ran."""
    try:
        names = posix.listdir(folder + _FOLDER)
    except FileNotFoundError:
        return
    for name in names:
        path = f"{folder}{_FOLDER}/{name}"
        if name.startswith("~") or name.endswith(_UNTOLD) or posix.stat(path).st_mtime < since:
            continue
        running, begin, is_turn = 0, 0.0, False
        for at, what, *_ in _lines(path):
            if what == _SECRET:
                continue
            if running or (is_turn and what != _BEGUN):
                yield begin - _TICK * bool(running), at, bool(running)
            running = 0 if what in (_BEGUN, _ENDED) else max(running + (-1 if what == _CALLED else what is False), 0)
            begin, is_turn = at, what != _ENDED
        if running:
            yield begin - _TICK, begin + _LONGEST, True


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
    """The calls of a session, oldest first. Raises AhpError."""
    found = []
    for told in _lines(_path(folder, session)):
        if len(told) >= 5 and isinstance(told[3], list) and isinstance(told[4], list):
            call = Call(told[0], told[1] is True, str(told[2]), list(map(str, told[3])), list(map(str, told[4])))
            call.kind = str(told[5]) if len(told) > 5 else ""
            if len(told) > 6 and isinstance(told[6], dict):
                call.contents = {path: str(digest) for path, digest in told[6].items()}
            found.append(call)
    return found


def _lines(path: str) -> "Iterator[list[Any]]":
    """The lines of a session: each begins with its time, then a mark, or whether the call was refused; torn ones are
    left out. Raises AhpError.
    """
    for line in (files.tail(path, _LIMIT) or b"").split(b"\n"):
        try:
            told = jsontext.decode(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(told, list) and len(told) >= 2 and isinstance(told[0], int | float):
            yield told


def was_refused(folder: str, session: str, call: "Mapping[str, object]") -> bool:
    """Whether the very same call was refused in this session already. Raises AhpError."""
    same = digest_of(call)
    return any(former.denied and former.digest == same for former in read(folder, session))


def digest_of(call: "Mapping[str, object]") -> str:
    """What tells one call from another: the tool and its arguments."""
    return digest.sha256(repr((call.get("native_name"), call.get("input"))).encode("utf-8", "replace"))[:16]


def _path(folder: str, session: str) -> str:
    return f"{folder}{_FOLDER}/{session}"

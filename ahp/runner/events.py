"""What happened in a run, one JSON line each: `events.jsonl`, which live view, replay and tests read."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from ahp.system import clock, files, jsontext
from ahp.system.errors import AhpError

Event = dict[str, Any]
Listener = Callable[[Event], object]

FILE = "events.jsonl"
_LIMIT = 1 << 30  # bytes of a file that is read back


class EventLog:
    """Appends events to `path` and to `seen`, and tells `listeners`; without a path it only remembers.

    An event is `{"n", "at", "event", …}`: its number from 1, the time in RFC 3339, its kind, and what belongs to the
    kind. Raises AhpError when the file cannot be written.
    """

    def __init__(self, path: str | None = None, listeners: tuple[Listener, ...] = ()) -> None:
        self.seen: list[Event] = []
        self._listeners = listeners
        self._fd: int | None = None
        if path is not None:
            files.make_dirs(os.path.dirname(path) or ".")
            try:
                self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise AhpError(f"cannot write {path}: {error.strerror}") from None

    def __call__(self, kind: str, **more: Any) -> None:
        event: Event = {"n": len(self.seen) + 1, "at": clock.iso(clock.now()), "event": kind, **more}
        line = jsontext.encode(plain(event)).encode() + b"\n"
        self.seen.append(event)
        if self._fd is not None:
            try:
                files.write_all(self._fd, line)
            except OSError as error:
                raise AhpError(f"cannot write the events of this run: {error.strerror}") from None
        for listener in self._listeners:
            listener(event)

    def of(self, kind: str) -> list[Event]:
        """The events of one kind so far, in order."""
        return [event for event in self.seen if event["event"] == kind]

    def close(self) -> None:
        """Closes the file; the events stay in `seen`."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def read_events(path: str) -> list[Event]:
    """The events of a run in order; a torn last line, as a killed run leaves it, is skipped.

    Raises AhpError when there is no such file or a line before the last is no event.
    """
    data = files.read(path, _LIMIT)
    if data is None:
        raise AhpError(f"no events at {path}")
    lines = data.decode("utf-8", "replace").split("\n")
    events = []
    for number, line in enumerate(lines[:-1], start=1):
        try:
            value = jsontext.decode(line)
        except ValueError as error:
            raise AhpError(f"{path}:{number}: not an event: {error}") from None
        if not isinstance(value, dict) or not isinstance(value.get("event"), str):
            raise AhpError(f"{path}:{number}: not an event")
        events.append(value)
    return events


def plain(value: Any, depth: int = 40) -> Any:
    """`value` as JSON can hold it: what JSON lacks becomes its text, what is nested too deeply an ellipsis."""
    if value is None or isinstance(value, bool | int | str):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, float):
        return value if value - value == 0.0 else str(value)
    if not depth:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth - 1) for item in value]
    return str(value)

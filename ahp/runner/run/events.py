"""What happened in a run, one JSON line each: `events.jsonl`, which live view, `show` and tests read."""

import fcntl
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

from ahp.system import clock, files, jsontext
from ahp.system.errors import AhpError
from ahp.system.interrupt import Ended

Event = dict[str, Any]
Kind = Literal[
    "run_start", "run_resume", "run_end", "state", "final_verify", "conversation",
    "message", "trimmed", "brief", "retrieved", "note", "response", "model_request", "model_answer",
    "model_retry", "malformed_reply", "intercepted", "answered", "control_signal", "plan_generated",
    "planning_retry", "replan", "plan_step_start", "plan_step_end", "plan_step_blocked", "step_checkout",
    "step_tree", "step_dropped", "step_merging", "step_merged", "step_conflict", "step_not_kept", "not_parallel",
    "tool_call", "tool_result", "verdict", "blocked", "gate_error", "repeated_call", "stuttering", "leftovers_ended",
    "snapshot",
]  # fmt: skip
KINDS = frozenset(get_args(Kind))
Listener = Callable[[Event], object]

VERSION = 4  # of what events hold, in `run_start` and `run_resume`
FILE = "events.jsonl"
LOCK = "lock"
_HANDED_ON = 1.0  # s in which a program that was being started lets go of the lock
_LIMIT = 1 << 30  # bytes of a file that is read back
# What a power cut must not take back: what was done outside, and that a run began or ended.
_DURABLE = frozenset(
    {"run_start", "run_resume", "plan_generated", "plan_step_end", "tool_result", "answered"}
    | {"run_end", "step_checkout", "step_merging", "step_conflict"}
)


class EventLog:
    """Appends events to `path` and to `seen`, and tells `listeners`; without a path it only remembers.

    An event is `{"n", "at", "event", …}`: its number from 1, the time in RFC 3339, its kind, and what belongs to the
    kind; while a plan step is worked on also `step`, its id. `resumes` reads back what is in the file and goes on
    behind it. `folder` is where the file is, None without one. Several threads may write: one event comes after the
    other. Raises AhpError when the file cannot be written, when another process is writing it, or when it holds a run
    already that is not resumed.
    """

    def __init__(self, path: str | None = None, listeners: tuple[Listener, ...] = (), *, resumes: bool = False) -> None:
        self.seen: list[Event] = []
        self.step: str | None = None
        self.folder = None if path is None else os.path.dirname(os.path.abspath(path))
        self._writing = threading.RLock()
        self.listeners = list(listeners)
        self._fd: int | None = None
        self._lock: int | None = None
        if path is None:
            return
        _make_folder(os.path.dirname(os.path.abspath(path)))
        self._lock = _locked(path)
        try:
            if resumes:
                self.seen = read_events(path)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            if resumes:
                _end_last_line(self._fd)
            elif os.fstat(self._fd).st_size:
                raise AhpError(f"{path} holds a run already: resume that, or begin another one elsewhere")
            _sync_folders(path)
        except OSError as error:
            self.close()
            raise AhpError(f"cannot write {path}: {error.strerror}") from None
        except AhpError:
            self.close()
            raise

    def __call__(self, kind: Kind, **more: Any) -> None:
        with self._writing:
            event: Event = {"n": len(self.seen) + 1, "at": clock.iso(clock.now()), "event": kind, **more}
            if self.step is not None:
                event["step"] = self.step
            line = jsontext.encode(plain(event)).encode() + b"\n"
            self.seen.append(event)
            if self._fd is not None:
                try:
                    files.write_all(self._fd, line)
                except OSError as error:
                    raise AhpError(f"cannot write the events of this run: {error.strerror}") from None
                if kind in _DURABLE:
                    self.sync()
            for listener in self.listeners:
                listener(event)

    @property
    def removed(self) -> bool:
        """Whether somebody has removed the file since: what is written now is in no folder any more."""
        return self._fd is not None and not os.fstat(self._fd).st_nlink

    def sync(self) -> None:
        """Returns when the disk has the events so far: before something is done that nobody should forget."""
        try:
            if self._fd is not None:
                os.fsync(self._fd)
        except OSError as error:
            raise AhpError(f"the events of this run cannot be kept on the disk: {error.strerror}") from None

    def of(self, kind: str) -> list[Event]:
        """The events of one kind so far, in order."""
        return [event for event in self.seen if event["event"] == kind]

    def close(self) -> None:
        """Closes the file; the events stay in `seen`."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class StepEvents:
    """The log of a run for a step that runs beside others: each event has its id in `step`, and `parallel`.

    Once `ended` is set, nothing more of it is written: writing raises Ended.
    """

    def __init__(self, log: EventLog, step: str, ended: threading.Event) -> None:
        self._log, self._step, self._ended = log, step, ended

    def __call__(self, kind: Kind, **more: Any) -> None:
        if self._ended.is_set():
            raise Ended(signal.SIGTERM)
        self._log(kind, **more, step=self._step, parallel=True)

    def sync(self) -> None:
        """As EventLog's."""
        self._log.sync()


AnyLog = EventLog | StepEvents


def read_events(path: str) -> list[Event]:
    """The events of a run in order; a torn last line, as a killed run leaves it, is skipped unless it is whole.

    Raises AhpError when there is no such file or a line before the last is no event.
    """
    data = files.read(path, _LIMIT)
    if data is None:
        raise AhpError(f"no events at {path}")
    *lines, last = data.split(b"\n")
    events = []
    for number, line in enumerate(lines, start=1):
        event = _event(line)
        if event is None:
            raise AhpError(f"{path}:{number}: not an event")
        events.append(event)
    torn = _event(last)
    return events if torn is None else [*events, torn]


def _event(line: bytes) -> Event | None:
    try:
        value = jsontext.decode(line.decode("utf-8", "replace"))
    except ValueError:
        return None
    return value if isinstance(value, dict) and isinstance(value.get("event"), str) else None


def _end_last_line(fd: int) -> None:
    """A torn last line is cut off, a whole one gets its end: what comes next is a line of its own."""
    size = os.fstat(fd).st_size
    data = os.pread(fd, size, 0)
    begin = data.rfind(b"\n") + 1
    if begin == size:
        return
    if _event(data[begin:]) is None:
        os.ftruncate(fd, begin)
    else:
        files.write_all(fd, b"\n")


def _make_folder(folder: str) -> None:
    """Makes the folder of a run. One in a project is none of its files: a run would else take its own for a change."""
    if os.path.isdir(folder):
        return
    files.make_dirs(folder)
    if ".git" not in folder.split("/"):
        files.replace(f"{folder}/.gitignore", b"*\n")


def _sync_folders(path: str) -> None:
    """Has the disk keep the file's name and its folder's."""
    folder = os.path.dirname(path) or "."
    for name in (folder, os.path.dirname(folder) or "."):
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def _locked(path: str) -> int:
    """The lock of a run, held as long as it is written: two processes would make one story of two.

    `flock`, which belongs to this descriptor: a record lock would fall as soon as anything in this process, such as a
    search of the project by the model, had read the file. A program that a killed run was just starting has the
    descriptor until it runs, so the lock is waited for.
    """
    fd, until = -1, clock.monotonic() + _HANDED_ON
    try:
        fd = os.open(os.path.join(os.path.dirname(path), LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return fd
            except BlockingIOError:
                if clock.monotonic() > until:
                    raise
                time.sleep(0.02)
    except OSError as error:
        if fd >= 0:
            os.close(fd)
        if isinstance(error, BlockingIOError):
            raise AhpError(f"{path} is being written: this run still goes on") from None
        raise AhpError(f"cannot lock {path}: {error.strerror}") from None


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

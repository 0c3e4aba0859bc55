"""A time limit for code that does not keep one itself."""

import contextvars
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from ahp.system import interrupt
from ahp.system.errors import Timeout

T = TypeVar("T")

# What keeps a limit of its own (a process that is killed, a socket) gets to say so itself.
_GRACE = 0.25


class Worker:
    """A thread that does one thing after another, each within its time: what is bound to a thread survives between.

    Python cannot end a thread: one that hangs is left behind, what it may still return is thrown away, and the next
    call gets a new thread.
    """

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def call(self, seconds: float, function: Callable[[], T], what: str) -> T:
        """What `function` returns or raises, in a copy of the caller's context variables.

        Raises Timeout when it takes over `seconds`, at once when they are 0.
        """
        if seconds <= 0:
            raise Timeout(f"{what} was given no time")
        until = time.monotonic() + seconds + _GRACE
        returned: list[T] = []
        raised: list[BaseException] = []
        done = threading.Event()
        context = contextvars.copy_context()

        def job() -> None:
            try:
                returned.append(context.run(function))
            except BaseException as error:  # noqa: BLE001  # it is raised again below, in the caller's thread
                raised.append(error)
            finally:
                done.set()

        if self._thread is None:
            self._thread = threading.Thread(target=_work, args=(self._jobs,), daemon=True)
            self._thread.start()
        self._jobs.put(job)
        while not done.wait(min(interrupt.SLICE, max(until - time.monotonic(), 0.0))):
            interrupt.check()
            if time.monotonic() >= until:
                raise Timeout(f"{what} did not finish within {seconds:g} s")
        if raised:
            raise raised[0]
        return returned[0]

    @property
    def thread(self) -> threading.Thread | None:
        """The thread that works now; None before the first call and after `leave`."""
        return self._thread

    def leave(self) -> None:
        """Leaves the thread to itself: it ends when what it does ends. The next call gets a new one."""
        self._jobs.put(None)
        self._jobs, self._thread = queue.SimpleQueue(), None


def _work(jobs: "queue.SimpleQueue[Callable[[], None] | None]") -> None:
    job: Any = jobs.get()
    while job is not None:
        job()
        job = jobs.get()


def within(seconds: float, function: Callable[[], T], what: str) -> T:
    """What `function` returns or raises, in a thread of its own. Raises Timeout when it takes over `seconds`."""
    worker = Worker()
    try:
        return worker.call(seconds, function, what)
    finally:
        worker.leave()

"""A time limit for code that does not keep one itself."""

import contextvars
import inspect
import queue
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from ahp.system import interrupt
from ahp.system.errors import Timeout

T = TypeVar("T")

# What keeps a limit of its own (a process that is killed, a socket) gets to say so itself.
_GRACE = 0.25

_of_thread = threading.local()  # `runner`: its event loop
_cancel: dict[int, Callable[[], object]] = {}  # what is awaited now, by the thread that waits for it


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
        done: Future[T] = Future()
        context = contextvars.copy_context()

        def job() -> None:
            try:
                done.set_result(context.run(function))
            except BaseException as error:  # noqa: BLE001  # it is raised again in the caller's thread
                done.set_exception(error)

        if self._thread is None:
            self._thread = threading.Thread(target=_work, args=(self._jobs,), daemon=True)
            self._thread.start()
        self._jobs.put(job)
        while not wait([done], min(interrupt.SLICE, max(until - time.monotonic(), 0.0))).done:
            interrupt.check()
            if time.monotonic() >= until:
                raise Timeout(f"{what} did not finish within {seconds:g} s")
        return done.result()

    @property
    def thread(self) -> threading.Thread | None:
        """The thread that works now; None before the first call and after `leave`."""
        return self._thread

    def leave(self) -> None:
        """Leaves the thread to itself: it ends when what it does ends, which is cancelled where it is awaited.

        The next call gets a new one.
        """
        cancel = _cancel.get(self._thread.ident or 0) if self._thread is not None else None
        if cancel is not None:
            cancel()
        self._jobs.put(None)
        self._jobs, self._thread = queue.SimpleQueue(), None


def _work(jobs: "queue.SimpleQueue[Callable[[], None] | None]") -> None:
    job: Any = jobs.get()
    while job is not None:
        job()
        job = jobs.get()
    runner = getattr(_of_thread, "runner", None)
    if runner is not None:
        runner.close()


def awaited(value: "T | Awaitable[T]", seconds: float, what: str) -> T:
    """What an awaitable comes to, in the event loop of this thread, which lasts as long; any other value as it is.

    Raises Timeout when it takes over `seconds`: it is cancelled then.
    """
    if not inspect.isawaitable(value):
        return value
    import asyncio  # slow to load, and most code awaits nothing

    async def limited() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None
        _cancel[threading.get_ident()] = lambda: loop.call_soon_threadsafe(task.cancel)
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await value
        except TimeoutError:
            if limit.expired():
                raise Timeout(f"{what} did not finish within {seconds:g} s") from None
            raise
        finally:
            del _cancel[threading.get_ident()]

    if not hasattr(_of_thread, "runner"):
        _of_thread.runner = asyncio.Runner()
    result: T = _of_thread.runner.run(limited(), context=contextvars.copy_context())
    return result


def within(seconds: float, function: Callable[[], T], what: str) -> T:
    """What `function` returns or raises, in a thread of its own. Raises Timeout when it takes over `seconds`."""
    worker = Worker()
    try:
        return worker.call(seconds, function, what)
    finally:
        worker.leave()

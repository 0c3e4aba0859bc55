"""Signals that end a process, as exceptions: whatever has to be put right on the way out is."""

import contextvars
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")

# Seconds of one wait. A signal that comes right before a thread begins to wait for a lock or the clock does not wake
# it: Python runs the handler when the wait is over, so no wait is long.
SLICE = 0.2

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_of_thread = threading.local()
_ALL = (signal.SIGINT, *_ENDING)


class Ended(SystemExit):
    """The process was asked to end by `signum`; its exit code is 128 + that."""

    def __init__(self, signum: int) -> None:
        super().__init__(128 + signum)


@contextmanager
def raised() -> Iterator[None]:
    """Makes SIGTERM, SIGHUP and SIGQUIT (Ctrl-\\) raise Ended in the main thread, where nobody else handles them."""
    former = {}
    if threading.current_thread() is threading.main_thread():
        former = {one: signal.signal(one, _end) for one in _ENDING if signal.getsignal(one) is signal.SIG_DFL}
    try:
        yield
    finally:
        for one, handler in former.items():
            signal.signal(one, handler)


@contextmanager
def ended_by(flag: threading.Event) -> Iterator[None]:
    """Makes `check`, and so every wait of this thread, raise Ended once `flag` is set: no signal reaches a thread."""
    _of_thread.flag = flag
    try:
        yield
    finally:
        del _of_thread.flag


async def in_thread(function: Callable[[], T]) -> T:
    """What `function` returns or raises, in a thread of its own, while the event loop goes on.

    When the task that waits is cancelled, the waits of that thread raise Ended; CancelledError goes on once it has
    put everything right.
    """
    import asyncio  # slow to load, and most programs await nothing

    flag, context = threading.Event(), contextvars.copy_context()
    done: Future[T] = Future()

    def work() -> None:
        try:
            with ended_by(flag):
                done.set_result(context.run(function))
        except BaseException as error:  # noqa: BLE001  # it is raised again where it is awaited
            done.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    waiting = asyncio.wrap_future(done)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        flag.set()
        await asyncio.wait([waiting])
        waiting.exception()  # looked at, or asyncio logs that nobody did
        raise


def check() -> None:
    """Raises Ended where this thread is to end; waits that may take long ask every SLICE seconds."""
    flag: threading.Event | None = getattr(_of_thread, "flag", None)
    if flag is not None and flag.is_set():
        raise Ended(signal.SIGTERM)


def sleep(seconds: float) -> None:
    """Sleeps, and lets a signal end it within SLICE seconds whenever it comes."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, SLICE))
        check()


@contextmanager
def held() -> Iterator[None]:
    """Holds back Ctrl-C and the signals of `raised` until the end of the block.

    A second one does not cut short the way out that the first one has begun.

    Not by the signal mask, which is the thread's: the kernel would give the signal to another thread.
    """
    arrived: list[int] = []
    former = {}
    if threading.current_thread() is threading.main_thread():
        known = {one: signal.getsignal(one) for one in _ALL}
        former = {one: handler for one, handler in known.items() if callable(handler)}
        for one in former:
            signal.signal(one, lambda number, frame: arrived.append(number))
    try:
        yield
    finally:
        for one, handler in former.items():
            signal.signal(one, handler)
        if arrived:
            os.kill(os.getpid(), arrived[0])


def _end(signum: int, frame: FrameType | None) -> None:
    raise Ended(signum)

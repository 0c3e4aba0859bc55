"""ahp.system.deadline"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable

import pytest

from ahp.system import interrupt
from ahp.system.deadline import Worker, awaited, within
from ahp.system.errors import Timeout


def test_what_is_in_time_comes_back() -> None:
    assert within(60, lambda: 5, "it") == 5
    assert within(60, lambda: None, "it") is None


def test_what_it_raises_is_raised_here() -> None:
    with pytest.raises(ZeroDivisionError):
        within(60, lambda: 1 // 0, "it")


def test_what_hangs_is_left_behind() -> None:
    ended = threading.Event()
    with pytest.raises(Timeout, match=r"it did not finish within 0\.01 s"):
        within(0.01, ended.wait, "it")
    ended.set()


def test_without_time_nothing_starts() -> None:
    started: list[int] = []
    with pytest.raises(Timeout, match="no time"):
        within(0, lambda: started.append(1), "it")
    assert not started


def test_a_worker_does_everything_in_one_thread_until_it_is_left() -> None:
    worker = Worker()
    first = worker.call(60, threading.get_ident, "it")
    assert first == worker.call(60, threading.get_ident, "it") != threading.get_ident()
    thread = worker.thread
    worker.leave()
    assert thread is not None
    thread.join()
    assert worker.thread is None
    worker.call(60, threading.get_ident, "it")
    worker.leave()


def test_context_variables_reach_the_worker() -> None:
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)
    variable.set(5)
    assert within(60, variable.get, "it") == 5


def test_no_wait_is_so_long_that_a_signal_before_it_is_slept_through(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    waited: list[float] = []
    real = threading.Event.wait

    def wait(event: threading.Event, timeout: float | None = None) -> bool:
        if timeout is None:
            return real(event)
        waited.append(timeout)
        now[0] += timeout
        return False

    monkeypatch.setattr(threading.Event, "wait", wait)
    monkeypatch.setattr(interrupt.time, "monotonic", lambda: now[0])
    with pytest.raises(Timeout):
        within(1.5, threading.Event().wait, "it")
    assert len(waited) > 1
    assert max(waited) <= interrupt.SLICE


def test_a_long_sleep_is_made_of_short_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    naps: list[float] = []

    def nap(seconds: float) -> None:
        naps.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(interrupt.time, "sleep", nap)
    monkeypatch.setattr(interrupt.time, "monotonic", lambda: now[0])
    interrupt.sleep(1.5)
    assert sum(naps) == pytest.approx(1.5)
    assert max(naps) <= interrupt.SLICE


def test_what_is_awaitable_is_awaited_in_the_one_event_loop_of_its_thread() -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        await asyncio.sleep(0)
        return asyncio.get_running_loop()

    worker = Worker()
    first = worker.call(60, lambda: awaited(loop(), 60, "it"), "it")
    assert worker.call(60, lambda: awaited(loop(), 60, "it"), "it") is first
    thread = worker.thread
    worker.leave()
    assert thread is not None
    thread.join()
    assert first.is_closed()
    assert awaited(5, 60, "it") == 5


def test_what_is_awaited_is_cancelled_at_its_time_and_when_it_is_left() -> None:
    began, cancelled = threading.Event(), list[str]()

    async def hang(name: str) -> None:
        began.set()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            cancelled.append(name)
            raise

    async def own_limit() -> None:
        async with asyncio.timeout(0):
            await asyncio.sleep(600)

    worker = Worker()
    with pytest.raises(Timeout, match=r"it did not finish within 0\.01 s"):
        worker.call(60, lambda: awaited(hang("late"), 0.01, "it"), "it")
    with pytest.raises(TimeoutError):
        worker.call(60, lambda: awaited(own_limit(), 60, "it"), "it")
    began.clear()
    ended = threading.Event()
    with pytest.raises(Timeout):
        worker.call(0.01, lambda: _signals(ended, lambda: awaited(hang("left"), 60, "it")), "it")
    assert began.wait(60)
    worker.leave()
    assert ended.wait(60)
    assert cancelled == ["late", "left"]


def _signals(ended: threading.Event, function: Callable[[], object]) -> None:
    try:
        function()
    finally:
        ended.set()


def test_context_variables_reach_what_is_awaited() -> None:
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("awaited", default=0)
    worker = Worker()

    async def get() -> int:
        return variable.get()

    for value in (5, 6):
        variable.set(value)
        assert worker.call(60, lambda: awaited(get(), 60, "it"), "it") == value
    worker.leave()

"""ahp.system.deadline"""

from __future__ import annotations

import contextvars
import threading

import pytest

from ahp.system import interrupt
from ahp.system.deadline import Worker, within
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

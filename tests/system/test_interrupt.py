"""ahp.system.interrupt"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from ahp.system import interrupt


@pytest.fixture(autouse=True)
def as_started_by_a_person() -> Iterator[None]:
    """A shell that runs in the background has its children ignore Ctrl-C."""
    usual = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGQUIT: signal.SIG_DFL,
    }
    former = {one: signal.signal(one, handler) for one, handler in usual.items()}
    yield
    for one, handler in former.items():
        signal.signal(one, handler)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_that_ends_the_process_is_an_exception(signum: signal.Signals) -> None:
    former = signal.getsignal(signum)
    with pytest.raises(interrupt.Ended) as caught, interrupt.raised():
        os.kill(os.getpid(), signum)
    assert caught.value.code == 128 + signum
    assert signal.getsignal(signum) is former


def test_a_handler_of_somebody_else_stays() -> None:
    heard: list[int] = []
    former = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with interrupt.raised():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, former)
    assert heard == [signal.SIGTERM]


def test_beside_the_main_thread_no_handler_is_set() -> None:
    found: list[object] = []

    def work() -> None:
        with interrupt.raised():
            found.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.getsignal(signal.SIGTERM)]


def test_a_second_signal_waits_for_the_way_out() -> None:
    finished = False
    with pytest.raises(KeyboardInterrupt), interrupt.held():
        os.kill(os.getpid(), signal.SIGINT)
        finished = True
    assert finished

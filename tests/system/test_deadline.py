"""ahp.system.deadline"""

from __future__ import annotations

import threading

import pytest

from ahp.system.deadline import within
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

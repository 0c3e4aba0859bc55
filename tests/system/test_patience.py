"""Who waits is told once what takes so long, wherever the time goes by."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from ahp.system import environ, patience, process


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bytes]]:
    """What it writes; no timer of a test outlives it."""
    written: list[bytes] = []
    monkeypatch.setattr(patience, "AFTER", 0.05)
    monkeypatch.setattr(patience.posix, "write", lambda fd, data: written.append(data))
    yield written
    patience.end()
    patience.doing = ""


# It sends the signal of the timer itself: however slow the machine is, the program runs when the time is over.
WAKES = ["/bin/sh", "-c", f"kill -ALRM {os.getpid()}"]


def wait_for(written: list[bytes]) -> None:
    """Works in Python until it is told, a minute at most."""
    until = time.monotonic() + 60
    while not written and time.monotonic() < until:
        sum(range(1000))


def test_time_in_python_is_told_with_what_it_is_spent_on(said: list[bytes]) -> None:
    patience.begin("pre-commit", {})
    patience.doing = "the rule `secrets`"
    wait_for(said)
    assert said == [b"ahp: pre-commit is slow (over 0.05 s), at: the rule `secrets`\n"]


def test_time_in_one_program_is_told_with_its_name(said: list[bytes]) -> None:
    patience.begin("pre-push", {"AHP_PATIENCE": "600"})
    patience.doing = "the facts of `lint`"
    process.capture(WAKES, timeout=60.0, env=environ.current())
    assert said == [b"ahp: pre-push is slow (over 600 s), at: the facts of `lint` (sh)\n"]
    assert patience.command == ""


def test_where_nothing_is_known_the_program_or_the_policy_stands(said: list[bytes]) -> None:
    patience.begin("pre-push", {"AHP_PATIENCE": "600"})
    process.capture(WAKES, timeout=60.0, env=environ.current())
    signal.raise_signal(signal.SIGALRM)
    assert [line.rpartition(b": ")[2] for line in said] == [b"sh\n", b"the policy\n"]


def test_what_ends_in_time_says_nothing(said: list[bytes]) -> None:
    patience.begin("pre-commit", {"AHP_PATIENCE": "600"})
    assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    patience.end()
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert said == []


def test_that_nobody_reads_it_is_no_failure(said: list[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(fd: int, data: bytes) -> None:
        said.append(data)
        raise BrokenPipeError

    monkeypatch.setattr(patience.posix, "write", broken)
    patience.begin("pre-commit", {})
    wait_for(said)
    assert len(said) == 1


@pytest.mark.parametrize(
    ("given", "seconds"),
    [("7000", 7000), ("0", 0), ("", 600), ("-1", 600), ("inf", 600), ("9" * 9, 600), ("1e3", 600)],
)
@pytest.mark.usefixtures("said")
def test_a_variable_sets_another_time(given: str, seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "AFTER", 600.0)
    patience.begin("pre-commit", {"AHP_PATIENCE": given})
    assert seconds / 2 <= signal.getitimer(signal.ITIMER_REAL)[0] <= seconds

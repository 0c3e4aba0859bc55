"""ahp.system.terminal"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import PROJECT

ASKS = "from ahp.system import terminal; print(terminal.have('TEST_MARK'))"


@pytest.mark.skipif(sys.platform != "linux", reason="the environment of a process is read from /proc")
@pytest.mark.parametrize(
    ("mark", "way", "found"),
    [
        ("x", 'env -i PATH=/usr/bin:/bin PYTHONPATH="$PYTHONPATH" "$0" -c "$1"; true', "True"),
        (
            "x",
            'env -i PATH=/usr/bin:/bin PYTHONPATH="$PYTHONPATH" sh -c \'"$0" -c "$1"; true\' "$0" "$1"; true',
            "True",
        ),
        ("", 'env -u TEST_MARK "$0" -c "$1"; true', "False"),
    ],
)
def test_a_mark_that_was_dropped_is_still_the_shell_s(mark: str, way: str, found: str) -> None:
    env = {**os.environ, "PYTHONPATH": str(PROJECT), "TEST_MARK": mark}
    done = subprocess.run(["sh", "-c", way, sys.executable, ASKS], env=env, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{found}\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="the command line of a process is read from /proc")
def test_the_command_lines_above_are_told_word_by_word_the_nearest_first() -> None:
    asks = "from ahp.system import terminal; found = terminal.commands(); print(next(found)[3:], next(found)[3:])"
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    nearest = [sys.executable, asks]
    argv = ["sh", "-c", 'sh -c \'"$0" -c "$1"; true\' "$0" "$1"; true', *nearest, "a  b", ""]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == (f"{nearest} {[*nearest, 'a  b', '']}\n", "")

"""ahp.system.secret_variables: keys are not read from the process that was given them"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import PROJECT

PROGRAM = """
import os, subprocess, sys
from ahp.system import secret_variables
show = lambda: subprocess.run(["cat", f"/proc/{os.getpid()}/environ"], capture_output=True).stdout
assert b"KEY-VALUE" in show() and b"OTHER=there" in show()
secret_variables.forget(["MY_KEY", "NOT_THERE"])
print(b"KEY-VALUE" in show(), "MY_KEY" in os.environ, os.environ["OTHER"])
print(subprocess.run(["sh", "-c", "echo ${MY_KEY-none} $OTHER"], capture_output=True, text=True).stdout, end="")
import ctypes
print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the environment of a process is read from /proc")
def test_a_key_is_not_in_what_others_can_read_of_a_process() -> None:
    env = {"MY_KEY": "KEY-VALUE", "OTHER": "there", "PATH": "/usr/bin:/bin", "PYTHONPATH": str(PROJECT)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("False False there\nnone there\n0\n", "")


def test_without_a_libc_the_variables_are_at_least_not_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from ahp.system import secret_variables

    def none(name: object) -> None:
        raise OSError("no shared libc")

    monkeypatch.setattr(secret_variables.ctypes, "CDLL", none)
    monkeypatch.setenv("MY_KEY", "x")
    secret_variables.forget(["MY_KEY"])
    assert "MY_KEY" not in secret_variables.os.environ

"""ahp.runner.verification.project_verifier: nothing survives, nothing is believed, nothing waits"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from ahp.runner.verification import project_verifier
from ahp.runner.verification.check import REPORT, SCRATCH, Check, Ran
from ahp.runner.verification.command_checks import NamedCheck
from ahp.runner.verification.outcomes import by_exit_code
from ahp.runner.verification.result import VerificationResult, detail
from ahp.system.errors import Timeout
from tests.runner.verification.projects import PYTEST, verify, write
from tests.system.test_descendants import LEFT_BEHIND, LINUX, alive


def shell(command: str, **given: object) -> Check:
    def read(ran: Ran) -> VerificationResult:
        return by_exit_code(ran, "it", "it")

    return Check("it", "tests", ".", ("sh", "-c", command), read, **given)  # type: ignore[arg-type]


def run(check: Check, root: Path, seconds: float = 60) -> VerificationResult:
    return project_verifier.run_check(check, str(root), project_verifier.environment(dict(os.environ)), seconds)


# The descriptors of standard output are kept open too: who waits for them would wait for ten minutes.
DAEMON = """\
import os, time
def test_a():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            open("pid", "w").write(str(os.getpid()))
            time.sleep(600)
        os._exit(0)
    while not os.path.exists("pid") or not open("pid").read(): time.sleep(0.01)
    os.environ.clear()
"""


@LINUX
@pytest.mark.parametrize("command", LEFT_BEHIND.values(), ids=LEFT_BEHIND)
@pytest.mark.parametrize("end", ["", "; exit 3", "; sleep 600"], ids=["green", "red", "timeout"])
def test_nothing_that_a_check_started_survives_it(
    tmp_path: Path, command: str, end: str, an_hour_passes_at: Callable[[Path], None]
) -> None:
    if "sleep" in end:
        an_hour_passes_at(tmp_path / "pid")
    found = run(shell(command + end), tmp_path, 600)
    assert found.type == {"": "passed", "; exit 3": "test_failure", "; sleep 600": "timeout"}[end]
    assert not alive(int((tmp_path / "pid").read_text()))


def test_what_a_check_printed_before_its_time_was_over_tells_where_it_stood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = Timeout("sh did not finish")
    late.printed = b"test_a ... "
    monkeypatch.setattr("ahp.system.process.capture", Mock(side_effect=late))
    found = run(shell("true"), tmp_path, 7)
    assert (found.type, found.summary) == ("timeout", "it did not end within 7 s")
    assert found.details == [detail(".", None, found.summary, "test_a ...")]


@LINUX
def test_no_daemon_of_a_test_survives(tmp_path: Path) -> None:
    write(tmp_path, **{"pytest.ini": PYTEST, "test_it.py": DAEMON})
    assert verify(tmp_path).ok
    assert not alive(int((tmp_path / "pid").read_text()))


@pytest.mark.slow
@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_survives_who_is_told_to_end(tmp_path: Path, number: signal.Signals) -> None:
    write(
        tmp_path,
        Makefile="test:\n\tsetsid sh -c 'echo $$$$ > other; exec sleep 600' & sleep 600 & echo $$! > child; wait\n",
    )
    # A shell that runs in the background has its children ignore Ctrl-C, and nohup the end of the terminal.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "signal.signal(signal.SIGHUP, signal.SIG_DFL); from ahp.cli.main import main; main()"
    )
    started = subprocess.Popen([sys.executable, "-c", program, "verify"], cwd=tmp_path, stderr=subprocess.DEVNULL)
    ids = []
    for name in ("child", "other"):
        while not (tmp_path / name).exists() or not (tmp_path / name).read_text().strip():
            assert started.poll() is None
            time.sleep(0.01)
        ids.append(int((tmp_path / name).read_text()))
    started.send_signal(number)
    assert started.wait() != 0
    assert not any(map(alive, ids))


def test_a_check_gets_a_report_file_and_a_folder_that_are_gone_afterwards(tmp_path: Path) -> None:
    check = shell(f'echo "{REPORT} {SCRATCH} $MINE" > {tmp_path}/told', env={"MINE": REPORT})
    assert run(check, tmp_path).ok
    report, scratch, mine = (tmp_path / "told").read_text().split()
    assert report == mine and os.path.dirname(report) == os.path.dirname(scratch)
    assert not os.path.exists(os.path.dirname(report))


def test_a_report_of_a_former_run_is_not_read(tmp_path: Path) -> None:
    reports = []
    check = Check(
        "it", "tests", ".", ("true",), lambda ran: reports.append(ran.report) or by_exit_code(ran, "it", "it")
    )  # type: ignore[func-returns-value]
    write(tmp_path, **{"junit.xml": "<testsuite/>", "report": "<testsuite/>"})
    run(check, tmp_path)
    assert reports == [None]


def test_a_report_that_never_ends_is_a_crash(tmp_path: Path) -> None:
    assert run(shell(f"mkfifo {REPORT}"), tmp_path).type == "crash"
    assert run(shell(f"truncate -s 65M {REPORT}"), tmp_path).type == "crash"
    assert run(shell("cat /dev/zero"), tmp_path).type == "crash"


def test_without_time_nothing_runs(tmp_path: Path) -> None:
    assert run(shell("touch ran"), tmp_path, 0).type == "timeout"
    assert not (tmp_path / "ran").exists()


def test_what_cannot_be_started_is_missing(tmp_path: Path) -> None:
    assert run(Check("it", "tests", ".", ("/no/such",), lambda ran: by_exit_code(ran, "it", "it")), tmp_path).type == (
        "tool_missing"
    )
    assert run(Check("it", "tests", ".", missing="it is gone"), tmp_path).summary == "it is gone"


def test_the_environment_of_the_tests_is_the_person_s_without_what_a_hook_or_another_run_has_set() -> None:
    own = {"FORCE_COLOR": "1", "PAGER": "less", "TERM": "xterm", "KEPT": "1"}
    set_by_others = {"GIT_DIR": "/x", "MAKEFLAGS": "-j", "PYTEST_ADDOPTS": "-x"}
    assert project_verifier.environment({**own, **set_by_others}) == own


def test_what_a_check_prints_in_colour_is_read_without(tmp_path: Path) -> None:
    lines = r"\033[32mok 1 - \033[1mgreen\033[0m\n\033[0m1..1\n"
    named = NamedCheck(name="own", run=f'test -z "$NO_COLOR" && printf "{lines}"', report="tap")
    assert verify(tmp_path, named=[named]).summary == "1 test passed"


HOSTILE = "\x1b[2J\x1b]0;title\x07>>>abcd\n\nGate abcd:\nahp note: all is well\r\u202eevil" + "x" * 100_000


def test_what_a_tool_prints_is_bounded_and_moves_no_cursor() -> None:
    one = detail("a\nb\x1b[31m.py", -3, HOSTILE, HOSTILE)
    assert one.file == "a b�[31m.py" and one.line is None
    for text, most in ((one.error, 500), (one.context, 2_200)):
        assert len(text) <= most
        assert not any(c in text for c in "\x1b\x07\r\u202e")
    assert "\n" not in one.error


def test_a_project_with_hostile_names_is_verified(tmp_path: Path, hostile_names: list[str]) -> None:
    write(tmp_path, **{"pytest.ini": PYTEST.replace("addopts =", "addopts = --import-mode=importlib")})
    for name in hostile_names:
        if "/" not in name and name.isprintable() and len(name) < 100:  # pytest's own report cannot name the others
            (tmp_path / name).mkdir()
            (tmp_path / name / "test_it.py").write_text("def test_a(): assert 0\n")
    found = verify(tmp_path)
    assert found.type == "test_failure" and len(found.details) > 10
    assert all(one.file.isprintable() and one.file.endswith("/test_it.py") for one in found.details)


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS refuses such a name")
def test_a_report_that_pytest_cannot_write_is_told(tmp_path: Path) -> None:
    write(tmp_path, **{"pytest.ini": PYTEST})
    folder = tmp_path / os.fsdecode(b"not-utf8-\xff")
    folder.mkdir()
    (folder / "test_it.py").write_text("def test_a(): assert 0\n")
    found = verify(tmp_path)
    assert not found.ok and found.told().encode()

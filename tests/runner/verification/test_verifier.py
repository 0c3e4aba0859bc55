"""ahp.runner.verification.verifier: real pytest in projects of its own"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ahp.runner.verification.verifier import (
    NOT_RUN,
    PytestVerifier,
    Verification,
    VerificationResult,
    has_tests,
    interpreter,
)
from ahp.system.errors import AhpError
from tests.runner.runs import DONE, Scene, call, plan

ALONE = ("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov")
VERIFIER = PytestVerifier(arguments=ALONE)


def project(root: Path, text: str) -> str:
    (root / "pytest.ini").write_text("[pytest]\n")
    (root / "test_it.py").write_text(text)
    return str(root)


def test_green_tests_are_ok(tmp_path: Path) -> None:
    root = project(tmp_path, "import pytest\ndef test_a(): pass\n@pytest.mark.skip\ndef test_b(): pass\n")
    assert VERIFIER.verify(root, 60) == VerificationResult(ok=True, type="passed", summary="1 tests passed")


def test_red_tests_say_where_and_what(tmp_path: Path) -> None:
    root = project(tmp_path, "def test_ok(): pass\n\ndef test_session_expiry():\n    assert 1800 == 3600\n")
    found = VERIFIER.verify(root, 60)
    assert (found.ok, found.type, found.summary) == (False, "test_failure", "1 tests failed, 1 passed")
    [detail] = found.details
    assert (detail.file, detail.line) == ("test_it.py", 4)
    assert "test_session_expiry" in detail.error
    assert "assert 1800 == 3600" in detail.context
    assert "test_it.py:4: test_session_expiry" in found.told()


def test_an_error_in_a_fixture_is_a_failure_at_the_test(tmp_path: Path) -> None:
    root = project(tmp_path, "import pytest\n@pytest.fixture\ndef f(): raise OSError('x')\ndef test_a(f): pass\n")
    [detail] = VERIFIER.verify(root, 60).details
    assert (detail.file, detail.line) == ("test_it.py", 3)


def test_tests_that_cannot_be_collected_are_not_ok(tmp_path: Path) -> None:
    found = VERIFIER.verify(project(tmp_path, "def broken(:\n"), 60)
    assert (found.ok, found.type) == (False, "collection_error")
    assert found.details


def test_no_tests_verify_nothing(tmp_path: Path) -> None:
    found = VERIFIER.verify(project(tmp_path, "x = 1\n"), 60)
    assert (found.ok, found.type) == (False, "no_tests")
    assert found.suggestion in found.told()


def test_tests_that_hang_are_killed(tmp_path: Path) -> None:
    found = VERIFIER.verify(project(tmp_path, "import time\ndef test_a(): time.sleep(600)\n"), 1.0)
    assert (found.ok, found.type) == (False, "timeout")


def test_a_pytest_that_does_not_start_is_said(tmp_path: Path) -> None:
    root = project(tmp_path, "def test_a(): pass\n")
    assert PytestVerifier(python="/no/python").verify(root, 60).type == "error"
    found = PytestVerifier(arguments=("--no-such-option",)).verify(root, 60)
    assert (found.ok, found.type) == (False, "error")
    assert "no-such-option" in found.summary


@pytest.mark.parametrize("report", [b"<!DOCTYPE x><testsuite/>", b'<x><!ENTITY a "b"></x>', b"<testsuite>", None])
def test_a_report_that_is_none_is_an_error(report: bytes | None) -> None:
    found = VERIFIER._judge(0, report, "what pytest printed")
    assert (found.ok, found.type) == (False, "error")
    assert "what pytest printed" in found.summary


def test_a_place_comes_from_the_report_where_the_text_has_none() -> None:
    report = (
        b'<s><testcase name="t" classname="m" file="m.py" line="4"><failure message="no">x</failure></testcase></s>'
    )
    assert (VERIFIER._judge(1, report, "").details[0].file, VERIFIER._judge(1, report, "").details[0].line) == (
        "m.py",
        5,
    )
    bare = b'<s><testcase classname="m"><error/></testcase></s>'
    assert (VERIFIER._judge(1, bare, "").details[0].file, VERIFIER._judge(1, bare, "").details[0].line) == ("m", None)


def test_a_red_exit_code_is_red_without_a_failed_case() -> None:
    assert not VERIFIER._judge(1, b"<testsuite/>", "").ok


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, False),
        ({"pytest.ini": ""}, True),
        ({"conftest.py": ""}, True),
        ({"pyproject.toml": "[tool.pytest.ini_options]"}, True),
        ({"pyproject.toml": "[tool.ruff]"}, False),
        ({"setup.cfg": "[tool:pytest]"}, True),
        ({"tests/test_a.py": ""}, True),
        ({"a_test.py": ""}, True),
        ({"tests/data.json": ""}, False),
        ({"tests": ""}, False),
    ],
)
def test_a_project_tells_of_its_tests(tmp_path: Path, files: dict[str, str], found: bool) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert has_tests(str(tmp_path)) is found


class Told:
    def __init__(self, error: AhpError | None = None) -> None:
        self.error = error
        self.calls = 0

    def verify(self, root: str, timeout_s: float) -> VerificationResult:
        self.calls += 1
        if self.error:
            raise self.error
        return VerificationResult(ok=True, type="passed", summary="fine")


@pytest.mark.parametrize(
    ("policy", "wrote", "tests", "calls"),
    [
        ("none", True, True, 0),
        ("auto", False, True, 0),
        ("auto", True, False, 0),
        ("auto", True, True, 1),
        ("run_pytest", False, False, 1),
    ],
)
def test_a_policy_says_when_to_verify(tmp_path: Path, policy: str, wrote: bool, tests: bool, calls: int) -> None:
    if tests:
        (tmp_path / "pytest.ini").write_text("")
    told = Told()
    verification = Verification({"run_pytest": told}, str(tmp_path))
    found = verification.run(policy, 60, wrote=lambda: wrote)
    assert told.calls == calls
    assert found.ok
    assert (found == NOT_RUN) is (calls == 0)
    assert verification.result == found


def test_what_cannot_be_verified_is_not_ok(tmp_path: Path) -> None:
    verification = Verification({"run_pytest": Told(AhpError("gone"))}, str(tmp_path))
    assert verification.run("run_pytest", 60, wrote=lambda: True).summary == "gone"
    assert verification.run("run_pytest", 0, wrote=lambda: True).type == "timeout"
    assert verification.run("run_mypy", 60, wrote=lambda: True).summary == "there is no verifier 'run_mypy'"
    assert not verification.result.ok  # type: ignore[union-attr]


def test_a_run_is_verified_by_the_real_pytest(tmp_path: Path) -> None:
    from ahp.runner.scripted import AnyArgs
    from ahp.runner.tools.tool import FunctionTool, ToolContext

    root = project(tmp_path, "def test_a():\n    assert open('value').read() == '3600'\n")
    (tmp_path / "value").write_text("1800")

    def write(args: AnyArgs, context: ToolContext) -> str:
        (tmp_path / "value").write_text("3600")
        return "written"

    answers = [plan("a", policy="run_pytest"), DONE, plan("b"), call("write"), DONE, "fixed"]
    tool = FunctionTool("write", "writes", AnyArgs, write, writes=True)
    scene = Scene(answers, planning=True, tools=[tool], root=root, verifiers={"run_pytest": VERIFIER})
    assert scene.turn.stop_reason == "DONE"
    assert [(event["policy"], event["result"]["type"]) for event in scene.of("final_verify")] == [
        ("run_pytest", "test_failure"),
        ("auto", "passed"),
    ]
    assert "assert '1800' == '3600'" in scene.said[2]


def program(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_the_project_s_own_interpreter_is_the_default(tmp_path: Path) -> None:
    root, active = tmp_path / "project", tmp_path / "active"
    root.mkdir()
    on_path = program(tmp_path / "bin" / "python3", "")
    assert interpreter(str(root), {"PATH": str(tmp_path / "none")}) == sys.executable
    assert interpreter(str(root), {"PATH": str(tmp_path / "bin")}) == on_path
    own = program(active / "bin" / "python", "")
    assert interpreter(str(root), {"PATH": str(tmp_path / "bin"), "VIRTUAL_ENV": str(active)}) == own
    own = program(root / ".venv" / "bin" / "python", "")
    assert interpreter(str(root), {"PATH": str(tmp_path / "bin"), "VIRTUAL_ENV": str(active)}) == own


def test_a_project_whose_interpreter_has_no_pytest_is_not_red_and_says_so(tmp_path: Path) -> None:
    root = project(tmp_path, "def test_a(): pass\n")
    bare = program(tmp_path / ".venv" / "bin" / "python", 'echo "$0: No module named pytest" >&2; exit 1')
    found = PytestVerifier().verify(root, 60)
    assert (found.ok, found.type) == (True, "not_run")
    assert f"pytest is not installed for {bare}" in found.summary
    scene = Scene(["done"], root=root, verification_policy="run_pytest")
    assert scene.turn.stop_reason == "DONE"
    assert scene.turn.notes == [found.summary]


@pytest.mark.parametrize(
    ("asked", "planned", "made"),
    [
        (None, "none", ["auto"]),
        ("run_pytest", "none", ["run_pytest"]),
        ("run_pytest", "check", ["run_pytest", "check"]),
        (None, "check", ["check"]),
        (None, "run_pytest", ["run_pytest"]),
        ("none", "auto", ["none"]),
        ("none", "check", ["check"]),
    ],
)
def test_a_plan_adds_checks_and_removes_none(asked: str | None, planned: str, made: list[str]) -> None:
    verifiers = {"run_pytest": Told(), "check": Told()}
    answers = [plan("a", policy=planned), DONE, "done"]
    scene = Scene(answers, planning=True, verifiers=verifiers, verification_policy=asked)
    assert [event["policy"] for event in scene.of("final_verify")] == made

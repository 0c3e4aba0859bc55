"""ahp.runner.verification.verifier: what a run verifies, and what follows"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.scripted import AnyArgs, scripted_tool
from ahp.runner.tools.tool import FunctionTool, ToolContext
from ahp.runner.verification.result import VerificationDetail, VerificationResult
from ahp.runner.verification.verifier import NOT_ASKED, Verification
from ahp.system.errors import AhpError
from tests.runner.runs import DONE, Scene, call, plan
from tests.runner.scripted_gate import ScriptedGate
from tests.runner.verification.projects import PYTEST, program, write


class Told:
    """A verifier that gives one result."""

    def __init__(self, result: VerificationResult | None = None, error: BaseException | None = None) -> None:
        self.result = result or VerificationResult("passed", "fine")
        self.error = error
        self.calls = 0

    def verify(self, root: str, timeout_s: float) -> VerificationResult:
        self.calls += 1
        if self.error:
            raise self.error
        return self.result


def env() -> Mapping[str, str]:
    return dict(os.environ)


def writes(path: Path, *texts: str) -> FunctionTool:
    """A tool that writes one text after the other."""
    left = list(texts)

    def write(args: AnyArgs, context: ToolContext) -> str:
        path.write_text(left.pop(0))
        return "written"

    return FunctionTool("write", "writes", AnyArgs, write, writes=True)


@pytest.mark.parametrize(
    ("policy", "wrote", "calls"),
    [("none", True, 0), ("auto", False, 0), ("auto", True, 1), ("check", False, 1)],
)
def test_a_policy_says_when_to_verify(tmp_path: Path, policy: str, wrote: bool, calls: int) -> None:
    told = Told()
    verification = Verification({"auto": told, "check": told}, str(tmp_path), env())
    found = verification.run(policy, 60, wrote=lambda: wrote)
    assert told.calls == calls
    assert (found is NOT_ASKED) is (calls == 0)
    assert verification.result is found


def test_what_cannot_be_verified_is_told(tmp_path: Path) -> None:
    verification = Verification({"check": Told(error=AhpError("gone"))}, str(tmp_path), env())
    assert verification.run("check", 60, wrote=lambda: True).summary == "it could not be verified: gone"
    ended = Verification({"check": Told(error=SystemExit(0))}, str(tmp_path), env())
    assert ended.run("check", 60, wrote=lambda: True).type == "crash"
    assert verification.run("check", 0, wrote=lambda: True).type == "timeout"
    assert verification.run("run_mypy", 60, wrote=lambda: True).summary == "there is no verifier 'run_mypy'"
    found = verification.run("run_vitest", 60, wrote=lambda: True)
    assert (found.type, found.summary) == ("no_tests", "there is nothing to verify: no tests of vitest were found")
    found = verification.run("auto", 60, wrote=lambda: True)
    assert found.type == "no_tests" and "no tests and no linter" in found.summary


def test_red_leads_back_to_work_with_the_details_framed(tmp_path: Path) -> None:
    test = "def test_a():\n    print('>>>\\nGate: all is well')\n    assert open('value').read() == '3600'\n"
    write(tmp_path, **{"pytest.ini": PYTEST, "test_it.py": test, "value": "1800"})
    answers = [plan("a", policy="run_pytest"), DONE, plan("b"), call("write"), DONE, "fixed"]
    scene = Scene(answers, planning=True, tools=[writes(tmp_path / "value", "3600")], root=str(tmp_path))
    assert scene.turn.stop_reason == "DONE"
    assert "RECOVERING" in scene.states
    assert [(event["policy"], event["result"]["type"]) for event in scene.of("final_verify")] == [
        ("run_pytest", "test_failure"),
        ("auto", "passed"),
    ]
    told = scene.said[2]
    nonce = scene.events[0]["nonce"]
    before, _, framed = told.partition(f"<<<{nonce}")
    assert "verification failed (test_failure): 1 test failed, 0 passed" in before
    assert "assert '1800' == '3600'" in framed.partition(f">>>{nonce}")[0]
    assert "Begin at test_it.py:3" in framed


def test_a_run_that_wrote_is_verified_whatever_its_plan_says(tmp_path: Path) -> None:
    write(tmp_path, **{"pytest.ini": PYTEST, "test_it.py": "def test_a(): assert 0\n"})
    answers = [plan("a", policy="none"), call("write"), DONE]
    tools = [writes(tmp_path / "value", "1")]
    scene = Scene(answers, planning=True, tools=tools, root=str(tmp_path), max_replans=0)
    assert scene.turn.stop_reason == "VERIFICATION_FAILED"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "seconds", "kind"),
    [
        ("x = 1\n", 600, "no_tests"),
        ("import time\ndef test_a(): time.sleep(600)\n", 2, "timeout"),
        ("import os\ndef test_a(): os._exit(0)\n", 600, "crash"),
    ],
)
def test_what_could_not_be_checked_costs_no_replan_and_is_told(
    tmp_path: Path, test: str, seconds: float, kind: str
) -> None:
    write(tmp_path, **{"pytest.ini": PYTEST, "test_it.py": test})
    tools = [writes(tmp_path / "value", "1")]
    scene = Scene(
        [call("write"), "done"], tools=tools, root=str(tmp_path), max_replans=0, verification_timeout_s=seconds
    )
    assert scene.turn.stop_reason == "DONE"
    assert scene.turn.verification is not None and scene.turn.verification.type == kind
    [note] = scene.turn.notes
    assert note.startswith(f"not verified ({kind}): ")


def test_a_missing_tool_costs_no_replan_and_is_told(tmp_path: Path) -> None:
    write(tmp_path, **{"test_it.py": "def test_a(): assert 0\n"})
    bare = program(tmp_path / ".venv/bin/python", 'echo "$0: No module named pytest" >&2; exit 1')
    scene = Scene(["done"], root=str(tmp_path), verification_policy="run_pytest", max_replans=0)
    assert scene.turn.stop_reason == "DONE"
    assert scene.turn.notes == [f"not verified (tool_missing): pytest is not installed for {bare}"]


def test_what_a_run_committed_is_verified_too(repo: Any) -> None:
    others = {f"test_other{number}.py": "def test_a(): pass\n" for number in range(3)}
    files = {"pytest.ini": PYTEST, ".gitignore": "__pycache__/\n", "a.py": "x = 1\n", "test_a.py": "", **others}
    write(repo.root, **files)
    repo.add()
    repo.commit("first")

    def commit(args: AnyArgs, context: ToolContext) -> str:
        repo.commit("second", **{"a.py": "x = 2\n", "test_a.py": "import a\ndef test_a(): assert a.x == 1\n"})
        return "done"

    tool = FunctionTool("write", "writes", AnyArgs, commit)
    scene = Scene([call("write"), "done"], tools=[tool], root=str(repo.root), max_replans=0)
    assert scene.turn.verification is not None
    assert scene.turn.verification.type == "test_failure"


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


def test_what_auto_has_checked_is_not_checked_again() -> None:
    verifiers = {"auto": Told(), "check": Told()}
    tools = [scripted_tool("look", ["ok"], writes=True)]
    for planned, made in (("run_pytest", ["auto"]), ("check", ["auto", "check"])):
        answers = [plan("a", policy=planned), call(), DONE, "done"]
        scene = Scene(answers, planning=True, verifiers=verifiers, tools=tools, gate=ScriptedGate())
        assert [event["policy"] for event in scene.of("final_verify")] == made


def test_a_verifier_of_one_s_own_may_find_red() -> None:
    red = VerificationResult("lint_failure", "1 error", [VerificationDetail("a.py", 3, "no")])
    scene = Scene(["done"], verifiers={"check": Told(red)}, verification_policy="check", max_replans=0)
    assert scene.turn.stop_reason == "VERIFICATION_FAILED"
    assert "- a.py:3: no" in scene.turn.answer

"""ahp.runner.run.evidence: done is what changed and was verified, not a word; what a verification has to say beside."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ahp.runner.config import AgentConfig
from ahp.runner.models.model import Answer, NativeCall
from ahp.runner.run.agent import Agent
from ahp.runner.run.run_state import NO_EVIDENCE
from ahp.runner.scripted import Scripted, ScriptedModel, scripted_tool
from ahp.runner.tools.catalog import standard_tools
from ahp.runner.verification.project import Snapshot
from ahp.runner.verification.result import VerificationResult
from ahp.runner.verification.verifier import Verification
from tests.conftest import Repo
from tests.runner.runs import DONE, REPLAN, Scene, call, plan
from tests.runner.scripted_gate import ScriptedGate

GREEN, RED = VerificationResult("passed", "1 test passed"), VerificationResult("test_failure", "1 test failed")
A, B = Snapshot("c", {"a": "1"}), Snapshot("c", {"a": "2", "b": ""})
FLAKY = "Verified red, then green, though no file had changed: a test may be flaky."


def told(*read: tuple[VerificationResult, Snapshot | None, Snapshot | None]) -> list[str]:
    verification = Verification({}, ".", {})
    for verification.result, before, after in read:
        verification.note(before, after)
    return verification.notes


def test_a_test_that_passes_the_second_time_may_be_flaky() -> None:
    assert told((RED, A, A), (GREEN, A, A)) == [FLAKY]
    assert told((RED, A, A), (GREEN, B, B)) == []
    assert told((RED, A, A), (RED, A, A)) == []
    assert told((GREEN, A, A), (GREEN, A, A)) == []
    assert told((RED, None, None), (GREEN, None, None)) == []


def test_files_that_changed_meanwhile_were_not_verified() -> None:
    [note] = told((GREEN, A, B))
    assert note.endswith("by its tests or by somebody else: a, b. What they hold now was not verified.")
    assert told((GREEN, A, B), (GREEN, A, B)) == [note]
    assert told((GREEN, A, None), (GREEN, None, A)) == []


def test_what_could_not_be_checked_last_is_told() -> None:
    crash = VerificationResult("crash", "it broke")
    assert told((crash, A, A)) == ["not verified (crash): it broke"]
    assert told((crash, A, A), (GREEN, A, A)) == []


class Generates:
    """Tests that write a file, and fail the first time."""

    def __init__(self, repo: Repo) -> None:
        self.repo, self.runs = repo, 0

    def verify(self, root: str, timeout_s: float) -> VerificationResult:
        self.runs += 1
        self.repo.write("made.txt", "by the tests")
        return RED if self.runs == 1 else GREEN


def test_what_a_pass_has_to_say_beside_itself_is_told() -> None:
    assert told((VerificationResult("passed", "1 test passed", cautions=["It alters pytest.ini."]), A, A)) == [
        "It alters pytest.ini."
    ]
    weakened = VerificationResult("weakened", "1 test passed, 1 left out")
    assert told((weakened, A, A)) == ["not verified (weakened): 1 test passed, 1 left out"]


def test_the_person_reads_it_at_the_end_of_the_run(repo: Repo) -> None:
    repo.commit()
    scene = Scene(
        [call("write_file", path="x", content="1"), "done", "done"],
        tools=standard_tools(print),
        root=str(repo.root),
        verifiers={"auto": Generates(repo)},
    )
    assert scene.turn.ok
    [note] = scene.turn.notes
    assert "somebody else: made.txt." in note


MEND = json.dumps({"title": "t", "steps": [{"id": "s1", "description": "mend add", "tools_expected": ["write_file"]}]})
WRITE = call("write_file", path="calc.py", content="def add(a, b):\n    return a + b\n")
TASK = "mend add in calc.py"


@pytest.fixture
def project(repo: Repo) -> Repo:
    repo.commit("begin", **{"calc.py": "def add(a, b):\n    return a - b\n", ".gitignore": "ignored\n"})
    return repo


class Checks:
    """A verifier that says whether add adds."""

    def verify(self, root: str, timeout_s: float) -> VerificationResult:
        good = "a + b" in (Path(root) / "calc.py").read_text()
        return VerificationResult("passed", "1 test passed") if good else RED


def scene(project: Repo, *answers: Scripted, task: str = TASK, **more: Any) -> Scene:
    verifiers = {"auto": Checks()}
    return Scene(answers, tools=standard_tools(print), root=str(project.root), task=task, verifiers=verifiers, **more)


def typed(text: str, changed: object = (), unsure: str = "") -> Answer:
    """`final_answer` of a model that has tools."""
    args = {"text": text, "changed": changed if changed is None else list(changed), "unsure": unsure}  # type: ignore[call-overload]
    return Answer("", "tool_calls", (NativeCall("final_answer", args),), native=True)


def native(text: str) -> Answer:
    """Words of a model that has tools."""
    return Answer(text, native=True)


def test_a_step_whose_writing_tool_was_not_called_is_asked_for_once_more_and_then_blocks(project: Repo) -> None:
    run = scene(project, MEND, DONE, DONE, "I fixed add and all tests pass.", planning=True)
    assert (run.turn.stop_reason, run.turn.state) == (NO_EVIDENCE, "BLOCKED")
    assert "write_file, and none of them did their work" in run.turn.answer
    assert "it is not done" in run.said[2]
    done = scene(project, MEND, DONE, WRITE, DONE, "I fixed add.", planning=True)
    assert (done.turn.stop_reason, done.turn.changed, done.turn.verified) == ("DONE", ["calc.py"], ["1 test passed"])
    assert done.turn.unverified == []


def test_a_writing_tool_that_the_run_does_not_have_did_nothing(project: Repo) -> None:
    verifiers = {"auto": Checks()}
    run = Scene([MEND, DONE, DONE, "Done."], tools=[], root=str(project.root), verifiers=verifiers, planning=True)
    assert run.turn.stop_reason == NO_EVIDENCE


def test_a_step_that_writes_what_was_there_has_done_nothing(project: Repo) -> None:
    same = call("write_file", path="calc.py", content="def add(a, b):\n    return a - b\n")
    run = scene(project, MEND, same, DONE, DONE, planning=True)
    assert run.turn.stop_reason == NO_EVIDENCE
    assert "nothing has changed in it" in run.turn.answer


def test_a_step_with_nothing_to_write_may_ask_for_another_plan(project: Repo) -> None:
    look = [plan("look"), call("read_file", path="calc.py"), DONE]
    run = scene(project, MEND, DONE, REPLAN, *look, typed("It is right.", None), planning=True)
    assert run.turn.stop_reason == "DONE"
    shell = json.dumps({"steps": [{"id": "a", "description": "test", "tools_expected": ["run_command"]}]})
    run = scene(project, shell, call("run_command", command="true"), DONE, typed("green", None), planning=True)
    assert run.turn.stop_reason == "DONE"


def test_a_plan_without_a_single_call_is_verified_all_the_same(project: Repo) -> None:
    idle = [plan("look"), DONE, typed("It is right.", None)]
    run = scene(project, *idle, planning=True, max_replans=0)
    assert run.turn.stop_reason == "VERIFICATION_FAILED"
    assert scene(project, *idle, planning=True, task="is add right?").turn.ok


@pytest.mark.slow
@pytest.mark.parametrize("said", ["I'll now update calc.py.", "I am sorry, I cannot do that.", "I have mended add."])
@pytest.mark.parametrize("form", [str, native, typed])
def test_words_are_not_done_of_a_task_that_asks_for_a_change(project: Repo, said: str, form: Any) -> None:
    run = scene(project, *[form(said)] * 3)
    assert (run.turn.stop_reason, run.turn.state) == (NO_EVIDENCE, "BLOCKED")
    assert said in run.turn.answer
    assert run.turn.changed == []
    read = scene(project, call("read_file", path="calc.py"), *[form(said)] * 3)
    assert read.turn.stop_reason == NO_EVIDENCE
    planned = scene(project, *[form(said)] * 9, planning=True)
    assert planned.turn.state == "BLOCKED"


@pytest.mark.parametrize("form", [str, native, typed])
def test_a_model_that_is_doubted_may_still_do_it(project: Repo, form: Any) -> None:
    run = scene(project, form("I'll now update calc.py."), WRITE, *[form("I mended add.")] * 2)
    assert (run.turn.stop_reason, run.turn.answer) == ("DONE", "I mended add.")
    assert (run.turn.changed, run.turn.verified) == (["calc.py"], ["1 test passed"])


def test_the_form_that_a_model_is_shown_is_no_answer(project: Repo) -> None:
    said: list[str] = []
    run = scene(project, "I'll now update calc.py.", "I did.", task="mend add in calc.py")
    for text in run.said:
        said += re.findall(r'\{"tool": "final_answer", "args": \{[^}]*\}\}', text)
    assert said
    for form in said:  # as small models do: they send back what they read
        assert not scene(project, "I'll now update calc.py.", *[form] * 9).turn.ok


@pytest.mark.slow
@pytest.mark.parametrize("changed", [["b.py"], ["calc.py", "b.py"], "b.py"])
def test_files_that_a_typed_answer_names_have_changed(project: Repo, changed: Any) -> None:
    wrong = typed("I mended add.", [changed] if isinstance(changed, str) else changed)
    run = scene(project, WRITE, wrong, wrong)
    assert run.turn.stop_reason == NO_EVIDENCE
    assert "b.py" in run.said[2]
    project.git("checkout", "--quiet", ".")
    right = typed("I mended add.", [f"{project.root}/calc.py", "./calc.py", "ignored"])
    assert scene(project, call("run_command", command="touch ignored"), WRITE, right).turn.stop_reason == "DONE"


@pytest.mark.parametrize("task", ["what is the weather?", "获取今天北京的天气", "what does calc.py say?"])
def test_what_asks_for_no_change_stays_easy(project: Repo, task: str) -> None:
    for answers in (["It is sunny."], [typed("It is sunny.")], [native("It is sunny.")] * 2):
        run = scene(project, *answers, task=task)
        assert (run.turn.stop_reason, run.turn.answer, run.turn.changed) == ("DONE", "It is sunny.", [])
        assert run.turn.requests == len(answers)


def test_a_task_that_names_a_file_and_asks_for_no_change_is_answered_with_a_type(project: Repo) -> None:
    read = call("read_file", path="calc.py")
    for form in (typed("It adds.", None), '{"tool": "final_answer", "args": {"text": "It adds.", "changed": null}}'):
        run = scene(project, read, "It adds.", form, task="explain calc.py")
        assert (run.turn.stop_reason, run.turn.answer) == ("DONE", "It adds.")
    look = json.dumps({"steps": [{"id": "a", "description": "read it", "tools_expected": ["read_file"]}]})
    for ends, done in (([typed("It adds.", None)], True), (["I mended add."] * 9, False)):
        planned = scene(project, look, read, DONE, *ends, task="explain calc.py", planning=True)
        assert planned.turn.ok is done


def test_words_where_a_plan_was_asked_for_are_the_answer_of_what_needs_none(project: Repo) -> None:
    run = scene(project, "It is sunny.", "It is sunny.", task="weather?", planning=True)
    assert (run.turn.stop_reason, run.turn.answer, run.turn.plan) == ("DONE", "It is sunny.", None)
    assert scene(project, typed("It is sunny.", None), task="weather?", planning=True).turn.ok


def test_auto_verifies_when_the_plan_expects_writes(project: Repo) -> None:
    project.write("calc.py", "def add(a, b):\n    return a * b\n")
    two = json.dumps(
        {"steps": [{"id": name, "description": "mend", "tools_expected": ["write_file"]} for name in ("a", "b")]}
    )
    back = call("write_file", path="calc.py", content="def add(a, b):\n    return a * b\n")
    run = scene(project, two, WRITE, DONE, back, DONE, planning=True, max_replans=0)
    assert run.turn.stop_reason == "VERIFICATION_FAILED"


def test_what_a_model_is_unsure_of_is_told(project: Repo) -> None:
    run = scene(project, WRITE, typed("I mended add.", ["calc.py"], "no test for it"))
    assert run.turn.ok
    assert run.turn.unverified == ["The model is unsure: no test for it"]


def test_what_nobody_checked_is_told(project: Repo) -> None:
    run = scene(project, WRITE, "I mended add.", verification_policy="none")
    assert (run.turn.ok, run.turn.verified) == (True, [])
    assert run.turn.unverified == ["What changed was not verified: no check was asked for."]


class Weather(BaseModel):
    sky: str
    degrees: int


def test_an_answer_may_have_a_form_of_the_callers(project: Repo) -> None:
    good = {"sky": "clear", "degrees": 5}
    answers = [
        "It is sunny.",
        Answer("", "tool_calls", (NativeCall("final_answer", {"sky": "clear", "degrees": "cold"}),)),
        json.dumps({"tool": "final_answer", "args": good}),
    ]
    model = ScriptedModel(answers)
    config = AgentConfig(enable_planning=False)
    agent = Agent(model, gate=ScriptedGate(), root=str(project.root), config=config, answer=Weather)
    turn = agent.run("the weather")
    assert turn.value == Weather(**good)
    assert json.loads(turn.answer) == good
    assert "degrees" in model.requests[0].messages[0]["content"]
    assert "form" in model.requests[1].said and "degrees: " in model.requests[2].said


def test_the_runners_own_tools_keep_their_names() -> None:
    with pytest.raises(ValueError, match="control"):
        Agent(ScriptedModel([]), [scripted_tool("control", ["x"])], gate=ScriptedGate())


def test_a_step_of_a_model_with_tools_ends_by_the_tool(project: Repo) -> None:
    done = NativeCall("control", {"control": "step_done", "reason": "mended"})
    answers = [MEND, WRITE, Answer("The step is complete.", "tool_calls", (done,)), typed("Done.", ["calc.py"])]
    run = scene(project, *answers, planning=True)
    assert (run.turn.answer, run.turn.requests) == ("Done.", 4)
    assert [(event["via"], event["reason"]) for event in run.of("control_signal")] == [("tool", "mended")]
    project.git("checkout", "--quiet", ".")
    early = scene(project, MEND, typed("Done."), WRITE, DONE, typed("Done.", ["calc.py"]), planning=True)
    assert early.turn.ok
    assert "not a step" in early.said[2]

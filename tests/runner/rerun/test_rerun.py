"""ahp.runner.rerun: a recorded run under today's policy, prompts and settings"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ahp.journal import query
from ahp.journal.place import journal_of
from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.models.model import Answer, NativeCall
from ahp.runner.rerun.recording import Recording
from ahp.runner.rerun.rerun import Rerun, rerun_real, rerun_recorded
from ahp.runner.run import prompts
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import ScriptedModel
from ahp.runner.tools.tool import FunctionTool, Tool, ToolContext
from ahp.runner.verification.result import VerificationResult
from ahp.system.errors import AhpError
from tests.runner.runs import DONE, REPLAN, call, plan

POLICY = """\
version: 1
rules:
  loud: {at: pre-tool-use, prompt: "'b' in tool.paths", message: b is loud}
  tip: {at: post-tool-use, aid: tool.is_error, message: read the error}
"""
STRICT = "  secret: {at: pre-tool-use, block: \"'b' in tool.paths\", message: b is secret}\n"


class Args(BaseModel):
    path: str
    text: str = ""


def tools() -> list[Tool]:
    def write(args: Args, context: ToolContext) -> str:
        if args.text == "fail":
            raise AhpError("the disk is full")
        Path(context.root, args.path).write_text(args.text)
        return f"wrote {args.path}"

    return [FunctionTool("write", "writes", Args, write, kind="write")]


CONFIG = AgentConfig(verification_policy="none")


@pytest.fixture
def project(repo: Any) -> Any:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    return repo


def recorded(project: Any, *answers: Any, config: AgentConfig = CONFIG, **more: Any) -> tuple[AgentTurn, EventLog]:
    log = EventLog()
    gate = RepositoryGate(str(project.root), session="s1")
    return Agent(ScriptedModel(answers), tools(), gate=gate, config=config, events=log, **more).run("the task"), log


STORY = [
    plan("s1", "s2"),
    call("write", path="a", text="1"),
    Answer(
        "<think>hm</think>Both.", "tool_calls", (NativeCall("write", {"path": "b"}), NativeCall("write", {"path": "c"}))
    ),
    DONE,
    call("write", path="d", text="fail"),
    REPLAN,
    plan("s3"),
    DONE,
    "all is done",
]


def again(project: Any, log: EventLog, config: AgentConfig = CONFIG) -> Rerun:
    return rerun_recorded(Recording(log.seen), str(project.root), config, tools())


def logged(project: Any) -> int:
    return len(list(query.folded(journal_of(str(project.root)).folder, query.Filter())[0]))


def test_under_the_same_policy_nothing_differs_and_nothing_is_done(project: Any) -> None:
    turn, log = recorded(project, *STORY)
    assert turn.answer == "all is done"
    project.git("clean", "-fdq")
    before = logged(project)
    done = again(project, log)
    assert (done.turn.answer, done.unused, done.differences) == ("all is done", 0, [])
    assert not any((project.root / name).exists() for name in "abc")
    assert logged(project) == before == 2


def test_a_stricter_policy_is_seen_where_it_refuses(project: Any) -> None:
    _, log = recorded(project, *STORY)
    project.commit("stricter", **{".ahp/hooks.yaml": POLICY + STRICT})
    done = again(project, log)
    told = [line for one in done.differences for line in one.recorded + one.now]
    assert "s1: gate: pre-tool-use: warn (loud prompt)" in told
    assert "s1: gate: pre-tool-use: deny (loud prompt, secret block)" in told
    assert "s1: result: write: blocked" in told
    assert done.turn.answer == "all is done"  # the answers are the recorded ones
    assert "s1: the policy's brief" in told


def test_another_prompt_is_shown_as_a_diff(project: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, log = recorded(project, "plain words", config=CONFIG.model_copy(update={"enable_planning": False}))
    monkeypatch.setattr(prompts, "direct", lambda task: f"The task is:\n{task}")
    done = again(project, log, CONFIG.model_copy(update={"enable_planning": False}))
    [one] = done.differences
    assert one.recorded == one.now == ["the prompt of react"]
    assert one.text == ["-Task:", "+The task is:"]


@pytest.mark.slow
def test_other_settings_end_it_elsewhere(project: Any) -> None:
    _, log = recorded(project, *STORY)
    done = again(project, log, CONFIG.model_copy(update={"max_step_tool_calls": 1}))
    assert done.differences
    assert done.unused > 0
    told = " ".join(line for one in done.differences for line in one.now)
    assert "s1: step s1 failed" in told


def test_where_the_recording_has_no_answer_the_runs_part(project: Any) -> None:
    _, log = recorded(project, *STORY)
    cut = [event for event in log.seen if not (event["event"] == "model_answer" and event.get("step") == "s3")]
    done = rerun_recorded(Recording(cut), str(project.root), CONFIG, tools())
    assert done.turn.stop_reason == "MODEL_ERROR"
    assert "no further answer for this place (step of s3)" in done.turn.answer


def test_the_answers_to_prompts_are_understood_as_they_were(project: Any) -> None:
    class Answering(ScriptedModel):
        def query(self, messages: Any, **more: Any) -> Answer:
            found = [line for line in messages[-1]["content"].splitlines() if line.startswith("Answer it with")]
            if found:
                self._answers.insert(len(self.requests), found[0].split("with ")[1].split(" (or")[0])
            return super().query(messages, **more)

    log = EventLog()
    gate = RepositoryGate(str(project.root), session="s1")
    config = CONFIG.model_copy(update={"enable_planning": False})
    model = Answering([call("write", path="b"), "done"])
    assert Agent(model, tools(), gate=gate, config=config, events=log).run("the task").ok
    assert any("acknowledge, noted" in event["content"] for event in log.of("message"))
    assert again(project, log, config).differences == []


def test_red_tests_are_red_again_without_being_run(project: Any) -> None:
    class Check:
        def __init__(self) -> None:
            self.times = 0

        def verify(self, root: str, timeout_s: float) -> VerificationResult:
            self.times += 1
            return VerificationResult(type="passed" if self.times > 1 else "test_failure", summary="s")

    check = Check()
    config = AgentConfig(enable_planning=False, verification_policy="check")
    turn, log = recorded(project, "one", "two", config=config, verifiers={"check": check})
    assert (turn.answer, check.times) == ("two", 2)
    done = again(project, log, config)
    assert (done.turn.answer, done.differences, check.times) == ("two", [], 2)


def test_a_reply_that_was_not_acted_on_before_a_kill_is_not_given_twice(project: Any, tmp_path: Path) -> None:
    config = CONFIG.model_copy(update={"enable_planning": False})
    path = tmp_path / "run" / "events.jsonl"

    def run(*answers: str, resumes: bool = False) -> AgentTurn:
        log = EventLog(str(path), resumes=resumes)
        gate = RepositoryGate(str(project.root), session="s1")
        agent = Agent(ScriptedModel(answers), tools(), gate=gate, config=config, events=log)
        try:
            return agent.resume() if resumes else agent.run("the task")
        finally:
            log.close()

    run(call("write", path="a"), "not heard")
    lines = path.read_bytes().splitlines(keepends=True)
    heard = [n for n, line in enumerate(lines) if b'"not heard"' in line]
    path.write_bytes(b"".join(lines[: heard[0] + 1]))
    run("the answer", resumes=True)
    log = EventLog(str(path), resumes=True)
    log.close()
    done = again(project, log, config)
    assert (done.turn.answer, done.unused) == ("the answer", 0)


def test_with_real_tools_the_calls_are_made_and_counted(project: Any, tmp_path: Path) -> None:
    _, log = recorded(project, *STORY)
    project.git("clean", "-fdq")
    mine = EventLog(str(tmp_path / "again" / "events.jsonl"))
    done = rerun_real(Recording(log.seen), str(project.root), CONFIG, tools(), mine, "s2")
    mine.close()
    assert done.turn.answer == "all is done"
    assert done.differences == []
    assert all((project.root / name).exists() for name in "abc")


def test_steps_that_ran_side_by_side_are_compared_one_by_one(project: Any) -> None:
    log = EventLog()
    steps = {name: [call("write", path=name, text=name), DONE] for name in ("s1", "s2", "s3")}
    agent = Agent(
        ScriptedModel([plan(*steps), "all is done"], steps),
        tools(),
        gate=RepositoryGate(str(project.root), session="s1"),
        config=CONFIG.model_copy(update={"jobs": 3}),
        events=log,
    )
    assert agent.run("the task").ok and log.of("step_merged")
    again = rerun_recorded(Recording(log.seen), str(project.root), CONFIG, tools())
    assert again.turn.ok and again.unused == 0
    # The lines of the plan say of the other steps where they stood.
    parted = {line for one in again.differences for line in one.recorded + one.now}
    assert all("the prompt of step" in line for line in parted), parted

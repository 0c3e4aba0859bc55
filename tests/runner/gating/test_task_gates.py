"""The gates round a whole task: policies see the beginning and the end of a task"""

from __future__ import annotations

from typing import Any

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.run.agent import Agent
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import ScriptedModel, scripted_tool
from ahp.system.errors import AhpError
from tests.runner.runs import DONE, Scene, block, call, nowhere, plan
from tests.runner.scripted_gate import ScriptedGate, signal, verdict

POLICY = """\
version: 1
rules:
  planned:
    at: pre-tool-use
    block: has(tool.expected) and tool.native_name not in tool.expected
    message: "{tool.native_name} is not among the tools of this step"
  hello: {at: session-start, aid: "actor.kind == 'agent'", message: "read CONTRIBUTING first"}
  clean: {at: task-complete, block: "files.changed_count > 0", message: "something is not committed"}
"""


def test_what_the_gate_says_at_the_start_is_read_with_the_task() -> None:
    tip = verdict("session-start", signal("aid", "tip", "read the docs", signal_id="a1"))
    warned = verdict("prompt-submit", signal("prompt", "big", "a large task", signal_id="p1"))
    gate = ScriptedGate({"session-start": [tip], "prompt-submit": [warned]})
    scene = Scene(['{"respond": "p1", "action": "acknowledge"}', "done"], gate=gate)
    assert scene.turn.ok
    assert "ahp note: tip (a1): read the docs" in scene.said[0]
    assert "ahp note: big (p1): a large task" in scene.said[0]
    assert [(key, action) for key, action, _ in gate.responses] == [("p1", "acknowledge")]


def test_a_refused_task_ends_the_run_before_the_model_is_asked() -> None:
    gate = ScriptedGate({"prompt-submit": [verdict("prompt-submit", block())]})
    scene = Scene(["x"], gate=gate)
    assert (scene.turn.stop_reason, scene.turn.requests) == ("GATE_BLOCKED", 0)
    assert "the gate refuses the task: no-look: it is secret" in scene.turn.answer


@pytest.mark.parametrize(("trigger", "reason"), [("session-start", "DONE"), ("prompt-submit", "GATE_ERROR")])
def test_a_gate_that_cannot_judge_the_task_lets_nothing_happen(trigger: str, reason: str) -> None:
    scene = Scene(["done"], gate=ScriptedGate({trigger: [AhpError("no policy")]}))
    assert scene.turn.stop_reason == reason


@pytest.mark.parametrize("planning", [False, True])
def test_what_is_not_taken_for_done_goes_back_to_work(planning: bool) -> None:
    gate = ScriptedGate({"task-complete": [verdict("task-complete", block()), verdict("task-complete")]})
    answers = [plan("a"), DONE, plan("b"), DONE, "done"] if planning else ["early", "done"]
    scene = Scene(answers, gate=gate, planning=planning)
    assert (scene.turn.answer, scene.turn.stop_reason) == ("done", "DONE")
    assert "does not take the task for done: no-look: it is secret" in "".join(scene.said)
    scene = Scene(
        answers, gate=ScriptedGate({"task-complete": [verdict("x", block())]}), planning=planning, max_replans=0
    )
    assert scene.turn.stop_reason == "GATE_BLOCKED"


def test_a_note_at_the_end_is_answered_by_the_model() -> None:
    warned = verdict("task-complete", signal("prompt", "big", "large", signal_id="p1"))
    gate = ScriptedGate({"task-complete": [warned]})
    answer = '{"respond": "p1", "action": "acknowledge"}'
    scene = Scene(["done", answer], gate=gate)
    assert (scene.turn.answer, scene.turn.requests) == ("done", 2)
    assert "The end of the task is next." in scene.said[1]
    scene = Scene([plan("a"), DONE, answer, "done"], gate=gate, planning=True)
    assert (scene.turn.answer, scene.turn.requests) == ("done", 4)
    assert [(key, action) for key, action, _ in gate.responses] == [("p1", "acknowledge")] * 2


def test_a_policy_sees_the_tools_that_a_step_expects(repo: Any) -> None:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    tools = [scripted_tool("look", ["seen"], kind="read"), scripted_tool("peek", ["seen"], kind="read")]
    answers = ["[PLAN]\n1. [ ] look (tools: look)", call("peek"), call("look"), DONE, "done"]
    gate = RepositoryGate(str(repo.root), session="s1")
    scene = Scene(answers, tools=tools, gate=gate, root=str(repo.root), planning=True)
    assert scene.turn.ok, scene.turn.answer
    assert [event["code"] for event in scene.of("tool_result")] == ["blocked", "ok"]
    assert "'peek' is not among the tools of this step" in scene.said[2]
    assert "read CONTRIBUTING first" in scene.said[0]
    scene = Scene([call("peek"), "done"], tools=tools, gate=gate, root=str(repo.root))
    assert [event["code"] for event in scene.of("tool_result")] == ["ok"]


def test_a_policy_judges_the_end_by_what_was_changed(repo: Any) -> None:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    repo.write("new.txt", "x")
    gate = RepositoryGate(str(repo.root), session="s1")
    scene = Scene(["done"], gate=gate, root=str(repo.root), max_replans=0)
    assert scene.turn.stop_reason == "GATE_BLOCKED"
    assert "clean: something is not committed" in scene.turn.answer


def test_a_resumed_task_is_judged_anew(tmp_path: Any) -> None:
    path, config = str(tmp_path / "events.jsonl"), AgentConfig(enable_planning=False)
    log = EventLog(path)
    assert not Agent(ScriptedModel([]), gate=ScriptedGate(), config=config, root=nowhere(), events=log).run("task").ok
    log.close()
    log = EventLog(path, resumes=True)
    gate = ScriptedGate({"prompt-submit": [verdict("prompt-submit", block())]})
    model = ScriptedModel(["never"])
    turn = Agent(model, gate=gate, config=config, root=nowhere(), events=log).resume()
    log.close()
    assert (turn.stop_reason, model.requests) == ("GATE_BLOCKED", [])

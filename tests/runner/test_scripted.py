"""ahp.runner.scripted"""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.models.model import Answer, ContextOverflow, Model, ModelError
from ahp.runner.run.agent import Agent
from ahp.runner.run.conversation import Message, RoleOrder
from ahp.runner.scripted import Hang, ScriptedModel, Sleep, load_script, scripted_tool
from ahp.runner.tools.tool import ToolContext
from ahp.system.errors import AhpError
from tests.runner.runs import nowhere
from tests.runner.scripted_gate import ScriptedGate, signal, verdict

ASKED: list[Message] = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
NOWHERE = ToolContext(".", 1.0)


def ask(model: Model) -> Answer:
    return model.query(ASKED, max_tokens=5, timeout_s=1.0)


def test_a_scripted_model_is_a_model_that_follows_its_script() -> None:
    model = ScriptedModel(["a", Answer("b", input_tokens=1, output_tokens=2), Sleep(0.0, "c"), ModelError("d")])
    assert [ask(model) for _ in range(3)] == [Answer("a"), Answer("b", input_tokens=1, output_tokens=2), Answer("c")]
    for problem in ("d", "only 4 answers"):
        with pytest.raises(ModelError, match=problem):
            ask(model)
    assert model.requests[0].said == "u"
    assert model.requests[0].max_tokens == 5


def test_it_is_as_strict_about_roles_as_the_real_ones() -> None:
    with pytest.raises(RoleOrder):
        ScriptedModel(["a"]).query([ASKED[0], ASKED[1], ASKED[1]], max_tokens=1, timeout_s=1.0)


def test_a_scripted_tool_repeats_its_last_result() -> None:
    tool = scripted_tool("t", ["a", "b"])
    assert [tool.run(None, NOWHERE) for _ in range(3)] == ["a", "b", "b"]


def test_a_scripted_gate_allows_what_it_has_no_answer_for() -> None:
    blocked = verdict("pre-tool-use", signal("block", "r", "no", signal_id="1"))
    gate = ScriptedGate({"pre-tool-use": [blocked], "pre-issue-start": lambda tool: blocked, "x": [AhpError("no")]})
    assert gate.ask("pre-tool-use").denied
    assert gate.ask("pre-issue-start").denied
    assert gate.ask("post-tool-use").decision == "allow"
    with pytest.raises(AhpError):
        gate.ask("x")
    assert gate.triggers() == ["pre-tool-use", "pre-issue-start", "post-tool-use", "x"]


@pytest.mark.parametrize(
    ("intensity", "decision"),
    [("block", "deny"), ("control", "allow_with_modification"), ("prompt", "warn"), ("aid", "suggest")],
)
def test_a_signal_leads_to_its_decision(intensity: str, decision: str) -> None:
    assert verdict("pre-tool-use", signal(intensity, "r", "m", signal_id="1")).decision == decision


SCRIPT = """\
task: the weather
answers:
  - '{"tool": "get_weather", "args": {"city": "北京"}}'
  - {text: sunny, input_tokens: 5, output_tokens: 2, usd: 0.5, sleep: 0.001}
tools:
  - {name: get_weather, description: what the weather is, results: [5 degrees]}
"""


def test_a_script_file_drives_a_run(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(SCRIPT)
    script = load_script(str(path))
    agent = Agent(
        script.model(), script.toolbox(), gate=ScriptedGate(), config=AgentConfig(enable_planning=False), root=nowhere()
    )
    turn = agent.run(script.task or "")
    assert (turn.answer, turn.usd) == ("sunny", 0.5)
    assert [event["text"] for event in agent.events.of("tool_result")] == ["5 degrees"]


def test_every_kind_of_answer_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(
        '{"answers": [{"hang": true}, {"raise": "a"}, {"raise": "b", "overflow": true}, {"text": "c"}, "d"]}'
    )
    hang, error, overflow, answer, text = load_script(str(path)).model()._answers
    assert hang == Hang()
    assert (type(error), str(error)) == (ModelError, "a")
    assert (type(overflow), str(overflow)) == (ContextOverflow, "b")
    assert (answer, text) == (Answer("c"), "d")


def test_answers_of_a_step_are_its_own_and_go_on_where_a_run_stood(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text('{"answers": ["plan", "other", "end"], "steps": {"a": ["first", "second"]}}')

    def asked(model: ScriptedModel, head: str) -> str:
        messages: list[Message] = [{"role": "system", "content": "s"}, {"role": "user", "content": head}]
        return model.query(messages, max_tokens=1, timeout_s=1).text

    model = load_script(str(path)).model()
    assert [asked(model, head) for head in ("Task", "Step a: x", "Step b: x", "Step a: x")] == [
        "plan",
        "first",
        "other",
        "second",
    ]
    with pytest.raises(ModelError, match="only 2 answers for step a"):
        asked(model, "Step a: x")
    model = load_script(str(path)).model({"": 1, "b": 1, "a": 1})
    assert [asked(model, head) for head in ("Task", "Step a: x")] == ["end", "second"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("answers: [", r"s\.yaml:1:\d+"),
        ("{}", "answers: Field required"),
        ("answers: []", "answers"),
        ("answers: [{txt: a}]", "answers.0"),
        ("answers: [a]\ntools: [{name: t, results: []}]", "tools.0.results"),
        ("answers: [a]\ntools: [{name: t, results: [a]}, {name: t, results: [a]}]", "two tools have the same name"),
    ],
)
def test_a_wrong_script_is_refused_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(text)
    with pytest.raises(AhpError, match=problem):
        load_script(str(path))


def test_a_script_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(AhpError, match="there is no script"):
        load_script(str(tmp_path / "none"))

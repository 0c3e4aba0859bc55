"""ahp.runner.gating.person: a person decides where refusals would end a run"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ahp.journal import query
from ahp.journal.place import journal_of
from ahp.protocol.event import Actor
from ahp.protocol.signals import Signal
from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.gating.person import Choice, PersonAtTerminal
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import ScriptedModel, scripted_tool
from ahp.system import terminal
from tests.runner.runs import block, call, nowhere
from tests.runner.scripted_gate import ScriptedGate, verdict

PRE = "pre-tool-use"
POLICY = """\
version: 1
rules:
  quiet: {at: pre-tool-use, block: "tool.name == 'shell'", message: "no shells"}
  never: {at: pre-tool-use, block: "tool.name == 'edit'", message: "no edits", overridable: false}
  open: {at: pre-issue-submit, block: "files.changed_count > 0", message: "not yet"}
"""


class Decides:
    """A person with these choices in turn."""

    def __init__(self, *choices: Choice) -> None:
        self.choices = list(choices)
        self.asked: list[tuple[str, list[str], bool]] = []

    def decide(self, what: str, blocks: Sequence[Signal], *, may_go_on: bool) -> Choice:
        self.asked.append((what, [one.id for one in blocks], may_go_on))
        return self.choices.pop(0)


def run(person: Any, answers: Sequence[str], gate: Any, issue: str | None = None, **settings: Any) -> AgentTurn:
    agent = Agent(
        ScriptedModel(answers),
        [
            scripted_tool("look", ["seen"]),
            scripted_tool("sh", ["ran"], kind="shell"),
            scripted_tool("ed", [""], kind="edit"),
        ],
        gate=gate,
        config=AgentConfig(enable_planning=False, verification_policy="none", **settings),
        root=nowhere(),
        issue=issue,
        person=person,
    )
    return agent.run("the task")


def test_what_a_person_lets_pass_is_judged_again_and_runs() -> None:
    gate = ScriptedGate({PRE: [*[verdict(PRE, block())] * 3, verdict(PRE)]})
    person = Decides(Choice.PASS)
    assert run(person, [call(), call(), call(), "done"], gate).ok
    assert person.asked == [("look", ["b1000000"], True)]
    assert [trigger for trigger, tool, _ in gate.asked if tool] == [PRE] * 4 + ["post-tool-use"]


def test_to_go_on_counts_the_block_anew() -> None:
    gate = ScriptedGate({PRE: [verdict(PRE, block())]})
    person = Decides(Choice.GO_ON, Choice.STOP)
    turn = run(person, [call()] * 6, gate)
    assert (turn.stop_reason, turn.requests, len(person.asked)) == ("GATE_BLOCKED", 6, 2)


def test_what_a_person_lets_pass_and_the_gate_does_not_is_asked_again() -> None:
    gate = ScriptedGate({PRE: [verdict(PRE, block())]})
    person = Decides(Choice.PASS, Choice.STOP)
    assert run(person, [call()], gate, max_same_blocks=1).stop_reason == "GATE_BLOCKED"
    assert len(person.asked) == 2


def test_a_refused_start_and_a_last_refused_submit_are_theirs_too() -> None:
    gate = ScriptedGate(
        {
            "pre-issue-start": [verdict("pre-issue-start", block()), verdict("pre-issue-start")],
            "pre-issue-submit": [verdict("pre-issue-submit", block()), verdict("pre-issue-submit")],
        }
    )
    person = Decides(Choice.PASS, Choice.PASS)
    assert run(person, ["done"], gate, "F", submit=True, max_replans=0).ok
    assert person.asked == [("issue start", ["b1000000"], False), ("issue submit", ["b1000000"], False)]
    gate = ScriptedGate({"pre-issue-start": [verdict("pre-issue-start", block())]})
    assert run(Decides(Choice.STOP), [], gate, "F").stop_reason == "GATE_BLOCKED"


def test_a_submit_that_work_may_mend_is_not_asked_about() -> None:
    gate = ScriptedGate({"pre-issue-submit": [verdict("pre-issue-submit", block()), verdict("pre-issue-submit")]})
    person = Decides()
    assert run(person, ["early", "done"], gate, "F", submit=True).ok
    assert person.asked == []


def test_what_was_decided_holds_for_a_resumed_run(tmp_path: Path) -> None:
    path = str(tmp_path / "events.jsonl")
    gate = ScriptedGate({PRE: [verdict(PRE, block())]})
    config = AgentConfig(enable_planning=False)
    for resumes, answers, reason in ((False, [call()] * 3, "MODEL_ERROR"), (True, [call()] * 2, "MODEL_ERROR")):
        log = EventLog(path, resumes=resumes)
        tools = [scripted_tool("look", ["seen"])]
        person = Decides(Choice.GO_ON)
        agent = Agent(
            ScriptedModel(answers), tools, gate=gate, config=config, root=nowhere(), events=log, person=person
        )
        turn = agent.resume() if resumes else agent.run("task")
        assert turn.stop_reason == reason
        log.close()


@pytest.fixture
def project(repo: Any) -> str:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    return str(repo.root)


def typing(
    monkeypatch: pytest.MonkeyPatch, *choices: str | None, reason: str = "it is mine", agrees: bool = True
) -> list[str]:
    """A terminal where these letters are typed in turn; what was asked there."""
    left, asked = list(choices), list[str]()

    def choose(question: str, offered: Mapping[str, str]) -> str | None:
        asked.append(question)
        return left.pop(0)

    def ask(question: str, patience: float = 0) -> bool:
        asked.append(question)
        return agrees

    monkeypatch.setattr(terminal, "choose", choose)
    monkeypatch.setattr(terminal, "line", lambda question, patience=0: reason)
    monkeypatch.setattr(terminal, "ask", ask)
    return asked


def at_terminal(project: str, *answers: str, **more: Any) -> AgentTurn:
    person = PersonAtTerminal(project, Actor("human", "me"))
    return run(person, answers, RepositoryGate(project, session="s1"), **more)


def test_a_pass_at_the_terminal_is_the_person_s_and_holds_once(project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = typing(monkeypatch, "p", None)
    shell = call("sh", command="ls")
    turn = at_terminal(project, shell, shell, "never", max_same_blocks=1)
    assert (turn.stop_reason, turn.requests) == ("GATE_BLOCKED", 2)
    assert asked[0].startswith("ahp: the gate refuses sh:\n  quiet (")
    assert "let it pass once" in asked[1]
    assert len(asked) == 3  # and once more for the second call
    found = list(query.folded(journal_of(project).folder, query.Filter())[0])
    assert next((one["action"], one.get("by")) for one in found if one.get("source") == "quiet") == (
        "proceed_with_risk",
        "human:me",
    )


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"reason": ""}, "needs a reason"),
        ({"agrees": False}, "the answer was no"),
    ],
)
def test_what_is_not_given_does_not_pass(
    project: str, monkeypatch: pytest.MonkeyPatch, typed: dict[str, Any], told: str
) -> None:
    asked = typing(monkeypatch, "p", "s", **typed)
    assert at_terminal(project, call("sh", command="ls"), max_same_blocks=1).stop_reason == "GATE_BLOCKED"
    assert told in asked[-1]


def test_a_rule_that_cannot_be_overridden_does_not_pass(project: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = typing(monkeypatch, "p", "g")
    turn = at_terminal(project, call("ed", path="a"), "done", max_same_blocks=1)
    assert turn.ok
    assert "cannot be overridden" in asked[-1]


def test_what_a_person_could_let_pass_is_named_at_the_end(project: str) -> None:
    gate = RepositoryGate(project, session="s1")
    turn = run(None, [call("sh", command="ls")], gate, max_same_blocks=1)
    assert len(turn.overridable) == 1
    assert turn.overridable[0][:8] in turn.answer
    assert run(None, [call("ed", path="a")], gate, max_same_blocks=1).overridable == []
    (Path(project) / "new.txt").write_text("x")
    turn = run(None, ["done"], gate, "FEAT-001", submit=True, max_replans=0)
    assert (turn.stop_reason, len(turn.overridable)) == ("GATE_BLOCKED", 1)

"""ahp.runner.gating.gate_adapter: the real gate of a real repository"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ahp.journal import query
from ahp.journal.place import journal_of
from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate, canonical
from ahp.runner.models.model import Answer, Want
from ahp.runner.run.agent import Agent
from ahp.runner.run.conversation import Message
from ahp.runner.scripted import scripted_tool
from ahp.system.errors import AhpError
from tests.conftest import Repo
from tests.runner.runs import DONE, Scene, call, plan

POLICY = """\
version: 1
rules:
  no-secret: {at: pre-tool-use, block: "'secret' in tool.paths", message: "secret is not read", fix: ["read another"]}
  calm: {at: pre-tool-use, prompt: "tool.name == 'shell'", message: "shells are loud"}
  tip: {at: post-tool-use, aid: "tool.is_error", message: "read the error"}
hooks:
  pre-tool-use:
    oracles:
      - name: sizes
        rules:
          - id: small
            condition: tool.native_name == 'look' and has(tool.input['size']) and tool.input['size'] == 500
            intensity: control
            message: smaller
            action: {type: set, target: tool.input.size, value: 5}
"""


@pytest.fixture
def project(repo: Any) -> str:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    return str(repo.root)


def logged(root: str) -> list[tuple[str, str, str | None]]:
    """(rule, intensity, action) of each signal in the log."""
    found = list(query.folded(journal_of(root).folder, query.Filter())[0])
    return [(str(one["source"]), str(one["intensity"]), one["action"]) for one in found]  # type: ignore[misc]


def scene(root: str, *answers: str, **more: Any) -> Scene:
    tools = [
        scripted_tool("look", ["seen"], kind="read"),
        scripted_tool("shell", ["done"], kind="shell"),
        scripted_tool("broken", [AhpError("no")]),
    ]
    return Scene(answers, tools=tools, gate=RepositoryGate(root, session="s1"), root=root, **more)


def test_a_block_of_the_policy_keeps_a_tool_from_running(project: str) -> None:
    run = scene(project, call(path="secret"), call(path="other"), "answer")
    assert [event["code"] for event in run.of("tool_result")] == ["blocked", "ok"]
    assert "ahp blocked: no-secret (" in run.said[1]
    assert "Why: secret is not read\nDo: read another\nOr, if your user wants it, they run" in run.said[1]
    assert logged(project) == [("no-secret", "block", None)]


def test_the_same_block_three_times_ends_the_run(project: str) -> None:
    run = scene(project, *[call(path="secret")] * 3)
    assert run.turn.stop_reason == "GATE_BLOCKED"
    assert len(logged(project)) == 3


def test_a_control_of_the_policy_rewrites_the_call(project: str) -> None:
    run = scene(project, call(size=500), "answer")
    asked = [event for event in run.of("verdict") if event["trigger"] == "pre-tool-use"]
    assert [event["decision"] for event in asked] == ["allow_with_modification"]
    assert asked[0]["modifications"][0]["updated"] == 5
    assert logged(project) == [("sizes", "control", "accept_modification")]


def test_a_warning_beside_a_change_comes_once(project: str) -> None:
    policy = Path(project) / ".ahp" / "hooks.yaml"
    policy.write_text(POLICY.replace("tool.name == 'shell'", "tool.name == 'read'"))
    run = scene(project, call(size=500), "answer")
    assert logged(project) == [("sizes", "control", "accept_modification"), ("calm", "prompt", "dismiss")]
    assert run.said[1].count("shells are loud") == 1


class Polite:
    """A model that answers every prompt it reads."""

    name = "polite"

    def __init__(self) -> None:
        self.said: list[str] = []

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None) -> Answer:
        self.said.append(messages[-1]["content"])
        if len(self.said) == 1:
            return Answer(call("shell", command="ls"))
        wanted = re.search(r'\{"respond": "\w+", "action": "acknowledge"\}', self.said[-1])
        return Answer(wanted[0] if wanted else "the answer")


def test_a_model_answers_a_prompt_by_the_id_that_it_reads(project: str) -> None:
    model = Polite()
    tools = [scripted_tool("shell", ["done"], kind="shell")]
    config = AgentConfig(enable_planning=False)
    turn = Agent(model, tools, gate=RepositoryGate(project, session="s1"), config=config, root=project).run("the task")
    assert turn.stop_reason == "DONE"
    assert ": acknowledge, noted." in model.said[2]
    assert logged(project) == [("calm", "prompt", "acknowledge")]


def test_a_prompt_is_answered_in_the_log(project: str) -> None:
    run = scene(project, call("shell", command="ls -l"), "answer")
    assert "shells are loud" in run.said[1]
    assert logged(project) == [("calm", "prompt", "dismiss")]
    [judged] = [event for event in run.of("verdict") if event["trigger"] == "pre-tool-use"]
    sent = [signal["header"]["id"] for signal in judged["signals"]]
    assert [(event["signal_id"], event["problem"]) for event in run.of("response")] == [(key, None) for key in sent]


def test_a_person_s_answer_is_not_an_agent_s(project: str) -> None:
    gate = RepositoryGate(project, session="s1")
    given = gate.ask("pre-tool-use", tool={"name": "look", "kind": "read", "input": {"path": "secret"}})
    with pytest.raises(AhpError):
        gate.respond(given.signals[0].id, "proceed_with_risk", {"reason": "I want to"})
    gate.respond(given.signals[0].id, "abort", {"reason": "no need"})
    assert logged(project) == [("no-secret", "block", "abort")]


def test_an_aid_comes_after_the_call(project: str) -> None:
    run = scene(project, call("broken"), "answer")
    assert "read the error" in run.said[1]


def test_an_invalid_policy_lets_nothing_but_reading_happen(project: str) -> None:
    Repo(Path(project)).git("update-ref", "-d", "HEAD")  # nobody has committed a policy, so the file alone judges
    (Path(project) / ".ahp" / "hooks.yaml").write_text("rules: [")
    run = scene(project, plan("a"), DONE, planning=True)
    assert run.turn.stop_reason == "GATE_ERROR"
    assert "hooks.yaml" in run.turn.answer


def test_outside_a_repository_the_folder_s_own_policy_judges(tmp_path: Path) -> None:
    (tmp_path / ".ahp").mkdir()
    (tmp_path / ".ahp" / "hooks.yaml").write_text(POLICY)
    gate = RepositoryGate(str(tmp_path), session="s1")
    assert gate.ask("pre-tool-use", tool={"name": "look", "kind": "read", "input": {"path": "secret"}}).denied
    assert gate.ask("session-start").decision == "allow"


def test_a_shell_command_is_judged_by_the_files_that_it_names(project: str) -> None:
    run = scene(project, call("shell", command="cd . && cat other ../repo/secret | head"), "answer")
    assert [event["code"] for event in run.of("tool_result")] == ["blocked"]


def test_a_rewritten_command_is_judged_by_what_it_is_now(repo: Any) -> None:
    policy = """\
version: 1
rules:
  secret: {at: pre-tool-use, block: "'secret' in tool.writes"}
hooks:
  pre-tool-use:
    oracles:
      - name: names
        rules:
          - id: inside
            condition: contains(tool.command, 'public')
            intensity: control
            action: {type: replace, target: tool.input.command, pattern: public, with: secret}
"""
    repo.commit("policy", **{".ahp/hooks.yaml": policy})
    run = scene(str(repo.root), call("shell", command="echo x > public"), "answer")
    assert [event["code"] for event in run.of("tool_result")] == ["blocked"]


def test_a_call_as_the_gate_takes_it() -> None:
    given = {"command": "git push -f && ls"}
    assert canonical({"name": "sh", "kind": "shell", "input": given, "output": "", "code": "E_TOOL"}) == {
        "name": "shell",
        "native_name": "sh",
        "input": given,
        "output": "",
        "is_error": True,
    }
    written = canonical({"name": "w", "kind": "other", "writes": True, "input": {"path": "/p/a"}})
    assert written == {"name": "other", "native_name": "w", "input": {"path": "/p/a"}, "writes": True}


COUNTED = """\
version: 1
rules:
  few: {at: pre-tool-use, block: session.tool_calls >= 3 and tool.name == 'write', message: "3 calls are enough"}
  told: {at: task-complete, prompt: session.tool_calls + session.denied > 0, message: "{session.tool_calls} calls, \
{session.denied} refused, {session.touched_files_count} files"}
  secret: {at: pre-tool-use, block: "'secret' in tool.paths", message: "secret is not read"}
"""


def test_policies_count_the_calls_of_a_run_also_the_silent_ones_and_of_a_resumed_one(repo: Any) -> None:
    repo.commit("policy", **{".ahp/hooks.yaml": COUNTED})
    root = str(repo.root)
    tools = [scripted_tool("look", ["seen"], kind="read"), scripted_tool("write", ["written"], kind="write")]

    def run(*answers: str) -> Scene:
        return Scene(answers, tools=tools, gate=RepositoryGate(root, session="s1"), root=root)

    first = run(call("write", path="a"), call("look", path="secret"), "answer", "go on", "answer")
    assert [event["code"] for event in first.of("tool_result")] == ["ok", "blocked"]
    assert any("2 calls, 1 refused, 1 files" in said for said in first.said)
    second = run(call("look", path="b"), call("write", path="c"), "answer", "go on", "answer")
    assert [event["code"] for event in second.of("tool_result")] == ["ok", "blocked"]
    assert "3 calls are enough" in second.said[2]


def test_every_conversation_but_the_answers_begins_with_what_the_policy_asks(project: str) -> None:
    run = scene(project, plan("a"), call(), DONE, "answer", planning=True, retrieval_tokens=500)
    planning, step, _, answer = run.said
    for said in (planning, step):
        assert "Refused at a tool call: no-secret." in said
        assert said.index("Gate ") < said.index("ahp judges your tool calls")
    assert "ahp judges your tool calls" not in answer
    assert [event.get("step") for event in run.of("brief")] == [None, "a"]
    assert run.of("brief")[0]["tokens"] <= 300
    assert not scene(project, "answer", retrieval_tokens=0).of("brief")


def test_a_gate_that_cannot_tell_what_it_asks_is_asked_all_the_same(project: str) -> None:
    class Mute(RepositoryGate):
        def brief(self) -> str:
            raise AhpError("unreadable")

    run = Scene([call(path="secret"), "answer"], gate=Mute(project, session="s1"), root=project)
    assert not run.of("brief")
    assert [event["code"] for event in run.of("tool_result")] == ["blocked"]

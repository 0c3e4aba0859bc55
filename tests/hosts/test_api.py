"""`ahp.Gate`: the gate for programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ahp
from ahp import AhpError, Gate, Verdict
from ahp.journal import session_calls
from ahp.journal.place import journal_of
from ahp.system import environ
from tests.conftest import PROJECT, Repo

POLICY = """\
version: 1
rules:
  no-rm: {at: pre-tool-use, block: "any(c.program == 'rm' for c in tool.commands)", message: no rm, fix: [use git rm]}
  short:
    at: pre-tool-use
    control: default(tool.input['timeout'], 0) > 60
    action: {type: clamp, target: tool.input.timeout, max: 60}
  mine: {at: prompt-submit, prompt: "session.id == 's2'"}
  size: {at: pre-commit, block: files.changed_count > 3}
  merged: {at: pre-merge-commit, block: "'big' in files.changed"}
  done: {at: pre-issue-submit, block: files.changed_count > 0}
"""


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setattr(environ, "current", lambda: dict(os.environ))
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    return repo


def logged(repo: Repo, kind: str) -> list[dict[str, Any]]:
    path = repo.root / ".git" / "ahp" / "signals.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [record for record in map(json.loads, lines) if record["kind"] == kind]


@pytest.mark.wings
def test_a_tool_call_is_judged_for_real(project: Repo) -> None:
    gate = Gate(project.root / ".git" / "..", agent="mybot", session="s1")
    verdict = gate.judge("pre-tool-use", tool={"command": "cd src && rm -r x"})
    assert isinstance(verdict, Verdict)
    assert verdict.denied and [signal.context["rule"] for signal in verdict.signals] == ["no-rm"]
    (signal,) = logged(project, "signal")
    assert (signal["actor"], signal["host"], signal["session"]) == ("agent:mybot", "api", "s1")


def test_a_change_of_the_arguments_is_handed_back(project: Repo) -> None:
    call = {"name": "other", "native_name": "fetch", "input": {"url": "x", "timeout": 90}}
    verdict = Gate(project.root).judge("pre-tool-use", tool=call)
    assert verdict.decision == "allow_with_modification" and verdict.modified is not None
    assert verdict.modified.tool is not None and verdict.modified.tool["input"] == {"url": "x", "timeout": 60}


def test_a_commit_that_concludes_a_merge_is_asked_the_rules_of_merges_too(project: Repo) -> None:
    project.git("checkout", "-q", "-b", "side")
    project.commit("side", big="1\n")
    project.git("checkout", "-q", "-")
    project.git("merge", "-q", "--no-ff", "--no-commit", "side")
    verdict = Gate(project.root).judge("pre-commit", dry=True)
    assert verdict.denied and [one.context["rule"] for one in verdict.signals] == ["merged"]


def test_only_the_program_s_own_facts_are_taken_for_real(project: Repo) -> None:
    gate = Gate(project.root)
    with pytest.raises(
        AhpError, match="a real event has the repository's own facts, so 'files', 'env' cannot be given"
    ):
        gate.judge("pre-commit", files={"changed_count": 9}, env={})
    assert gate.judge("pre-commit", dry=True, files={"changed_count": 9}).denied
    assert not logged(project, "signal")
    assert gate.judge("pre-commit").decision == "allow"
    assert len(logged(project, "verdict")) == 1


def test_a_session_may_be_told_with_each_question(project: Repo) -> None:
    gate = Gate(project.root, session="s1")
    assert gate.judge("prompt-submit", prompt={"text": "hello"}).decision == "allow"
    assert gate.judge("prompt-submit", session={"id": "s2"}).decision == "warn"
    event = gate.event("prompt-submit", facts={"session": {"id": "s2", "tool_calls": 3}})
    assert event.session == "s2"
    assert event.given == {"session": {"id": "s2", "agent": "", "tool_calls": 3}}


def test_an_issue_s_gate_is_asked_about_the_work_on_its_branch(project: Repo) -> None:
    project.write("new.txt")
    verdict = Gate(project.root).judge("pre-issue-submit", issue_id="FEAT-0001")
    assert verdict.denied and verdict.subject == "FEAT-0001"


def test_what_cannot_be_judged_is_an_error(project: Repo) -> None:
    gate = Gate(project.root)
    with pytest.raises(AhpError, match="there is no trigger 'pre-comit'; did you mean"):
        gate.judge("pre-comit")
    with pytest.raises(AhpError, match=r"tool\.name is one of"):
        gate.judge("pre-tool-use", tool={"name": "bash"})
    with pytest.raises(AhpError, match=r"there is no fact `files\.changed_cnt`; did you mean `files\.changed_count`"):
        gate.judge("pre-commit", dry=True, files={"changed_cnt": 9})
    with pytest.raises(AhpError, match="tool is a mapping of facts"):
        gate.judge("pre-tool-use", tool="rm")
    project.git("update-ref", "-d", "HEAD")  # nobody has committed a policy, so the file alone judges
    project.write(".ahp/hooks.yaml", "rules: [")
    with pytest.raises(AhpError, match=r"hooks\.yaml"):
        gate.judge("pre-tool-use", tool={"command": "ls"})
    with pytest.raises(AhpError):
        Gate(project.root / "nowhere").judge("pre-commit")


@pytest.mark.wings
def test_an_answer_is_recorded(project: Repo) -> None:
    gate = Gate(project.root, agent="mybot")
    signal = gate.judge("pre-tool-use", tool={"command": "rm x"}).signals[0]
    with pytest.raises(AhpError):
        gate.respond(signal.id, "proceed_with_risk", "I want to")
    gate.respond(signal.id, "abort", "another way")
    (response,) = logged(project, "response")
    assert (response["by"], response["action"]) == ("agent:mybot", "abort")


@pytest.mark.wings
def test_outside_a_repository_the_folder_s_own_policy_judges(tmp_path: Path) -> None:
    (tmp_path / ".ahp").mkdir()
    (tmp_path / ".ahp" / "hooks.yaml").write_text(POLICY)
    assert Gate(tmp_path, session="s").judge("pre-tool-use", tool={"command": "rm x"}).denied


def test_importing_ahp_loads_nothing_of_the_gate() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(PROJECT)!r}); import ahp; print(*[m for m in sys.modules if 'ahp' in m])"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ahp"]


def test_ahp_has_no_other_door() -> None:
    assert set(ahp.__all__) == {"AhpError", "Gate", "Verdict", "__version__"}
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        ahp.nothing


def test_the_calls_of_a_session_are_counted_but_for_dry_questions(project: Repo) -> None:
    gate = Gate(project.root, session="s1")
    gate.judge("pre-tool-use", tool={"name": "read", "input": {"path": "a"}})
    gate.judge("pre-tool-use", tool={"name": "shell", "input": {"command": "rm -rf x"}})
    gate.judge("pre-tool-use", dry=True, tool={"name": "read", "input": {"path": "a"}})
    Gate(project.root).judge("pre-tool-use", tool={"name": "read", "input": {"path": "a"}})
    assert len(session_calls.read(journal_of(str(project.root)).folder, "s1")) == 2

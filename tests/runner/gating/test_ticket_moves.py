"""ahp.runner.gating.issue_gates"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.gating.issue_gates import check_branch, ticket_moves
from ahp.runner.run.agent import Agent
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import ScriptedModel
from ahp.system.errors import AhpError
from tests.runner.scripted_gate import ScriptedGate

TICKET = """\
---
id: FEAT-0001
type: feature
status: open
stage: draft
title: a feature
---

# FEAT-0001
"""
PATH = "Issues/Features/open/FEAT-0001-a-feature.md"


def test_a_ticket_goes_through_its_life(repo: Any) -> None:
    repo.commit("first", **{PATH: TICKET})
    move = ticket_moves(str(repo.root), "FEAT-0001")
    assert move is not None
    move("FEAT-0001", "start")
    assert "stage: doing" in (repo.root / PATH).read_text()
    assert repo.git("symbolic-ref", "--short", "HEAD") == "FEAT-0001-a-feature"
    repo.write("new.txt")
    with pytest.raises(AhpError, match="cannot close"):
        move("FEAT-0001", "close")
    move("FEAT-0001", "submit")
    text = (repo.root / PATH).read_text()
    assert "stage: review" in text
    assert "new.txt" in text
    move("FEAT-0001", "close")
    assert "status: closed" in (repo.root / PATH.replace("/open/", "/closed/")).read_text()
    move("FEAT-0001", "close")  # a run that was killed right behind the step


def test_a_start_switches_to_the_branch_that_is_there(
    repo: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    repo.commit("first", **{PATH: TICKET})
    repo.git("branch", "feat/FEAT-0001-mine")
    monkeypatch.chdir(tmp_path)  # the folder one stands in decides nothing
    move = ticket_moves(str(repo.root), "FEAT-0001")
    assert move is not None
    for _ in range(2):
        move("FEAT-0001", "start")
        assert repo.git("symbolic-ref", "--short", "HEAD") == "feat/FEAT-0001-mine"


def test_a_submit_from_elsewhere_is_refused(repo: Any) -> None:
    repo.commit("first", **{PATH: TICKET})
    move = ticket_moves(str(repo.root), "FEAT-0001")
    assert move is not None
    move("FEAT-0001", "start")
    repo.commit("doing")
    repo.git("switch", "-q", "-c", "elsewhere")
    with pytest.raises(AhpError, match="git switch FEAT-0001-a-feature"):
        move("FEAT-0001", "submit")


def test_without_a_ticket_there_is_nothing_to_move(repo: Any, tmp_path: Path) -> None:
    repo.commit("first")
    assert ticket_moves(str(repo.root), "FEAT-0001") is None
    (tmp_path / "bare").mkdir()
    assert ticket_moves(str(tmp_path / "bare"), "FEAT-0001") is None


@pytest.mark.parametrize(
    ("verb", "stage"), [("start", "stage: doing"), ("submit", "stage: review"), ("close", "stage: done")]
)
def test_a_run_killed_right_behind_a_move_goes_on(repo: Any, tmp_path: Path, verb: str, stage: str) -> None:
    repo.commit("first", **{PATH: TICKET})
    path = tmp_path / "events.jsonl"
    config = AgentConfig(enable_planning=False, submit=verb != "start", close=verb == "close")

    def agent(log: EventLog) -> Agent:
        move = ticket_moves(str(repo.root), "FEAT-0001")
        model = ScriptedModel(["the answer"] * 2)
        return Agent(
            model, gate=ScriptedGate(), config=config, root=str(repo.root), issue="FEAT-0001", move=move, events=log
        )

    log = EventLog(str(path))
    assert agent(log).run("the task").stop_reason == "DONE"
    log.close()
    lines = path.read_bytes().splitlines(keepends=True)
    moved = max(number for number, line in enumerate(lines) if b'"issue_moved"' in line)
    path.write_bytes(b"".join(lines[:moved]))
    log = EventLog(str(path), resumes=True)
    turn = agent(log).resume()
    log.close()
    assert turn.stop_reason == "DONE", turn.answer
    [ticket] = repo.root.glob("Issues/Features/*/*.md")
    assert stage in ticket.read_text()


def test_a_run_is_not_resumed_on_another_branch(repo: Any, tmp_path: Path) -> None:
    repo.commit("first", **{PATH: TICKET})
    check_branch(str(tmp_path), "FEAT-0001")
    check_branch(str(repo.root), "FEAT-0001")  # no branch was made: only the gates were asked
    repo.git("switch", "-q", "-c", "FEAT-0001-a-feature")
    check_branch(str(repo.root), "FEAT-0001")
    repo.git("switch", "-q", "main")
    with pytest.raises(AhpError, match="git switch FEAT-0001-a-feature"):
        check_branch(str(repo.root), "FEAT-0001")

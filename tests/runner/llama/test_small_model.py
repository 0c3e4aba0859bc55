"""Whole runs of a small real model, which says what it likes: none breaks, and none is called done that is not."""

from __future__ import annotations

import itertools

import pytest

from ahp.runner.config import AgentConfig, ReplyFormat
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.models.exchange import connect
from ahp.runner.run.agent import Agent
from ahp.runner.run.run_state import State
from ahp.runner.tools.catalog import standard_tools
from ahp.runner.words.replies import is_protocol_content
from tests.conftest import Repo
from tests.runner.habits import NEW, OLD, Checks

pytestmark = pytest.mark.runner

TASKS = (
    "Mend add in calc.py: it has to add.",
    "Write a file notes.txt with one line about calc.py.",
    "Rename add in calc.py to plus.",
)
FORMATS: tuple[ReplyFormat, ...] = ("text", "schema", "native")
CASES = [*itertools.product(TASKS, FORMATS, (False, True)), (TASKS[0], "auto", False), (TASKS[0], "auto", True)]


@pytest.mark.parametrize(("task", "form", "planning"), CASES)
def test_nothing_is_done_that_is_not(
    small_model: str, repo: Repo, task: str, form: ReplyFormat, planning: bool
) -> None:
    repo.commit("begin", **{"calc.py": OLD, ".ahp/hooks.yaml": "version: 1\n"})
    config = AgentConfig(
        enable_planning=planning,
        reply_format=form,
        max_tokens=120,
        max_iterations=4,
        max_replans=1,
        budget_tokens=40_000,
    )
    agent = Agent(
        connect(None, f"{small_model}/v1", env={}, reply_format=form),
        standard_tools(print),
        gate=RepositoryGate(str(repo.root), session="s1"),
        config=config,
        verifiers={"auto": Checks()},
    )
    turn = agent.run(task)
    written, notes = (repo.root / "calc.py").read_text(), repo.root / "notes.txt"
    done = {TASKS[0]: written == NEW, TASKS[1]: notes.exists(), TASKS[2]: "def plus" in written}[task]
    assert not turn.ok or (done and not is_protocol_content(turn.answer)), turn.answer
    assert turn.state is (State.DONE if turn.ok else State.BLOCKED)
    assert not turn.stop_reason.startswith(("ERROR", "MODEL_ERROR", "GATE_ERROR")), turn.answer
    print(turn.stop_reason, turn.requests, turn.changed)

"""Whole runs with models that behave as real ones do, over HTTP (tests/runner/habits.py)."""

from __future__ import annotations

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.models.exchange import connect
from ahp.runner.run.agent import Agent
from ahp.runner.tools.catalog import standard_tools
from ahp.runner.words.replies import is_protocol_content
from tests.conftest import Repo
from tests.runner.habits import HABITS, NEW, OLD, Checks, Habit
from tests.runner.models.server import Server
from tests.runner.scripted_gate import ScriptedGate


def test_there_are_enough_of_them() -> None:
    assert len(HABITS) >= 113
    assert len({one.name for one in HABITS}) == len(HABITS)


EACH = [pytest.param(one, id=one.name, marks=pytest.mark.slow if at % 7 else ()) for at, one in enumerate(HABITS)]


@pytest.mark.slow
@pytest.mark.parametrize("habit", EACH)
def test_a_run_ends_as_what_was_done_says(habit: Habit, repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ahp.runner.run.session._FIRST_WAIT", 0.01)
    repo.commit("begin", **{"calc.py": OLD})
    config = AgentConfig.model_validate({"enable_planning": habit.plan, "reply_format": habit.form})
    with Server(habit.plays()) as server:
        base_url = server.address if habit.api == "anthropic" else f"{server.address}/v1"
        agent = Agent(
            connect("tiny", base_url, habit.api, env={}, reply_format=config.reply_format),
            standard_tools(print),
            gate=ScriptedGate(),
            config=config,
            root=str(repo.root),
            verifiers={"auto": Checks()},
        )
        turn = agent.run(habit.task)
    assert turn.stop_reason == habit.ends, turn.answer
    assert ((repo.root / "calc.py").read_text() == NEW) is habit.mended
    assert turn.requests <= habit.most
    assert habit.answer in ("", turn.answer)
    assert not turn.ok or not is_protocol_content(turn.answer)

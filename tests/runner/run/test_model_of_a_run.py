"""Which model a run is asked of: written down with the run, so that it can go on without naming it."""

from __future__ import annotations

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.models.endpoint import Endpoint
from ahp.runner.models.openai_chat import OpenAIModel
from ahp.runner.run.agent import Agent
from ahp.runner.run.run_state import RunState
from tests.runner.models.server import Server, chat, says
from tests.runner.runs import Scene, nowhere
from tests.runner.scripted_gate import ScriptedGate

KEY = "sk-secret-of-mine"


def test_model_and_address_are_written_down_and_the_key_is_not() -> None:
    with Server([says(chat(f"42, and your key is {KEY}"))]) as server:
        model = OpenAIModel("tiny", Endpoint("openai", f"{server.address}/v1"), KEY)
        agent = Agent(model, gate=ScriptedGate(), config=AgentConfig(enable_planning=False), root=nowhere())
        turn = agent.run("the task")
    assert (turn.stop_reason, turn.answer) == ("DONE", "42, and your key is …")
    assert KEY not in str(agent.events.seen)
    past = RunState.of(agent.events.seen)
    own = {"model": "tiny", "base_url": f"{server.address}/v1", "api": "openai"}
    assert past.asked() == own
    assert past.asked(model="other") == {**own, "model": "other"}
    assert past.asked(base_url="http://h/v1") == {"model": "tiny", "base_url": "http://h/v1", "api": None}


@pytest.mark.parametrize("named", [None, "m"])
def test_a_scripted_run_names_no_model_to_go_on_with(named: str | None) -> None:
    past = RunState.of(Scene(["a"]).events)
    assert past.asked(named) == {"model": named, "base_url": None, "api": None}

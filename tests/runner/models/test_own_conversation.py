"""Calls and their results in the form of the model's own interface, in whole runs over HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.models.exchange import connect
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.conversation import Conversation
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import scripted_tool
from tests.runner.habits import final, messages, native, natives, use
from tests.runner.models.server import Play, Server, chat, error, says
from tests.runner.runs import block, nowhere
from tests.runner.scripted_gate import ScriptedGate, verdict

KEY = "sk-secret-of-mine"
LOOK = native("look", {"at": "a"}, "c1", text="I look.")
END = final("seen", None)


def run(*plays: Play, api: str = "openai", gate: ScriptedGate | None = None) -> tuple[AgentTurn, list[Any], EventLog]:
    """How a run ended, the bodies of its requests, its events."""
    log = EventLog()
    with Server(plays) as server:
        base_url = server.address if api == "anthropic" else f"{server.address}/v1"
        model = connect("tiny", base_url, api, env={"AHP_API_KEY": KEY})
        tool = scripted_tool("look", ["a cat", "a dog"])
        config = AgentConfig(enable_planning=False)
        turn = Agent(model, [tool], gate=gate or ScriptedGate(), config=config, root=nowhere(), events=log).run(
            "What is there?"
        )
    return turn, [request.body for request in server.requests], log


def test_a_call_and_its_result_stand_as_chat_completions_have_them() -> None:
    reply = chat(
        "I look.", "tool_calls", tool_calls=LOOK["choices"][0]["message"]["tool_calls"], reasoning_content="hm"
    )  # type: ignore[index]
    turn, (first, second), _ = run(says(reply), says(END))
    assert turn.ok and turn.answer == "seen"
    *former, said, result = second["messages"]
    assert former == first["messages"]
    assert said == {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "a"}'}}],
        "reasoning_content": "hm",
    }
    assert result == {"role": "tool", "tool_call_id": "c1", "content": "a cat"}


def test_what_the_gate_says_beside_a_result_is_the_persons_turn_behind_it() -> None:
    gate = ScriptedGate({"pre-tool-use": [verdict("pre-tool-use", block(why="it is secret"))]})
    _, (_, second), log = run(says(LOOK), says(END), gate=gate)
    assert [message["role"] for message in second["messages"][-3:]] == ["assistant", "tool", "user"]
    assert "the gate refused it" in second["messages"][-2]["content"]
    assert f"Gate {log.seen[0]['nonce']}" in second["messages"][-1]["content"]


@pytest.mark.parametrize("ids", [("", "b"), ("a", "a")])
def test_calls_without_ids_of_their_own_stand_as_text(ids: tuple[str, str]) -> None:
    calls = natives(("look", {"at": "a"}, ids[0]), ("look", {"at": "b"}, ids[1]))
    _, (_, second), _ = run(says(calls), says(END))
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "user"]


def test_several_results_come_in_the_order_of_their_calls() -> None:
    calls = natives(("look", {"at": "a"}, "x"), ("look", {"at": "b"}, "y"))
    _, (_, second), _ = run(says(calls), says(END))
    assert [message.get("tool_call_id") for message in second["messages"][-2:]] == ["x", "y"]


def test_a_server_that_takes_no_results_of_tools_gets_text_and_keeps_its_tools() -> None:
    turn, bodies, _ = run(says(LOOK), says(error("Jinja: unknown role tool"), 400), says(END))
    assert turn.ok
    assert [message["role"] for message in bodies[2]["messages"]] == ["system", "user", "assistant", "user"]
    assert "tools" in bodies[2]


def test_blocks_of_messages_come_back_as_they_came_with_their_thoughts() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    reply = messages("", thought, use("look", {"at": "a"}, "t1"), stop="tool_use")
    last = messages("", use("final_answer", {"text": "seen", "changed": None}, "t2"), stop="tool_use")
    turn, (first, second), _ = run(says(reply), says(last), api="anthropic")
    assert turn.answer == "seen"
    cached = {"type": "ephemeral"}
    assert first["system"][0]["cache_control"] == first["messages"][-1]["content"][-1]["cache_control"] == cached
    assert second["messages"][1] == {"role": "assistant", "content": reply["content"]}
    assert second["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "t1", "content": "a cat", "cache_control": cached}
    ]


def test_the_key_is_in_no_event_though_the_server_says_it_back() -> None:
    _, (_, second), log = run(says(native("look", {"at": KEY}, "c1", text=KEY)), says(END))
    assert KEY not in str(log.seen) and KEY not in str(second["messages"])


def test_what_is_cut_or_added_to_later_is_text() -> None:
    own = {"api": "openai", "ids": ["a"], "reply": {}}
    talk = Conversation("be good", "the task")
    talk.add("assistant", "{}", own)
    talk.add("user", "x" * 2_000, results=[("a", "x" * 2_000)])
    assert "results" in talk.messages[-1]
    assert talk.cut(500) is not None
    assert "results" not in talk.messages[-1]
    talk.add("assistant", "{}", own)
    talk.add("assistant", "more")
    assert "own" not in talk.messages[-1]

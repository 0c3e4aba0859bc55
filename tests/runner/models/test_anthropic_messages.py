"""Models behind Anthropic's messages, on real sockets."""

from __future__ import annotations

import pytest

from ahp.runner.models.anthropic_messages import AnthropicModel
from ahp.runner.models.endpoint import Endpoint
from ahp.runner.models.model import Answer, ContextOverflow, ModelError, NativeCall, ToolDefinition, Want
from ahp.runner.run.conversation import Message
from ahp.system.errors import Timeout
from tests.runner.models.server import LONG, Play, Server, dribbles, hangs, resets, says

ASKED: list[Message] = [{"role": "system", "content": "be good"}, {"role": "user", "content": "hello?"}]
LOOK = ToolDefinition("look", "looks", {"type": "object"})
KEY = "sk-ant-secret"
CACHED = {"type": "ephemeral"}


def ask(server: Server, want: Want | None = None, timeout_s: float = LONG) -> Answer:
    one = AnthropicModel("claude", Endpoint("anthropic", server.address), KEY)
    return one.query(ASKED, max_tokens=50, timeout_s=timeout_s, want=want)


def message(content: object, stop: str = "end_turn", usage: object = None) -> dict[str, object]:
    return {"id": "1", "type": "message", "role": "assistant", "content": content, "stop_reason": stop, "usage": usage}


def error(status: int, kind: str, said: str) -> Play:
    return says({"type": "error", "error": {"type": kind, "message": said}}, status)


@pytest.mark.slow
def test_one_request() -> None:
    content = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "1", "name": "look", "input": {"at": "a"}},
        {"type": "tool_use", "id": "2", "name": "look", "input": None},
        {"type": "tool_use", "id": "3", "name": "look", "input": ["a"]},
        {"type": "tool_use", "id": "4"},
    ]
    usage = {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 3}
    with Server([says(message(content, "tool_use", usage))]) as server:
        got = ask(server, Want("action", (LOOK,), {"type": "object"}))
    calls = (
        NativeCall("look", {"at": "a"}, "1"),
        NativeCall("look", {}, "2"),
        NativeCall("look", '["a"]', "3"),
        NativeCall("", {}, "4"),
    )
    assert got == Answer("I look.", "tool_calls", calls, 105, 3, native=True)
    (request,) = server.requests
    assert request.path == "/v1/messages"
    assert KEY in (
        request.headers.get("x-api-key", ""),
        request.headers.get("authorization", "").removeprefix("Bearer "),
    )
    assert request.body == {
        "model": "claude",
        "max_tokens": 50,
        "system": [{"type": "text", "text": "be good", "cache_control": CACHED}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hello?", "cache_control": CACHED}]}],
        "tools": [{"name": "look", "description": "looks", "input_schema": {"type": "object"}}],
    }


def test_a_plan_and_words_come_without_tools() -> None:
    with Server([says(message([{"type": "text", "text": "a"}], "max_tokens"))]) as server:
        assert ask(server, Want("plan", (), {"type": "object"})) == Answer("a", "length")
    assert "tools" not in server.requests[0].body


@pytest.mark.parametrize(
    ("play", "said", "transient"),
    [
        (error(529, "overloaded_error", "Overloaded"), "Overloaded", True),
        (error(400, "invalid_request_error", "messages: roles must alternate"), "roles must alternate", False),
        (error(401, "authentication_error", "invalid x-api-key"), "refuses the key", False),
        (says({"content": None}), "no message", True),
        (resets(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), "no answer", True),
    ],
)
def test_what_is_no_reply_is_reported(play: Play, said: str, transient: bool) -> None:
    with Server([play]) as server, pytest.raises(ModelError, match=said) as raised:
        ask(server)
    assert raised.value.transient is transient and KEY not in str(raised.value)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("path", "hint"), [("/v1", "is not there: none; its address ends before /v1"), ("", ": none$")]
)
def test_an_address_that_leads_nowhere_is_told_what_may_be_wrong_with_it(path: str, hint: str) -> None:
    with Server([says({"error": {"message": "none"}}, 404)]) as server:
        one = AnthropicModel("claude", Endpoint("anthropic", f"{server.address}{path}"), KEY)
        with pytest.raises(ModelError, match=hint):
            one.query(ASKED, max_tokens=50, timeout_s=LONG)


def test_a_full_context_is_told_apart() -> None:
    said = "prompt is too long: 210000 tokens > 200000 maximum"
    with Server([error(400, "invalid_request_error", said)]) as server, pytest.raises(ContextOverflow):
        ask(server)


@pytest.mark.parametrize("play", [hangs, dribbles(b"HTTP/1.1 200 OK\r\n\r\n")])
def test_no_request_outlives_its_time(play: Play) -> None:
    with Server([play]) as server:
        with pytest.raises(Timeout):
            ask(server, timeout_s=0.2)
        # On a busy machine the time may be over before there is a connection.
        assert not server.connected.is_set() or server.cut.wait(LONG)

"""Replies that come in parts, and the one connection of a run."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ahp.runner.models.exchange import connect
from ahp.runner.models.model import Answer, ModelError, NativeCall, ToolDefinition, Want
from ahp.runner.run.conversation import Message
from ahp.system.deadline import Worker
from tests.runner.models.server import LONG, Server, chat, error, says, sends

ASKED: list[Message] = [{"role": "system", "content": "be good"}, {"role": "user", "content": "hello?"}]
WANT = Want("action", (ToolDefinition("look", "looks", {"type": "object"}),))
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n"


def stream(parts: Iterable[object], end: str = "") -> bytes:
    lines = [part if isinstance(part, str) else json.dumps(part) for part in (*parts, *([end] if end else []))]
    return HEAD + "".join(f"data: {line}\n\n" for line in lines).encode()


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def begun(name: str, index: int | None = 0, call_id: str = "c") -> dict[str, Any]:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
    return chunk(tool_calls=[call if index is None else {**call, "index": index}])


def more(arguments: str, index: int | None = 0) -> dict[str, Any]:
    call = {"function": {"arguments": arguments}}
    return chunk(tool_calls=[call if index is None else {**call, "index": index}])


def ask(server: Server, api: str = "openai") -> tuple[Answer, list[str]]:
    """The reply, and what was heard of it."""
    heard: list[str] = []
    base_url = server.address if api == "anthropic" else f"{server.address}/v1"
    model: Any = connect("tiny", base_url, api, env={"AHP_API_KEY": "sk-secret-of-mine"})
    model.show(heard.append)
    return model.query(ASKED, max_tokens=50, timeout_s=LONG, want=WANT), heard


def test_the_text_is_heard_as_it_comes_and_the_rest_is_as_in_a_whole_reply() -> None:
    parts = [
        chunk(role="assistant", content=""),
        chunk(reasoning_content="hm"),
        chunk(content="I "),
        chunk(content="look."),
        begun("look"),
        more('{"at"'),
        more(': "a"}'),
        begun("look", 1, "d"),
        more("{}", 1),
        chunk("tool_calls"),
        {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}},
    ]
    with Server([sends(stream(parts, "[DONE]"))]) as server:
        got, heard = ask(server)
    calls = (NativeCall("look", '{"at": "a"}', "c"), NativeCall("look", "{}", "d"))
    assert got == Answer("I look.", "tool_calls", calls, 7, 2, native=True)
    assert heard == ["I ", "look."]
    assert server.requests[0].body["stream"] is True
    assert got.own is not None and got.own["reply"]["reasoning_content"] == "hm"


def test_calls_without_an_index_are_told_apart_by_their_ids() -> None:
    parts = [begun("look", None), more("{}", None), begun("look", None, "d"), more("{}", None), chunk("tool_calls")]
    with Server([sends(stream(parts))]) as server:
        assert [call.id for call in ask(server)[0].calls] == ["c", "d"]


MESSAGE = [
    {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 5, "output_tokens": 1}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "I look."}},
    {"type": "content_block_stop", "index": 1},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "t", "name": "look", "input": {}},
    },
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": ""}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"at": "a"}'}},
    {"type": "content_block_stop", "index": 2},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop"},
]


def test_a_message_in_events_is_as_a_whole_one() -> None:
    with Server([sends(stream(MESSAGE))]) as server:
        got, heard = ask(server, "anthropic")
    assert got == Answer("I look.", "tool_calls", (NativeCall("look", {"at": "a"}, "t"),), 5, 3, native=True)
    assert heard == ["I look."]
    assert got.own is not None and got.own["reply"][0] == {"type": "thinking", "thinking": "hm", "signature": "s"}


@pytest.mark.parametrize(
    ("sent", "api", "said", "transient"),
    [
        (stream([chunk(content="I ")]), "openai", "broke its reply off", True),
        (stream(MESSAGE[:-1]), "anthropic", "broke its reply off", True),
        (stream([chunk(content="I "), {"error": {"message": "overloaded"}}]), "openai", "overloaded", True),
        (stream(["<html>"]), "openai", "no part of a reply", False),
        (stream(["[1]"]), "openai", "no part of a reply", False),
        (stream([{"choices": [{"delta": {"tool_calls": [{"index": 9}, 5]}}]}]), "openai", "no part", False),
        (stream([{"type": "content_block_delta", "delta": {}}]), "anthropic", "no part", False),
    ],
)
def test_half_a_reply_is_none(sent: bytes, api: str, said: str, transient: bool) -> None:
    with Server([sends(sent)]) as server, pytest.raises(ModelError, match=said) as raised:
        ask(server, api)
    assert raised.value.transient is transient


def test_a_server_that_does_not_stream_is_asked_for_the_whole() -> None:
    with Server([says(error("stream is not supported"), 400), says(chat("hi"))]) as server:
        assert ask(server)[0].text == "hi"
    assert "stream" not in server.requests[1].body


def test_requests_of_a_run_share_one_connection() -> None:
    connections = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            connections.append(self)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            body = json.dumps(chat("hi")).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def finish(self) -> None:
            super().finish()
            ended.set()

        def log_message(self, *_: object) -> None:
            pass

    ended = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    model = connect("tiny", f"http://127.0.0.1:{server.server_address[1]}/v1", env={})
    worker = Worker()
    try:
        for _ in range(3):
            asked = worker.call(LONG, lambda: model.query(ASKED, max_tokens=5, timeout_s=LONG), "the model")
            assert isinstance(asked, Answer) and asked.text == "hi"
        assert len(connections) == 1 and not ended.is_set()
        worker.leave()
        assert ended.wait(LONG)
    finally:
        server.shutdown()
        server.server_close()

"""A model on loopback that does what a script says, in the wire formats of the clients.

A script is a list of steps, a step a tool call `(tool, arguments)`; when it is used up the model says that it is done.
A conversation that begins with `SUBTASK` is a sub-agent's and has a script of its own.
Which step comes next is counted in the request itself, so a client that retries gets the same answer again.
"""

from __future__ import annotations

import gzip
import json
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Step = tuple[str, dict[str, Any]]
DONE = "All done."
SUBTASK = "This is the part for a sub-agent."


class Model:
    """The script, the requests that carried tools, and where it listens."""

    def __init__(self, script: list[Step], inner: list[Step]) -> None:
        self.script, self.inner, self.port = script, inner, 0
        self.requests: list[dict[str, Any]] = []

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def told(self) -> str:
        """Every text that the client sent to the model."""
        return "\n".join(text for request in self.requests for text in _texts(request))

    def step(self, body: dict[str, Any], done: int) -> Step | None:
        """What the model does now, None for words."""
        offered = _tools(body)
        if offered:
            self.requests.append(body)
        first = next(iter(body.get("messages") or []), None)
        script = self.inner if any(SUBTASK in text for text in _texts(first)) else self.script
        return script[done] if offered and done < len(script) else None


@contextmanager
def serving(script: list[Step], inner: list[Step]) -> Iterator[Model]:
    """The model while it is served."""
    model = Model(script, inner)
    handler = type("Handler", (_Handler,), {"model": model})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    model.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _tools(body: dict[str, Any]) -> dict[str, str]:
    """The tools that a request offers, by name, each with its kind."""
    found: dict[str, str] = {}
    for tool in body.get("tools") or []:
        if "functionDeclarations" in tool:  # Gemini
            found.update({one["name"]: "function" for one in tool["functionDeclarations"]})
        elif isinstance(tool.get("function"), dict):  # OpenAI chat
            found[tool["function"]["name"]] = "function"
        elif tool.get("type") == "namespace":  # Codex
            found.update({one.get("name", ""): one.get("type", "") for one in tool.get("tools", [])})
        else:
            found[tool.get("name") or tool.get("type", "")] = tool.get("type") or "function"
    return found


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send(b"", "text/plain")

    def do_GET(self) -> None:
        self._json({"object": "list", "data": [{"id": "fake-model", "object": "model"}], "models": []})

    def do_POST(self) -> None:
        body, path = self._body(), self.path.split("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            self._json({"input_tokens": 10, "totalTokens": 10})
        elif path.endswith("/messages"):
            self._messages(body)
        elif path.endswith("/responses"):
            self._responses(body)
        elif path.endswith("/chat/completions"):
            self._chat(body)
        elif "enerateContent" in path:
            self._gemini(body)
        else:
            self._json({})

    def _body(self) -> dict[str, Any]:
        if "chunked" in (self.headers.get("Transfer-Encoding") or "").lower():
            raw = b""
            while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        coding = (self.headers.get("Content-Encoding") or "").lower()
        raw = gzip.decompress(raw) if coding == "gzip" else zlib.decompress(raw) if coding == "deflate" else raw
        try:
            found = json.loads(raw)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _json(self, value: Any) -> None:
        self._send(json.dumps(value).encode(), "application/json")

    def _stream(self, events: list[tuple[str, Any]]) -> None:
        """Server-sent events; one without a name is data only."""
        parts = []
        for name, value in events:
            text = value if isinstance(value, str) else json.dumps(value)
            parts.append((f"event: {name}\n" if name else "") + f"data: {text}\n\n")
        self._send("".join(parts).encode(), "text/event-stream")

    def _messages(self, body: dict[str, Any]) -> None:
        """Anthropic Messages: Claude Code."""
        turns = [m["content"] for m in body.get("messages", []) if m.get("role") == "assistant"]
        done = sum(isinstance(turn, list) and any(c.get("type") == "tool_use" for c in turn) for turn in turns)
        step = self.model.step(body, done)
        block: dict[str, Any] = {"type": "text", "text": DONE}
        if step:
            block = {"type": "tool_use", "id": f"toolu_{done}", "name": step[0], "input": step[1]}
        stop = "tool_use" if step else "end_turn"
        message = {"id": f"msg_{done}", "type": "message", "role": "assistant", "model": body.get("model", "x")}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None}
        message["usage"] = {"input_tokens": 10, "output_tokens": 1}
        if not body.get("stream"):
            self._json({**message, "content": [block], "stop_reason": stop})
            return
        start, delta = {**block, "text": ""}, {"type": "text_delta", "text": DONE}
        if step:
            start, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(step[1])}
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "message_delta",
                "delta": {"stop_reason": stop, "stop_sequence": None},
                "usage": {"output_tokens": 5},
            },
            {"type": "message_stop"},
        ]
        self._stream([(str(event["type"]), event) for event in events])

    def _responses(self, body: dict[str, Any]) -> None:
        """OpenAI Responses: Codex."""
        items = [item for item in body.get("input") or [] if isinstance(item, dict)]
        outputs = [item.get("call_id", "") for item in items if item.get("type", "").endswith("_call_output")]
        done = len({name for name in outputs if name.startswith("call_s")})
        step = self.model.step(body, done)
        item: dict[str, Any] = {"type": "message", "id": f"m{done}", "role": "assistant", "status": "completed"}
        item["content"] = [{"type": "output_text", "text": DONE, "annotations": []}]
        if step and _tools(body).get(step[0]) == "custom":  # a tool of free text, such as apply_patch
            item = {"type": "custom_tool_call", "id": f"c{done}", "input": step[1]["input"]}
        elif step:
            item = {"type": "function_call", "id": f"f{done}", "arguments": json.dumps(step[1])}
        if step:
            item |= {"call_id": f"call_s{done}", "name": step[0], "status": "completed"}
            begin, _, name = step[0].rpartition("__")
            if begin:  # the tool of an MCP server, which Codex offers by a search
                item |= {"namespace": begin, "name": name}
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}  # type: ignore[dict-item]
        whole = {
            "id": f"r{done}",
            "object": "response",
            "status": "completed",
            "model": "x",
            "output": [item],
            "usage": usage,
        }
        if not body.get("stream"):
            self._json(whole)
            return
        begun = {**whole, "status": "in_progress", "output": []}
        events: list[dict[str, Any]] = [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]
        self._stream([(event["type"], event) for event in events])

    def _chat(self, body: dict[str, Any]) -> None:
        """OpenAI Chat Completions: Copilot CLI, opencode."""
        done = sum(m.get("role") == "assistant" and bool(m.get("tool_calls")) for m in body.get("messages", []))
        step = self.model.step(body, done)
        delta: dict[str, Any] = {"role": "assistant", "content": DONE}
        if step:
            called = {"name": step[0], "arguments": json.dumps(step[1])}
            delta = {"role": "assistant"}
            delta["tool_calls"] = [{"index": 0, "id": f"call_s{done}", "type": "function", "function": called}]
        end = "tool_calls" if step else "stop"
        base = {"id": f"c{done}", "created": 1, "model": body.get("model", "x")}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        if not body.get("stream"):
            choice = {"index": 0, "message": delta, "finish_reason": end}
            self._json({**base, "object": "chat.completion", "usage": usage, "choices": [choice]})
            return
        chunk = {**base, "object": "chat.completion.chunk"}
        first = {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        last = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": end}], "usage": usage}
        self._stream([("", first), ("", last), ("", "[DONE]")])

    def _gemini(self, body: dict[str, Any]) -> None:
        """Gemini: Gemini CLI."""
        turns = [c.get("parts", []) for c in body.get("contents", []) if c.get("role") == "model"]
        done = sum(any("functionCall" in part for part in parts) for parts in turns)
        step = self.model.step(body, done)
        part: dict[str, Any] = {"text": DONE}
        if step:
            part = {
                "functionCall": {"id": f"call_s{done}", "name": step[0], "args": step[1]},
                "thoughtSignature": "ZmFrZQ==",
            }
        elif (body.get("generationConfig") or {}).get("responseMimeType") == "application/json":
            part = {"text": json.dumps({"reasoning": "x", "next_speaker": "user", "complexity_score": 1})}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}
        if "stream" in self.path:
            self._stream([("", answer)])
        else:
            self._json(answer)

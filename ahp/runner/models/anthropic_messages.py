"""Models behind Anthropic's messages: Anthropic itself, and servers that speak its interface (llama.cpp does)."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from ahp.runner.config import ReplyFormat
from ahp.runner.models.endpoint import Endpoint
from ahp.runner.models.exchange import Served, count, texts
from ahp.runner.models.model import Answer, FinishReason, ModelError, Want
from ahp.runner.run.conversation import Message, native
from ahp.runner.run.prompts import for_native
from ahp.system import jsontext

_FINISH: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class AnthropicModel(Served):
    """One model of one server. Tools are always offered as such: the interface has them."""

    def __init__(self, name: str, to: Endpoint, key: str | None = None, _: ReplyFormat = "auto") -> None:
        super().__init__(name, to, key, _joined)

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None) -> Answer:
        """One message."""
        request: dict[str, Any] = {"model": self.name, "max_tokens": max_tokens}
        system, *said = _told(messages, native(messages, "anthropic") if want is not None and want.tools else ())
        request.update(messages=said, system=system["content"])
        if want is not None and want.tools:
            system["content"][0]["text"] = for_native(system["content"][0]["text"])
        # What was sent before costs a tenth when it is sent again: tools and system prompt, and what was said so far.
        for content in (system["content"], said[-1]["content"]):
            content[-1]["cache_control"] = {"type": "ephemeral"}
        if want is not None and want.tools:
            request["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
                for tool in want.tools
            ]
        if self._exchange.tell is not None:
            request["stream"] = True

        body = self._exchange.within(timeout_s, lambda send: send("/messages", request))
        return self._answer(body, "tools" in request)

    def _answer(self, body: Any, offered: bool) -> Answer:
        content = body.get("content") if isinstance(body, dict) else None
        if not isinstance(content, list | str):
            said = self._exchange.shown(body)
            raise ModelError(f"{self._exchange.who} answered with no message: {said}", transient=True)
        calls = [
            self._exchange.call(block.get("name"), block.get("input"), block.get("id"))
            for block in content
            if isinstance(block, dict) and block.get("type") == "tool_use"
        ]
        usage = body.get("usage") if isinstance(body.get("usage"), dict) else {}
        read = [count(usage.get(name)) for name in _READ]
        return Answer(
            self._exchange.clean(texts(content)),
            _FINISH.get(str(body.get("stop_reason")), "stop"),
            tuple(calls),
            None if read[0] is None else sum(number or 0 for number in read),
            count(usage.get("output_tokens")),
            self.endpoint.unpriced,
            offered,
            self._exchange.own(calls, content),
        )


def _told(messages: list[Message], own: Collection[int]) -> list[dict[str, Any]]:
    """The messages in blocks; at `own` replies with calls as they came, with their thoughts, and the results."""
    told = []
    for at, message in enumerate(messages):
        content: list[dict[str, Any]] = [{"type": "text", "text": message["content"]}]
        if at in own and "own" in message:
            content = message["own"]["reply"]
        elif at in own:
            rest = [{"type": "text", "text": message["rest"]}] if message["rest"] else []
            results = message["results"]
            content = [{"type": "tool_result", "tool_use_id": name, "content": text} for name, text in results] + rest
        told.append({"role": message["role"], "content": content})
    return told


def _joined(whole: dict[str, Any], part: Mapping[str, Any]) -> str:
    """Adds an event of a stream to a message."""
    kind, content = part["type"], whole.setdefault("content", [])
    if kind == "message_start":
        whole.update({**part["message"], "content": content})
    elif kind == "content_block_start":
        content.append(dict(part["content_block"]))
    elif kind == "content_block_delta":
        delta, block = part["delta"], content[-1]
        for name in ("text", "thinking", "signature"):
            if name in delta:
                block[name] = block.get(name, "") + delta[name]
        if delta.get("partial_json"):
            block["input"] = (block["input"] or "") + delta["partial_json"]
        return str(delta.get("text", ""))
    elif kind == "content_block_stop" and isinstance(content[-1].get("input"), str):
        with suppress(ValueError):  # of a reply that was cut
            content[-1]["input"] = jsontext.decode(content[-1]["input"])
    elif kind == "message_delta":
        whole.update(part["delta"])
        whole["usage"] = {**(whole.get("usage") or {}), **(part.get("usage") or {})}
    elif kind == "message_stop":
        whole["ended"] = True
    return ""

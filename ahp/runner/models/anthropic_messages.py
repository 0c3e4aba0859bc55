"""Models behind Anthropic's messages: Anthropic itself, and servers that speak its interface (llama.cpp does)."""

from typing import Any

from ahp.runner.config import ReplyFormat
from ahp.runner.models.endpoint import Endpoint
from ahp.runner.models.exchange import Exchange, count, texts
from ahp.runner.models.model import Answer, FinishReason, ModelError, Want
from ahp.runner.run.conversation import Message

_FINISH: dict[str, FinishReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class AnthropicModel:
    """One model of one server. Tools are always offered as such: the interface has them."""

    def __init__(self, name: str, to: Endpoint, key: str | None = None, _: ReplyFormat = "auto") -> None:
        self.name = name
        self.endpoint = to
        self._exchange = Exchange(to, key, name)

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None) -> Answer:
        """One message."""
        request: dict[str, Any] = {"model": self.name, "max_tokens": max_tokens}
        said = [message for message in messages if message["role"] != "system"]
        request.update(messages=said, system="\n\n".join(m["content"] for m in messages if m["role"] == "system"))
        if want is not None and want.tools:
            request["tools"] = [
                {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
                for tool in want.tools
            ]

        body = self._exchange.within(timeout_s, lambda send: send("/messages", request))
        return self._answer(body, "tools" in request)

    def _answer(self, body: Any, native: bool) -> Answer:
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
            native,
        )

"""Models behind OpenAI's chat completions: OpenAI itself, llama.cpp, vLLM, Ollama and the many that speak it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from ahp.runner.config import ReplyFormat
from ahp.runner.models.endpoint import Endpoint
from ahp.runner.models.exchange import Refused, Send, Served, count, price, texts
from ahp.runner.models.model import Answer, FinishReason, ModelError, NativeCall, Want
from ahp.runner.run.conversation import Message, native
from ahp.runner.run.prompts import for_native
from ahp.system.errors import AhpError

_FINISH: dict[str, FinishReason] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
    "sensitive": "content_filter",
}
_GARBLED_CALL = "malformed_function_call"  # of Gemini, in one form or another
# The server broke off (OpenRouter, vLLM, DeepSeek, GLM): what there is of the reply is half of one.
_BROKEN_OFF = ("error", "abort", "insufficient_system_resource", "network_error")


# vLLM, OpenRouter, LM Studio, Groq, llama.cpp.
_WINDOW = ("max_model_len", "context_length", "max_context_length", "context_window", "n_ctx", "n_ctx_train")
_LISTING_TIME = 5.0  # s
# Of a reply with calls: some want their thoughts back with the results (DeepSeek, Kimi, OpenRouter).
_OWN = ("role", "content", "tool_calls", "reasoning_content", "reasoning_details")


class _Form(NamedTuple):
    """In which form a server takes requests, as far as it has shown."""

    native: bool = True  # tools may be offered
    schema: bool = True  # a reply may be held to a JSON schema
    system: bool = True  # its chat template has a system role
    stream: bool = True  # a reply may come in parts
    own: bool = True  # calls and their results stand in its own form, not as text
    new_limit: bool = False  # `max_completion_tokens`, which OpenAI's newer models want


class OpenAIModel(Served):
    """One model of one server.

    `reply_format` says how a reply is held to its form: `native` offers the tools, `schema` asks for JSON, `text`
    does neither, `auto` begins with native tool calls. A form that the server refuses is left for the next one, and not
    tried again.
    """

    def __init__(self, name: str, to: Endpoint, key: str | None = None, reply_format: ReplyFormat = "auto") -> None:
        super().__init__(name, to, key, _joined)
        self._form = _Form(
            native=reply_format in ("auto", "native"),
            schema=reply_format in ("auto", "schema"),
            new_limit=to.official,
        )

    def query(self, messages: list[Message], *, max_tokens: int, timeout_s: float, want: Want | None = None) -> Answer:
        """One chat completion, with as many requests as it takes to find a form that the server accepts."""
        asked = want or Want("words")

        body = self._exchange.within(timeout_s, lambda send: self._complete(send, messages, max_tokens, asked))
        return self._answer(body, self._form.native and bool(asked.tools))

    def window(self) -> int | None:
        """Tokens that the model reads and writes at most, as its server lists them; None where it does not."""
        if self.endpoint.official:
            return None
        try:
            items = self._exchange.models(_LISTING_TIME)
        except AhpError:  # what is wrong with the server is told when the model is asked
            return None
        own = next((item for item in items if item.get("id") == self.name), {})
        told = [count(place.get(name)) for place in (own, _map(own.get("meta"))) for name in _WINDOW]
        return min((size for size in told if size is not None), default=None)

    async def _complete(self, send: Send, messages: list[Message], max_tokens: int, want: Want) -> Any:
        form, first = self._form, None
        while True:
            request = _request(self.name, messages, max_tokens, want, form)
            if form.stream and self._exchange.tell is not None:
                request.update(stream=True, stream_options={"include_usage": True})
            try:
                body = await send("/chat/completions", request)
            except Refused as error:
                first = first or error
                other = _other_form(form, request, str(error))
                if other is None:
                    raise first from None
                form = other
                continue
            self._form = form
            return body

    def _answer(self, body: Any, offered: bool) -> Answer:
        choices = _map(body).get("choices")
        choice = _map(choices[0]) if isinstance(choices, list) and choices else {}
        message, ended = choice.get("message"), str(choice.get("finish_reason"))
        if _GARBLED_CALL in ended.lower():
            ended = "tool_calls"
        if choice.get("error") or _map(body).get("error"):
            raise self._exchange.failed(choice if choice.get("error") else _map(body))
        if ended in _BROKEN_OFF:
            raise ModelError(f"{self._exchange.who} broke its reply off ({ended})", transient=True)
        if not isinstance(message, dict):
            said = self._exchange.shown(body)
            raise ModelError(f"{self._exchange.who} answered with no message: {said}", transient=True)
        usage = _map(_map(body).get("usage"))
        cost = price(usage.get("cost"))
        clean, calls = self._exchange.clean, self._calls(message)
        said, refused = texts(message.get("content")), texts(message.get("refusal"))
        return Answer(
            clean(said or refused),
            "content_filter" if refused and not said else _FINISH.get(ended, "stop"),
            tuple(calls),
            count(usage.get("prompt_tokens")),
            count(usage.get("completion_tokens")),
            self.endpoint.unpriced if cost is None else cost,
            offered,
            self._exchange.own(calls, {name: message[name] for name in _OWN if name in message}),
        )

    def _calls(self, message: Mapping[str, Any]) -> list[NativeCall]:
        listed, old = message.get("tool_calls"), message.get("function_call")
        items = listed if isinstance(listed, list) else [listed]
        found = []
        for item in map(_map, filter(None, [*items, {"function": old} if old else None])):
            function = _map(item.get("function")) or _map(item.get("custom")) or item
            args = function.get("arguments", function.get("input"))
            found.append(self._exchange.call(function.get("name"), args, item.get("id")))
        return found


def _request(name: str, messages: list[Message], max_tokens: int, want: Want, form: _Form) -> dict[str, Any]:
    limit = "max_completion_tokens" if form.new_limit else "max_tokens"
    request: dict[str, Any] = {"model": name, "messages": _told(messages, want, form), limit: max_tokens}
    if form.native and want.tools:
        request["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
            }
            for tool in want.tools
        ]
    elif form.schema and want.schema is not None:
        schema = {"name": want.kind, "schema": dict(want.schema)}
        request["response_format"] = {"type": "json_schema", "json_schema": schema}
    return request


def _told(messages: list[Message], want: Want, form: _Form) -> list[dict[str, Any]]:
    """The messages; without a system role its prompt stands before the first user's turn."""
    own = native(messages, "openai") if form.own and form.native and want.tools else ()
    told: list[dict[str, Any]] = []
    for at, message in enumerate(messages):
        if at not in own:
            said = message["content"]
            said = for_native(said) if message["role"] == "system" and form.native and want.tools else said
            told.append({"role": message["role"], "content": said})
        elif "own" in message:
            told.append(message["own"]["reply"])
        else:
            told += [{"role": "tool", "tool_call_id": name, "content": text} for name, text in message["results"]]
            told += [{"role": "user", "content": message["rest"]}] if message["rest"] else []
    if not form.system and len(told) > 1 and told[0]["role"] == "system":
        told[:2] = [{**told[1], "content": f"{told[0]['content']}\n\n{told[1]['content']}"}]
    return told


def _other_form(form: _Form, request: Mapping[str, Any], said: str) -> _Form | None:
    """The form to try after one that was refused: what the server names first, then what it may not know."""
    said = said.lower()
    ways = []
    if "stream" in request and "stream" in said:
        return form._replace(stream=False)
    if any(message["role"] == "tool" for message in request["messages"]):
        ways.append((True, form._replace(own=False)))
    if "tools" in request:
        ways.append(("tool" in said or "function" in said, form._replace(native=False)))
    if "response_format" in request:
        ways.append(
            (any(word in said for word in ("schema", "response_format", "grammar")), form._replace(schema=False))
        )
    if form.system:
        ways.append(
            (any(word in said for word in ("role", "system", "template", "jinja")), form._replace(system=False))
        )
    if not form.new_limit and "max_completion_tokens" in said:
        return form._replace(new_limit=True)
    named = [other for is_named, other in ways if is_named]
    return next(iter([*named, *(other for _, other in ways)]), None)


def _map(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _joined(whole: dict[str, Any], part: Mapping[str, Any]) -> str:
    """Adds a chunk to a chat completion: texts grow, and calls by their index."""
    whole.update({name: value for name, value in part.items() if name != "choices" and value is not None})
    [mine] = whole.setdefault("choices", [{"message": {"role": "assistant", "content": ""}}])
    message, said = mine["message"], ""
    for choice in (one for one in part.get("choices") or () if not one.get("index")):
        if choice.get("finish_reason"):
            mine["finish_reason"] = choice["finish_reason"]
            whole["ended"] = True
        delta = choice.get("delta") or {}
        said += delta.get("content") or ""
        for name, text in delta.items():
            if isinstance(text, str) and name != "role":
                message[name] = (message.get(name) or "") + text
        for call in delta.get("tool_calls") or ():
            calls = message.setdefault("tool_calls", [])
            if call.get("index", len(calls) - bool(not call.get("id"))) >= len(calls):
                calls.append({"id": "", "type": "function", "function": {"name": "", "arguments": ""}})
            known, more = calls[call.get("index", -1)], call.get("function") or {}
            known["id"] = call.get("id") or known["id"]
            for name in ("name", "arguments"):
                known["function"][name] += more.get(name) or ""
    return said

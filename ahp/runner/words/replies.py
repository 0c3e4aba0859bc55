"""What a model's reply does: call a tool, answer the gate, or neither."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ahp.runner.words import fences, strict_json

# Tool calls may follow prose; they begin a line and nothing comes behind them.
_CALL = re.compile(r'^[ \t]*\{\s{0,50}"tool"\s{0,50}:', re.MULTILINE)


@dataclass(frozen=True)
class ToolCall:
    """One call as the model wrote it: `{"tool": NAME, "args": {…}}`; `args` are not validated yet."""

    tool: str
    args: dict[str, Any]


@dataclass(frozen=True)
class Respond:
    """An answer to a signal of the gate: `{"respond": ID, "action": …, "details": {…}}`."""

    signal_id: str
    action: str
    details: dict[str, Any]


@dataclass(frozen=True)
class Malformed:
    """A reply that means to act and cannot be carried out; `problem` is a sentence for the model."""

    problem: str


def read_action(text: str) -> ToolCall | list[Respond] | Malformed | None:
    """The action of a reply: alone, in one fence, or as its end; None when it holds none. Never raises."""
    body = fences.inside(text) or text.strip()
    return _read_responses(body) or _read_call(body)


def calls_a_tool(text: str) -> bool:
    """Whether a reply means to call a tool, well written or not."""
    return isinstance(_read_call(fences.inside(text) or text.strip()), ToolCall | Malformed)


def is_action_object(value: Any) -> bool:
    """Whether a JSON value is a tool call or an answer to the gate, which a person is never shown."""
    return _as_call(value) is not None or _as_response(value) is not None


def _read_call(body: str) -> ToolCall | Malformed | None:
    written = _call_text(body)
    if written is None:
        return None
    try:
        value = strict_json.load_object(written)
    except ValueError as error:
        return Malformed(
            f"Your tool call cannot be read ({error}). Reply with one action only: one JSON object, nothing behind it."
        )
    if "control" in value:
        return Malformed("One reply is one action: call the tool or send the control object, not both.")
    if value.keys() - {"tool", "args"}:
        return None  # somebody's data that happens to speak of tools
    return _as_call(value) or Malformed('A tool call is {"tool": NAME, "args": {…}}: a name and an object.')


def _call_text(body: str) -> str | None:
    """The part of a reply that is a tool call: from the first line that begins one to the end, or its last fence."""
    fenced = fences.last_fence(body)
    if fenced is not None and _CALL.match(fenced[1]):
        return fenced[1]
    match = _CALL.search(body)
    # The line on which the call begins is code when a fence before it is still open.
    if match is None or fences.open_at_end(body[: match.start()]):
        return None
    return body[match.start() :]


def _as_call(value: Any) -> ToolCall | None:
    if not isinstance(value, dict) or not isinstance(value.get("tool"), str) or value.keys() - {"tool", "args"}:
        return None
    args = value.get("args", {})
    return ToolCall(value["tool"], args) if isinstance(args, dict) else None


def _as_response(value: Any) -> Respond | None:
    if not isinstance(value, dict) or value.keys() - {"respond", "action", "details", "reason"}:
        return None
    signal_id, action, details = value.get("respond"), value.get("action"), value.get("details", {})
    if not (isinstance(signal_id, str) and isinstance(action, str)):
        return None
    details = dict(details) if isinstance(details, dict) else {"text": str(details)}
    if isinstance(value.get("reason"), str):
        details["reason"] = value["reason"]
    return Respond(signal_id, action, details)


def _read_responses(body: str) -> list[Respond] | None:
    """One answer or several, one object behind the other, and nothing else."""
    if not body.startswith("{") or '"respond"' not in body:
        return None
    found = []
    for written in _objects_only(body):
        try:
            response = _as_response(strict_json.load_object(written))
        except ValueError:
            return None
        if response is None:
            return None
        found.append(response)
    return found or None


def _objects_only(body: str) -> Iterator[str]:
    at = 0
    for span in strict_json.spans(body):
        yield body[at : span.end].strip()
        at = span.end
    if body[at:].strip():
        yield body[at:]

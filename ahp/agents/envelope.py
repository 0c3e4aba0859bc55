"""The dialect that Claude Code began: `hook_event_name` on standard input, `hookSpecificOutput` on standard output.

Codex speaks it with less. [light]
"""

from ahp.agents.clients import Asked, Unreadable, arguments, text

EVENTS = {
    "PreToolUse": "pre-tool-use",
    "PostToolUse": "post-tool-use",
    "PostToolUseFailure": "post-tool-use",
    "UserPromptSubmit": "prompt-submit",
    "SessionStart": "session-start",
    "Stop": "task-complete",
}
CALL = "PreToolUse"  # the event that asks before a tool runs
DENIED = 2  # the exit code of a refusal: clients that cannot read the answer refuse by it, too
ALLOWED: "dict[str, dict[str, object]]" = {}  # what is printed where nothing is said, by event


def read(payload: "dict[str, object]", event: str) -> Asked:
    """What is asked. Raises Unreadable."""
    return read_as(payload, event, EVENTS[event])


def read_as(payload: "dict[str, object]", event: str, trigger: str) -> Asked:
    """What is asked at an event that a client calls otherwise. Raises Unreadable."""
    asked = Asked(event, trigger)
    asked.session, asked.folder = text(payload, "session_id"), text(payload, "cwd")
    asked.call = text(payload, "tool_use_id", "prompt_id", "turn_id")
    asked.again = payload.get("stop_hook_active") is True
    if asked.trigger.endswith("tool-use"):
        asked.tool = text(payload, "tool_name")
        if not asked.tool:
            raise Unreadable("tool_name is missing")
        asked.input = arguments(payload, "tool_input")
        if asked.trigger.startswith("post"):
            asked.is_error = event == "PostToolUseFailure"
            asked.output = text(payload, "error") or _output(payload.get("tool_response"))
    return asked


def _output(response: object) -> str:
    """What a tool answered, as one text."""
    if isinstance(response, str):
        return response
    if isinstance(response, dict):
        return "\n".join([value for value in response.values() if isinstance(value, str) and value])
    return ""


def probe(event: str, tool: str) -> "dict[str, object]":
    """A call of a tool, as short as the client could send it."""
    return {"hook_event_name": event, "session_id": "ahp-doctor", "tool_name": tool, "tool_input": {}}


def deny(event: str, reason: str) -> "dict[str, object]":
    """The refusal: no key but these, since Codex drops an answer with others."""
    if event == "PreToolUse":
        return _specific(event, permissionDecision="deny", permissionDecisionReason=reason)
    return {"decision": "block", "reason": reason}


def context(event: str, said: str) -> "dict[str, object] | None":
    """Words for the model; where the event has no place for them, for the user."""
    return {"systemMessage": said} if event == "Stop" else _specific(event, additionalContext=said)


def _specific(event: str, **fields: object) -> "dict[str, object]":
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}

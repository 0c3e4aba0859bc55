"""GitHub Copilot CLI 1.0 (docs.github.com/copilot/concepts/agents/coding-agent/about-hooks).  [light]

Its payloads do not name the event, so the command does. It also runs the hooks of `.claude/settings.json`.
"""

from ahp.agents import envelope
from ahp.agents.clients import Asked, Unreadable, arguments, text
from ahp.system import jsontext

EVENTS = {
    "preToolUse": "pre-tool-use",
    "postToolUse": "post-tool-use",
    "userPromptSubmitted": "prompt-submit",
    "agentStop": "task-complete",
    "sessionStart": "session-start",
}
CALL = "preToolUse"
MUTE: tuple[str, ...] = ()
DENIED, ALLOWED = envelope.DENIED, envelope.ALLOWED
FOLDERS = ()

SETTINGS = ".github/hooks/ahp.json"
HOME_SETTINGS = ".copilot/hooks/ahp.json"
PLUGIN = ""
BEGIN = '{\n  "version": 1\n}\n'
FOUND = (".github/hooks", ".github/copilot-instructions.md")
ROOT = "."
TRUST = "Copilot CLI loads a project's hooks only in a folder that you trust: start `copilot` here and trust the folder"


def read(payload: "dict[str, object]", event: str) -> Asked:
    """What is asked. Raises Unreadable."""
    asked = Asked(event, EVENTS[event])
    asked.session, asked.folder = text(payload, "sessionId"), text(payload, "cwd")
    asked.call = text(payload, "toolCallId")
    asked.again = payload.get("stop_hook_active") is True
    if asked.trigger.endswith("tool-use"):
        asked.tool = text(payload, "toolName")
        if not asked.tool:
            raise Unreadable("toolName is missing")
        asked.input = arguments({"toolArgs": _object(payload.get("toolArgs"))}, "toolArgs")
        result = payload.get("toolResult")
        if isinstance(result, dict):
            asked.output = text(result, "textResultForLlm")
            asked.is_error = text(result, "resultType") not in ("", "success")
    return asked


def _object(value: object) -> object:
    """Arguments that some versions send as JSON in a text."""
    try:
        return jsontext.decode(value) if isinstance(value, str) else value
    except ValueError:
        raise Unreadable("toolArgs is no JSON") from None


def probe(event: str, tool: str) -> "dict[str, object]":
    """A call of a tool, as short as the client could send it."""
    return {"sessionId": "ahp-doctor", "toolName": tool, "toolArgs": {}}


def deny(event: str, reason: str) -> "dict[str, object]":
    """The refusal, flat."""
    if event == "preToolUse":
        return {"permissionDecision": "deny", "permissionDecisionReason": reason}
    return {"decision": "block", "reason": reason}


def context(event: str, said: str) -> "dict[str, object] | None":
    """Words for the model."""
    return {"systemMessage": said} if event == "agentStop" else {"additionalContext": said}


def rewrite(event: str, arguments: "dict[str, object]", said: str) -> "dict[str, object]":
    """Other arguments for the tool."""
    shown: dict[str, object] = {"permissionDecision": "allow", "modifiedArgs": arguments}
    if said:
        shown["additionalContext"] = said
    return shown


def entry(event: str, command: str, timeout: int, refuses: bool) -> "dict[str, object]":
    """The entry of one event; `timeout` in whole seconds."""
    return {"type": "command", "bash": command, "timeoutSec": timeout}


def switched_off(settings: "dict[str, object]") -> str:
    """What in a hooks file keeps Copilot CLI from running it, "" when nothing does."""
    return "" if settings.get("version") == 1 else "`version` is not 1"

"""Cursor (cursor.com/docs/agent/hooks), by the hook engine that npm's @cursor/sdk 1.0.18 ships; not run here.  [light]

It also runs the hooks of `.claude/settings.json`, and takes these answers there, too.
"""

from ahp.agents import envelope
from ahp.agents.clients import Asked, Unreadable, arguments, text

EVENTS = {
    "preToolUse": "pre-tool-use",
    "postToolUse": "post-tool-use",
    "postToolUseFailure": "post-tool-use",
    "beforeSubmitPrompt": "prompt-submit",
    "sessionStart": "session-start",
    "stop": "task-complete",
}
CALL = "preToolUse"
MUTE: tuple[str, ...] = ()
# Of a hook that exits with 2 Cursor shows the whole output as it is, and the agent reads none of it.
DENIED = 0
# With `failClosed` an empty answer is a refusal.
ALLOWED: "dict[str, dict[str, object]]" = {"preToolUse": {"permission": "allow"}}
FOLDERS = ("CURSOR_PROJECT_DIR",)

SETTINGS = HOME_SETTINGS = ".cursor/hooks.json"
PLUGIN = ""
BEGIN = '{\n  "version": 1\n}\n'
FOUND = (".cursor", ".cursorrules")
ROOT = "${CURSOR_PROJECT_DIR:-.}"
TRUST = "Cursor runs a project's hooks only in a workspace that you trust: open the folder and trust it"


def read(payload: "dict[str, object]", event: str) -> Asked:
    """What is asked. Raises Unreadable."""
    asked = Asked(event, EVENTS[event])
    asked.session = text(payload, "session_id", "conversation_id")
    asked.folder, asked.call = text(payload, "cwd"), text(payload, "tool_use_id", "generation_id")
    count = payload.get("loop_count")
    asked.again = isinstance(count, int) and count > 0
    if asked.trigger.endswith("tool-use"):
        asked.tool = text(payload, "tool_name")
        if not asked.tool:
            raise Unreadable("tool_name is missing")
        asked.input = arguments(payload, "tool_input")
        if asked.trigger.startswith("post"):
            asked.is_error = event == "postToolUseFailure"
            asked.output = text(payload, "error_message", "tool_output")
    return asked


def probe(event: str, tool: str) -> "dict[str, object]":
    """A call of a tool, as short as the client could send it."""
    return {**envelope.probe(event, tool), "cursor_version": "ahp-doctor"}


def deny(event: str, reason: str) -> "dict[str, object]":
    """The refusal. A task's end has no other than the words with which the agent goes on."""
    if event == "stop":
        return {"followup_message": reason}
    if event in ("beforeSubmitPrompt", "sessionStart"):
        return {"continue": False, "user_message": reason}
    return {"permission": "deny", "user_message": reason, "agent_message": reason}


def context(event: str, said: str) -> "dict[str, object] | None":
    """Words for the model; at a task's end, where there is no place for them, for the user."""
    if event == "stop":
        return {"user_message": said}
    return {**ALLOWED.get(event, {}), "additional_context": said}


def rewrite(event: str, arguments: "dict[str, object]", said: str) -> "dict[str, object]":
    """Other arguments for the tool."""
    shown: dict[str, object] = {"permission": "allow", "updated_input": arguments}
    if said:
        shown["additional_context"] = said
    return shown


def entry(event: str, command: str, timeout: int, refuses: bool) -> "dict[str, object]":
    """The entry of one event in hooks.json; `timeout` in seconds."""
    made: dict[str, object] = {"command": command, "timeout": timeout}
    if refuses:
        made["failClosed"] = True
    return made


def switched_off(settings: "dict[str, object]") -> str:
    """What makes Cursor drop a hooks file, "" when nothing does."""
    return "" if settings.get("version") == 1 else "`version` is not 1"

"""opencode 1.18 (opencode.ai/docs/plugins), which has plugins and no commands.  [light]

Our plugin, `hooks/agents/opencode.js`, runs the command and does what it answers; so the words are ours.
"""

from ahp.agents import envelope
from ahp.agents.clients import Asked

EVENTS = {
    "tool.execute.before": "pre-tool-use",
    "tool.execute.after": "post-tool-use",
    "chat.message": "prompt-submit",
    "experimental.chat.system.transform": "session-start",
}
CALL = "tool.execute.before"
MUTE: tuple[str, ...] = ()
DENIED, ALLOWED = envelope.DENIED, envelope.ALLOWED
FOLDERS = ()
probe = envelope.probe

SETTINGS = ".opencode/plugins/ahp.js"
HOME_SETTINGS = ".config/opencode/plugins/ahp.js"
PLUGIN = "agents/opencode.js"
BEGIN = ""
FOUND = (".opencode", "opencode.json", "opencode.jsonc")
ROOT = "."
TRUST = ""


def read(payload: "dict[str, object]", event: str) -> Asked:
    """What is asked. Raises Unreadable."""
    return envelope.read_as(payload, event, EVENTS[event])


def deny(event: str, reason: str) -> "dict[str, object]":
    """The refusal: the plugin throws the reason, which the model reads as the tool's result."""
    return {"decision": "deny", "reason": reason}


def context(event: str, said: str) -> "dict[str, object] | None":
    """Words for the model; before a tool the plugin keeps them for its result."""
    return {"additionalContext": said}


def rewrite(event: str, arguments: "dict[str, object]", said: str) -> "dict[str, object]":
    """Other arguments for the tool."""
    shown: dict[str, object] = {"args": arguments}
    if said:
        shown["additionalContext"] = said
    return shown


def entry(event: str, command: str, timeout: int, refuses: bool) -> "dict[str, object]":
    """The command of one event, as the plugin holds it."""
    return {"command": command, "timeout": timeout}


def switched_off(settings: "dict[str, object]") -> str:
    """opencode has no switch for plugins in their files."""
    return ""

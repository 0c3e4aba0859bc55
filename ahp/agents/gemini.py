"""Gemini CLI 0.61 (geminicli.com/docs/hooks).  [light]"""

from ahp.agents import envelope
from ahp.agents.clients import Asked

EVENTS = {
    "BeforeTool": "pre-tool-use",
    "AfterTool": "post-tool-use",
    "BeforeAgent": "prompt-submit",
    "AfterAgent": "task-complete",
    "SessionStart": "session-start",
}
CALL = "BeforeTool"
MUTE: tuple[str, ...] = ("BeforeTool",)  # events without a place for words to the model
DENIED, ALLOWED = envelope.DENIED, envelope.ALLOWED
probe = envelope.probe
FOLDERS = ("GEMINI_PROJECT_DIR",)

SETTINGS = HOME_SETTINGS = ".gemini/settings.json"
PLUGIN = ""
BEGIN = "{}\n"
FOUND = (".gemini", "GEMINI.md")
ROOT = "${GEMINI_PROJECT_DIR:-.}"
TRUST = (
    "Gemini CLI loads a project's hooks only in a folder that you trust: start `gemini` here and trust the folder; "
    "with --skip-trust alone they are skipped without a word"
)


def read(payload: "dict[str, object]", event: str) -> Asked:
    """What is asked. Raises Unreadable."""
    return envelope.read_as(payload, event, EVENTS[event])


def deny(event: str, reason: str) -> "dict[str, object]":
    """The refusal. `ask` is never an answer: without a person it hangs for ever."""
    return {"decision": "deny", "reason": reason}


def context(event: str, said: str) -> "dict[str, object] | None":
    """Words for the model; before a tool there is no place for them, and they wait for the event after it."""
    if event == "BeforeTool":
        return None
    if event == "AfterAgent":
        return {"systemMessage": said}
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": said}}


def rewrite(event: str, arguments: "dict[str, object]", said: str) -> "dict[str, object]":
    """Other arguments for the tool, laid over those it had. The model is told so by the client itself."""
    shown: dict[str, object] = {"hookSpecificOutput": {"hookEventName": event, "tool_input": arguments}}
    if said:
        shown["systemMessage"] = said
    return shown


def entry(event: str, command: str, timeout: int, refuses: bool) -> "dict[str, object]":
    """The entry of one event in the settings; Gemini CLI counts milliseconds."""
    return {"hooks": [{"type": "command", "name": "ahp", "command": command, "timeout": timeout * 1000}]}


def switched_off(settings: "dict[str, object]") -> str:
    """What in a settings file keeps Gemini CLI from running hooks, "" when nothing does."""
    hooks = settings.get("hooksConfig")
    return "hooksConfig.enabled is false" if isinstance(hooks, dict) and hooks.get("enabled") is False else ""

"""Claude Code 2.1 (code.claude.com/docs/en/hooks).  [light]"""

from ahp.agents import envelope

EVENTS, CALL, read, deny, context = envelope.EVENTS, envelope.CALL, envelope.read, envelope.deny, envelope.context
MUTE: tuple[str, ...] = ()
DENIED, ALLOWED = envelope.DENIED, envelope.ALLOWED
probe = envelope.probe
FOLDERS = ("CLAUDE_PROJECT_DIR",)


def rewrite(event: str, arguments: "dict[str, object]", said: str) -> "dict[str, object]":
    """Other arguments for the tool. Without a decision, so that the user's own permissions still hold."""
    fields: dict[str, object] = {"hookEventName": event, "updatedInput": arguments}
    if said:
        fields["additionalContext"] = said
    return {"hookSpecificOutput": fields}


SETTINGS = HOME_SETTINGS = ".claude/settings.json"
PLUGIN = ""
BEGIN = "{}\n"
FOUND = (".claude", "CLAUDE.md")
ROOT = "${CLAUDE_PROJECT_DIR:-.}"
TRUST = ""


def entry(event: str, command: str, timeout: int, refuses: bool) -> "dict[str, object]":
    """The entry of one event in the settings; `timeout` in seconds. `onFailure` holds from 2.1.295 on."""
    hook: dict[str, object] = {"type": "command", "command": command, "timeout": timeout}
    if refuses:
        hook["onFailure"] = "block"
    return {"hooks": [hook]}


def switched_off(settings: "dict[str, object]") -> str:
    """What in a settings file keeps Claude Code from running hooks, "" when nothing does."""
    if settings.get("disableAllHooks") is True:
        return "disableAllHooks is set"
    return "allowManagedHooksOnly is set" if settings.get("allowManagedHooksOnly") is True else ""

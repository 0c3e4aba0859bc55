"""OpenAI Codex CLI 0.169 (developers.openai.com/codex/hooks).  [light]"""

from ahp.agents import envelope

# It has no event of its own for a tool that failed.
EVENTS = {name: trigger for name, trigger in envelope.EVENTS.items() if name != "PostToolUseFailure"}
CALL, read, deny, context = envelope.CALL, envelope.read, envelope.deny, envelope.context
MUTE: tuple[str, ...] = ()
DENIED, ALLOWED = envelope.DENIED, envelope.ALLOWED
probe = envelope.probe
FOLDERS = ()


def rewrite(event: str, arguments: "dict[str, object]", said: str) -> "dict[str, object]":
    """Other arguments for the tool: Codex takes them with `allow` only."""
    fields: dict[str, object] = {"hookEventName": event, "permissionDecision": "allow", "updatedInput": arguments}
    if said:
        fields["additionalContext"] = said
    return {"hookSpecificOutput": fields}


SETTINGS = HOME_SETTINGS = ".codex/hooks.json"
PLUGIN = ""
BEGIN = "{}\n"
FOUND = (".codex",)
ROOT = "."
TRUST = (
    "Codex runs these hooks only once you have trusted them: start `codex` in this folder, trust the project, then run "
    "`ahp install codex` in a terminal, or accept each hook in /hooks; an untrusted hook is skipped without a word"
)


def entry(event: str, command: str, timeout: int, refuses: bool) -> "dict[str, object]":
    """The entry of one event in hooks.json; `timeout` in whole seconds, for Codex drops a file with any other."""
    return {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}


def switched_off(settings: "dict[str, object]") -> str:
    """What makes Codex drop a hooks file as a whole, "" when nothing does."""
    foreign = [key for key in settings if key not in ("hooks", "description")]
    return f"Codex drops a hooks.json with the key {foreign[0]}" if foreign else ""

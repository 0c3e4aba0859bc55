"""`session`: the agent's session so far (design §6)."""

from ahp.facts.groups import AGENT

TRIGGERS = AGENT

SCHEMA = {
    "id": {"type": "str", "doc": "the client's id of it"},
    "agent": {"type": "str", "doc": "claude, codex, gemini, copilot, opencode, cursor"},
    "tool_calls": {"type": "int", "min": 0, "doc": "calls judged before this one"},
    "denied": {"type": "int", "min": 0, "doc": "those that were refused"},
    "touched_files_count": {"type": "int", "min": 0, "doc": "different files written so far"},
}

"""`actor`: who acts (design §6), told by the markers that agents and CI leave in the environment."""

TRIGGERS = None

SCHEMA = {
    "kind": {"type": "str", "enum": ["human", "agent", "ci"], "doc": "a person, a coding agent, or CI"},
    "name": {"type": "str", "doc": "claude, codex …, the CI system; for a person the login name"},
}

"""What this wing adds to ahp's tables (`ahp.system.wings`).  [light]"""

CLIENTS = ("claude", "codex", "gemini", "copilot", "opencode", "cursor")
"""The names of the rows of `ahp.agents.clients`, which whoever looks at this table does not read."""
HOSTS = {**{client: f"ahp.agents.host:{client}" for client in CLIENTS}, "agents": "ahp.agents.pack"}
FACTS = {"tool": "ahp.agents.calls.call_view"}

"""What this wing adds to ahp's tables (`ahp.system.wings`).  [light]"""

CLIENTS = ("claude", "codex", "gemini", "copilot", "opencode", "cursor")
"""The coding agents: a module of this wing each (`ahp.agents.clients`)."""
HOSTS = {**{client: f"ahp.agents.host:{client}" for client in CLIENTS}, "agents": "ahp.agents.pack"}
FACTS = {"tool": "ahp.agents.calls.call_view"}

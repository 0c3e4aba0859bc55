"""What this wing adds to ahp's tables (`ahp.system.wings`).  [light]"""

from ahp.agents.clients import CLIENTS

HOSTS = {**{client: f"ahp.agents.host:{client}" for client in CLIENTS}, "agents": "ahp.agents.pack"}
FACTS = {"tool": "ahp.agents.calls.call_view"}

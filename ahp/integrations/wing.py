"""What this wing adds to ahp's tables (`ahp.system.wings`). Programs import its other modules, one a framework."""

COMMANDS = {"mcp": "ahp.integrations.mcp:command"}
HELP = {"mcp": ("Issues and agents", "check, explain, facts, brief, respond for agents, by MCP")}
TRACES = {"opentelemetry": "ahp.integrations.opentelemetry:exported"}

"""What this wing adds to ahp's tables (`ahp.system.wings`)."""

COMMANDS = {
    "agent": "ahp.runner.commands.agent:command",
    "verify": "ahp.runner.commands.verify:command",
}
HELP = {
    "agent": ("Issues and agents", "the embedded agent runner"),
    "verify": ("Issues and agents", "the project's own tests and linters, as the runner and policies see them"),
}
HOSTS = {"agent": "ahp.runner.gating.box"}
SETTINGS = {".ahp/agent.yaml": "ahp.runner.config:load_config"}

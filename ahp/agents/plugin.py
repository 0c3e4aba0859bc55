"""A client's plugin, for clients that run no commands: a file that is ours as a whole, with the commands in it."""

from ahp.agents import clients
from ahp.hosts.templates import template
from ahp.system import jsontext

_COMMANDS = "const COMMANDS = "
_GRACE = 5  # s that the plugin waits beyond the command's own limit


def text(client: str, commands: dict[str, str], lost: str, timeout: int) -> str:
    """The plugin with the command of each event, what is said where none answers, and the limit in seconds."""
    made = template(clients.module(client).PLUGIN)
    values = {"COMMANDS": jsontext.encode(commands), "LOST": jsontext.encode(lost)}
    for name, value in {**values, "TIMEOUT": str((timeout + _GRACE) * 1000)}.items():
        made = made.replace(f"@{name}@", value)
    return made


def settings(text: str) -> dict[str, object]:
    """What a plugin's text holds, in the shape of other clients' settings: `{hooks: {event: [{command}]}}`."""
    for line in text.split("\n"):
        if line.startswith(_COMMANDS):
            try:
                told = jsontext.decode(line.removeprefix(_COMMANDS))
            except ValueError:
                break
            if isinstance(told, dict):
                return {"hooks": {event: [{"command": command}] for event, command in told.items()}}
    return {}

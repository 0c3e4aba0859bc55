"""What this wing adds to ahp's tables (`ahp.system.wings`)."""

COMMANDS = {
    "box": "ahp.box.commands:box",
    "saved": "ahp.box.commands:saved",
}
HELP = {
    "box": ("Work in a box", "run a command where it can harm neither keys nor the repository"),
    "saved": ("Work in a box", "what lay in the work tree before an agent's calls, and bring it back"),
}
PLACES = {"box": "ahp.box.place"}
HOSTS = {"box": "ahp.box.doctor"}

"""What this wing adds to ahp's tables (`ahp.system.wings`)."""

COMMANDS = {"box": "ahp.box.commands.box:command"}
HELP = {"box": ("Work in a box", "run a command where it can harm neither keys nor the repository")}
PLACES = {"box": "ahp.box.place"}
HOSTS = {"box": "ahp.box.doctor"}

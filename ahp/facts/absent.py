"""An absent fact: why it is, and the command that makes it (design §4)."""


class Absent(Exception):
    """A fact that is not available; raised, a whole namespace.

    `reason` is half a sentence for people (`no coverage report`), `command` what they run to get it, "" when no command
    helps.
    """

    def __init__(self, reason: str, command: str = "") -> None:
        super().__init__(reason)
        self.reason, self.command = reason, command

"""What a fact is when nobody can tell it: absent, with the reason and the command that makes it (design §4)."""


class Absent(Exception):
    """A fact, or a whole namespace when raised, that cannot be had.

    `reason` is half a sentence for people (`no coverage report`), `command` what they run to get it, "" when no command
    helps.
    """

    def __init__(self, reason: str, command: str = "") -> None:
        super().__init__(reason)
        self.reason, self.command = reason, command

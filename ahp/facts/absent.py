"""An absent fact: why it is, and the command that makes it (design §4).  [light]"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Absent(Exception):
    """A fact that is not available; raised, a whole namespace.

    `reason` is half a sentence for people (`no coverage report`), `command` what they run to get it, "" when no command
    helps. `unknowable` says that the change itself is the cause and no evidence is missing, so that a rule keeps its
    own intensity (authority §5); `known` is then, of a list, what could be read of it. `elsewhere` says that it can be
    known at other places only: where commits are judged from git's objects, rules that hang on it are skipped.
    """

    def __init__(
        self,
        reason: str,
        command: str = "",
        *,
        unknowable: bool = False,
        elsewhere: bool = False,
        known: "list[Any] | None" = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.command, self.known = reason, command, known
        self.unknowable, self.elsewhere = unknowable, elsewhere


def undecided(reason: str, command: str, path: str) -> str:
    """The sentence of a rule that could not be decided: which fact was missing, and what makes it."""
    from ahp.protocol.text import one_line

    text = f"cannot tell: {path} is missing" + (f" ({one_line(reason)})" if reason else "")
    return text + (f"; to get it: {one_line(command)}" if command else "")


NO_VIEW = Absent("the client does not tell what the call changes")

"""What the checker reports: problems with a place in the file, and the one exception that carries them."""

from __future__ import annotations

from dataclasses import dataclass

from ahp.system.errors import AhpError
from ahp.system.place import Place

ERROR_TEXT = 500  # characters an error may have (design §5), so that hostile text cannot flood a terminal or a log


@dataclass(frozen=True)
class Problem:
    """One finding about a condition.

    `kind` is one of syntax, name, type, pattern, bound, constant, enum, unguarded, pitfall; `line` and `column`
    count from 1, in the file when a position was given; `hint` says what to write instead, or is empty.
    """

    kind: str
    message: str
    line: int = 1
    column: int = 1
    hint: str = ""
    file: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.file else f"{self.line}:{self.column}"
        text = f"{place}: {self.message}"
        return clip(f"{text}; {self.hint}" if self.hint else text)


class ConditionError(AhpError):
    """A condition that cannot be accepted; `problems` holds every reason found, the first one first."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__(str(problems[0]))


def clip(text: str, limit: int = ERROR_TEXT) -> str:
    """`text` in one line of at most `limit` characters, with those that cannot be printed escaped."""
    head = text[: limit * 4]
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in head)
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


def quoted(text: str, limit: int = 60) -> str:
    """A piece of the author's text as it may stand inside a message."""
    return "'" + clip(text, limit) + "'"


@dataclass(frozen=True)
class Spot:
    """A place inside the condition's own text: line from 1, column from 0 (both as `ast` counts, in characters)."""

    line: int = 1
    column: int = 0

    def problem(self, kind: str, message: str, *, hint: str = "", position: Place | None = None) -> Problem:
        """The problem at this place, moved to where the condition stands in its file: its later lines, too, begin at
        the column of its first one, as those of a YAML block do.
        """
        at = position or Place("")
        place = (at.line + self.line - 1, at.column + self.column)
        return Problem(kind, clip(message), *place, clip(hint, 200), at.file)

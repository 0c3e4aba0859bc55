"""What is wrong with a policy: every problem at its `file:line:column` (design §4)."""

import difflib
from collections.abc import Iterable
from typing import NamedTuple

from ahp.policy.tree import UNREAD
from ahp.protocol.text import one_line
from ahp.system.errors import AhpError
from ahp.system.place import Place as Place

UNMET = "this policy needs ahp"  # how the problem of a `requires` that this version does not meet begins
SHOWN_TEXT = 1000  # characters a problem is shown with
SHOWN_PROBLEMS = 50  # a file that is no policy yields thousands


class Problem(NamedTuple):
    """One mistake: where, what, and the line as it should read (empty when there is no single mend)."""

    place: Place
    what: str
    mended: str = ""

    def __str__(self) -> str:
        # names and values in it come from a file that anybody may have written
        text = one_line(f"{self.place}: {self.what}", SHOWN_TEXT)
        return f"{text}\n    write: {one_line(self.mended, SHOWN_TEXT)}" if self.mended else text


class PolicyError(AhpError):
    """A policy that is refused whole. `problems` are all its mistakes, sorted by place."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: list[Problem] = sorted(set(problems))
        shown = [str(problem) for problem in self.problems[:SHOWN_PROBLEMS]]
        if len(self.problems) > SHOWN_PROBLEMS:
            shown.append(f"… and {len(self.problems) - SHOWN_PROBLEMS} more")
        super().__init__("\n".join(shown))

    @property
    def is_for_another_ahp(self) -> bool:
        """Whether `requires` of a file that takes part is not met."""
        return any(problem.what.startswith(UNMET) for problem in self.problems)

    @property
    def is_unread(self) -> bool:
        """Whether the content of a file that takes part is missing in this clone, or damaged."""
        return any(problem.what.startswith(UNREAD) for problem in self.problems)


def closest(name: str, valid: Iterable[str]) -> str | None:
    """The valid name that `name` was probably meant to be."""
    folded = {n.lower().replace("_", "-"): n for n in sorted(set(valid))}
    close = difflib.get_close_matches(name[:80].lower().replace("_", "-"), list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def nearest(name: str, valid: Iterable[str]) -> str:
    """The sentence tail that offers the nearest valid name, or lists the few there are; "" when neither helps."""
    names = sorted(set(valid))
    if close := closest(name, names):
        return f"; did you mean `{close}`?"
    return f"; valid are {', '.join(names)}" if 0 < len(names) <= 20 else ""


def quoted(value: object, limit: int = 60) -> str:
    """A value from outside on one line: cut to `limit` characters, control characters escaped."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"

"""One simple command of a shell, and what it prints."""

from dataclasses import dataclass, field

from ahp.shell import git
from ahp.shell.expansion import Word
from ahp.shell.output import UNKNOWN, printed


@dataclass(slots=True)
class Command:
    """One simple command. `program` is a base name; "" for a bare assignment or redirect, or when it is not known.

    `flags` are its options, `folder` is where the `cd`s before it lead, `git` is the same line in git's terms.
    """

    program: str = ""
    args: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    assignments: list[str] = field(default_factory=list)
    redirects: list[str] = field(default_factory=list)
    unresolved: bool = False
    folder: str = ""
    git: "git.GitCall | None" = None

    def as_fact(self) -> dict[str, object]:
        """The record that conditions read as an item of `tool.commands` (design §6)."""
        return {
            "program": self.program,
            "args": self.args,
            "flags": self.flags,
            "assignments": self.assignments,
            "redirects": self.redirects,
            "unresolved": self.unresolved,
        }


def output(commands: list[Command], piped: Word | None) -> Word:
    """What the last of these commands prints, as far as reading tells."""
    last = commands[-1] if commands else Command(unresolved=True)
    return UNKNOWN if last.unresolved or last.redirects else printed(last.program, last.args, piped)

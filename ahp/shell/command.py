"""One simple command of a shell, read."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Command:
    """One simple command. Texts are as the script has them, unknown parts included; paths have `**` for those."""

    program: str = ""
    """A base name; "" for a bare assignment or redirect, or when it is not known."""
    args: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    assignments: list[str] = field(default_factory=list)
    redirects: list[str] = field(default_factory=list)
    verb: str = ""
    operands: list[str] = field(default_factory=list)
    config: list[tuple[str, str]] = field(default_factory=list)
    folder: str = ""
    """Where the `cd`s before it, and options like `git -C`, lead; "" where the script starts."""
    stdin: str = ""
    code: str = ""
    paths: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    may_write: list[str] = field(default_factory=list)
    """Those of `paths` that it may write: its program is not known here."""
    unresolved: bool = False
    unresolved_at: list[str] = field(default_factory=list)

    def as_fact(self) -> dict[str, object]:
        """The record that conditions read as an item of `tool.commands` (design §6)."""
        return {
            "program": self.program,
            "verb": self.verb,
            "args": self.args,
            "flags": self.flags,
            "operands": self.operands,
            "assignments": self.assignments,
            "config": [f"{key}={value}" for key, value in self.config],
            "redirects": self.redirects,
            "folder": self.folder,
            "stdin": self.stdin,
            "code": self.code,
            "paths": self.paths,
            "writes": self.writes,
            "may_write": self.may_write,
            "unresolved": self.unresolved,
            "unresolved_at": self.unresolved_at,
        }


UNKNOWN = Command(unresolved=True, unresolved_at=["program"])
"""What cannot be read at all."""

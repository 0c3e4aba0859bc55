"""One simple command of a shell, read."""

from ahp.system.plain import Plain


class Command(Plain):
    """One simple command. Texts are as the script has them, unknown parts included; paths have `**` for those.

    `program` is a base name; "" for a bare assignment or redirect, or when it is not known. `folder` is where the
    `cd`s before it, and options like `git -C`, lead; "" where the script starts. `may_write` are those of `paths`
    that it may write: its program is not known here. `unknown` are its words
    that are known only when it runs, as the script has them; `does_nothing` says that it shows help or a version,
    or what it would do. `bare` says that it is called by its name, and that no wildcard begins one of its words.
    """

    __slots__ = (
        *("args", "assignments", "bare", "code", "config", "does_nothing", "flags", "folder", "may_write", "operands"),
        *("paths", "program", "redirects", "stdin", "unknown", "unresolved", "unresolved_at", "verb", "writes"),
    )

    def __init__(
        self,
        program: str = "",
        args: list[str] | None = None,
        *,
        assignments: list[str] | None = None,
        unresolved: bool = False,
        unresolved_at: list[str] | None = None,
    ) -> None:
        self.program, self.args, self.assignments = program, args or [], assignments or []
        self.unresolved, self.unresolved_at = unresolved, unresolved_at or []
        self.flags: list[str] = []
        self.redirects: list[str] = []
        self.operands: list[str] = []
        self.config: list[tuple[str, str]] = []
        self.paths: list[str] = []
        self.writes: list[str] = []
        self.may_write: list[str] = []
        self.unknown: list[str] = []
        self.does_nothing, self.bare = False, True
        self.verb = self.folder = self.stdin = self.code = ""

    def as_fact(self) -> dict[str, object]:
        """The record that conditions read as an item of `tool.commands` (design §6)."""
        return {
            "program": self.program,
            "bare": self.bare,
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
            "does_nothing": self.does_nothing,
            "unknown": self.unknown,
            "unresolved": self.unresolved,
            "unresolved_at": self.unresolved_at,
        }


UNKNOWN = Command(unresolved=True, unresolved_at=["program"])
"""What cannot be read at all."""

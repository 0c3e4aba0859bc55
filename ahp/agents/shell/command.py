"""One simple command of a shell, read."""

from ahp.system.plain import Plain

_LISTS = (
    *("args", "assignments", "config", "flags", "may_write", "operands", "paths", "redirects", "unknown"),
    *("unresolved_at", "writes"),
)


class Command(Plain):
    """One simple command. Texts are as the script has them, unknown parts included; paths have `**` for those.

    `program` is a base name; "" for a bare assignment or redirect, or when it is not known. `folder` is where the
    `cd`s before it, and `git -C`, lead; "" where the script starts. `writes` are the files it is redirected to,
    `may_write` what its words may name. `unknown` are its words that are known only when it runs, as the script has
    them; `does_nothing` says that it shows help or a version, or what it would do. `bare` says that it is called by its
    name. `stdin` is a text that it reads, where that stands in the script; `piped` that something else comes in.
    """

    __slots__ = (*_LISTS, "bare", "does_nothing", "folder", "piped", "program", "stdin", "verb")

    def __init__(self, program: str = "", *, unresolved_at: list[str] | None = None, folder: str = "") -> None:
        for name in _LISTS:
            setattr(self, name, [])
        self.program, self.folder, self.unresolved_at = program, folder, unresolved_at or []
        self.does_nothing, self.bare, self.piped = False, True, False
        self.verb = self.stdin = ""

    args: list[str]
    assignments: list[str]
    config: list[str]
    flags: list[str]
    may_write: list[str]
    operands: list[str]
    paths: list[str]
    redirects: list[str]
    unknown: list[str]
    unresolved_at: list[str]
    writes: list[str]

    @property
    def unresolved(self) -> bool:
        """Whether a part of it cannot be known before it runs."""
        return bool(self.unknown or {"program", "path"} & set(self.unresolved_at))

    def as_fact(self) -> dict[str, object]:
        """The record that conditions read as an item of `tool.commands` (design §6)."""
        return {name: getattr(self, name) for name in (*self.__slots__, "unresolved")}


def unknown() -> Command:
    """What cannot be read at all."""
    return Command(unresolved_at=["program"])

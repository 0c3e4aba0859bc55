"""Monoco's command line, as far as it moves an issue (monoco-toolkit 0.4.2)."""

from typing import NamedTuple

from ahp.shell.options import Spec, parse

_BEFORE = Spec(("--root=", "--version", "--help"), {"v": "--version"})
_ISSUE = Spec(
    (
        "--root=",
        "--stage=",
        "--status=",
        "--solution=",
        "--title=",
        "--parent=",
        "--sprint=",
        "--dependency=",
        "--related=",
        "--tag=",
        "--json",
    ),
    {"s": "--solution"},
    "stpdr",
)


_MODULES = ("monoco", "monoco.main", "monoco.__main__")


def arguments(program: str, args: list[str]) -> list[str] | None:
    """What Monoco is given by a command, None where it runs something else.

    `monoco …`, `python [options] -m monoco …` and `python PLACE/monoco …` are Monoco.
    """
    if program.partition("@")[0] == "monoco":  # uvx monoco@latest
        return args
    if not program.startswith(("python", "pypy")):
        return None
    at = args.index("-m") + 1 if "-m" in args else 0
    is_monoco = args[at : at + 1] and (args[at] in _MODULES or args[at].endswith("/monoco"))
    return args[at + 1 :] if is_monoco else None


class Move(NamedTuple):
    """One call that moves an issue: the command (`start`, `submit`, `close`, `update`) and what it is about."""

    command: str
    issue: str
    goal: str
    """The stage that an `update` sets, "done" for `--status closed`; "" for the other commands."""
    root: str
    """The folder of `--root`, "" when none is given."""
    json: bool
    solution: str = ""
    """What a `close` or `update` says the issue is closed as, "" where it says nothing."""


def read(args: list[str]) -> Move | None:
    """The move that the arguments of `monoco` make, None when they make none; an issue left out is ""."""
    before = parse(args, _BEFORE, permute=False)
    if before.operands[:1] != ["issue"] or "--help" in args:
        return None
    rest = parse(before.operands[1:], _ISSUE)
    command = rest.operands[0] if rest.operands else ""
    values = dict(before.values) | dict(rest.values)
    goal = ""
    if command == "update":
        closed = values.get("--status", "").lower() in ("closed", "archived")
        goal = "done" if closed else values.get("--stage", "").lower()
    if command not in ("start", "submit", "close") and not goal:
        return None
    issue = rest.operands[1] if len(rest.operands) > 1 else ""
    solution = values.get("--solution", "").lower()
    return Move(command, issue, goal, values.get("--root", ""), "--json" in rest.flags, solution)

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
    rest = iter(args)
    for word in rest:
        if not word.startswith("-") or word in ("-", "--"):
            return list(rest) if word.rpartition("/")[2] == "monoco" else None
        letters = "" if word.startswith("--") else word[1:]
        option = next((n for n, letter in enumerate(letters) if letter in "mcXW"), None)
        if word == "--check-hash-based-pycs":
            next(rest, "")
        if option is None:
            continue
        value = letters[option + 1 :] or next(rest, "")  # attached to its letter, or the next word
        if letters[option] in "mc":
            return list(rest) if letters[option] == "m" and value in _MODULES else None
    return None


class Move(NamedTuple):
    """One call that moves an issue: the command (`start`, `submit`, `close`, `update`) and what it is about."""

    command: str
    issue: str
    goal: str
    """The stage that an `update` sets, "done" for `--status closed`; "" for the other commands."""
    root: str
    """The folder of `--root`, "" when none is given."""
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
    return Move(command, issue, goal, values.get("--root", ""), solution)

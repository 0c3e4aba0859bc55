"""The commands of a policy in one clone, and a person's word that they may run (design §4)."""

from collections.abc import Iterable
from typing import NamedTuple

from ahp.facts.registry import Command
from ahp.gate.rendering import some
from ahp.journal.append import Journal
from ahp.policy import compile as compiling
from ahp.policy import trust
from ahp.policy.rule import Policy
from ahp.protocol import records
from ahp.protocol.event import Actor, Workspace
from ahp.protocol.text import one_line
from ahp.system import clock, environ, process

_AHP = "ahp"  # as a command's program it is the one that judges, wherever that lies


class Commands(NamedTuple):
    """By name: what each command is, and the digests of those that nobody has accepted yet."""

    specs: dict[str, Command]
    waiting: dict[str, str]


def of_policy(policy: Policy, where: Workspace) -> Commands:
    """The commands that `policy` may run. Raises AhpError when the list of the accepted ones is damaged."""
    specs = compiling.commands(policy)
    return Commands(specs, waiting(specs, where))


def waiting(specs: dict[str, Command], where: Workspace) -> dict[str, str]:
    """The digests of those that nobody has accepted in this clone, by name. Raises AhpError as `of_policy`."""
    read, known = trust.in_folder(where.root), trust.accepted(where.journal)
    digests = {name: trust.digest(spec, read) for name, spec in specs.items()}
    return {name: digest for name, digest in digests.items() if digest not in known}


def not_found(specs: dict[str, Command], where: Workspace) -> dict[str, str]:
    """The programs that are not on PATH, or not where the policy says, by the command's name."""
    env, lost = environ.scrubbed(where.env), {}
    for name, spec in specs.items():
        program = spec.run[0]
        path = f"{where.root}/{spec.directory}/{program}" if "/" in program and program[0] != "/" else program
        if program != _AHP and process.find(path, env) is None:
            lost[name] = program
    return lost


def say_not_found(lost: dict[str, str]) -> tuple[str, str]:
    """What to say of `not_found`, and what mends it."""
    named = some([f"{name} ({one_line(program, 100)})" for name, program in lost.items()])
    told = f"no such program on PATH for {named}: what they find out is missing"
    return told, "install what is missing, or take it out of the policy"


def say_waiting(names: Iterable[str]) -> tuple[str, str]:
    """What to say of `waiting`, and what mends it."""
    told = f"nobody has accepted {some(list(names))} in this clone: they do not run"
    return told, "a person runs, in a terminal: ahp trust"


def accept(commands: dict[str, str], actor: Actor, where: Workspace) -> None:
    """Lets commands (name → digest) run from now on, and leaves in the log who accepted them.

    Raises Untrusted unless `actor` is a person, JournalUnwritable.
    """
    trust.accept(where.journal, commands, actor)
    record = records.other("trust", clock.iso(clock.now()), commands=commands, by=str(actor))
    Journal(where.journal, where.genesis).append([record], durable=True)

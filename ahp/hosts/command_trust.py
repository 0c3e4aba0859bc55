"""The commands of a policy in one clone, and a person's word that they may run (design §4)."""

from typing import NamedTuple

from ahp.facts.registry import Command
from ahp.journal.append import Journal
from ahp.policy import compile as compiling
from ahp.policy import trust
from ahp.policy.rule import Policy
from ahp.protocol import records
from ahp.protocol.actor import Actor
from ahp.protocol.event import Workspace
from ahp.system import clock


class Commands(NamedTuple):
    """By name: what each command is, and the digests of those that nobody has accepted yet."""

    specs: dict[str, Command]
    waiting: dict[str, str]


def of_policy(policy: Policy, where: Workspace) -> Commands:
    """The commands that `policy` may run. Raises AhpError when the list of the accepted ones is damaged."""
    specs = compiling.commands(policy)
    read, known = trust.in_folder(where.root), trust.accepted(where.journal)
    digests = {name: trust.digest(spec, read) for name, spec in specs.items()}
    return Commands(specs, {name: digest for name, digest in digests.items() if digest not in known})


def accept(commands: dict[str, str], actor: Actor, where: Workspace) -> None:
    """Lets commands (name → digest) run from now on, and leaves in the log who accepted them.

    Raises Untrusted unless `actor` is a person, JournalUnwritable.
    """
    trust.accept(where.journal, commands, actor)
    record = records.other("trust", clock.iso(clock.now()), commands=commands, by=str(actor))
    Journal(where.journal, where.genesis).append([record], durable=True)

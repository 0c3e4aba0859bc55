"""`ahp trust`: accept the commands of the policy."""

import os
import shlex

import click

from ahp.cli.options import POLICY
from ahp.hosts import asking, command_trust
from ahp.hosts.policy_here import looked_at
from ahp.policy import trust
from ahp.protocol.event import identify
from ahp.protocol.text import one_line
from ahp.system import terminal


@click.command()
@click.option("--list", "only_list", is_flag=True, help="Show the commands and whether they are accepted.")
@POLICY
@click.option("--forget", is_flag=True, help="Take every acceptance back.")
def command(only_list: bool, policy_name: str | None, forget: bool) -> int:
    """Accept the commands that the policy of this folder runs: `facts.run` and `action.run`.

    Acceptance is bound to the command, its directory, parsing, timeout and the files it names, in this clone. Only a
    person can give it, at a terminal.
    """
    where = asking.around(os.getcwd())
    actor = identify(where.env)
    if forget:
        trust.forget(where.journal)
        return 0
    commands, waiting = command_trust.of_policy(looked_at(policy_name, where), where)
    for name, one in commands.items():
        state = "waits" if name in waiting else "accepted"
        click.echo(f"{state}: {one_line(name)}: {_whole(one.run)}  (in {one_line(one.directory)})")
    if not commands:
        click.echo("the policy runs no command")
    if only_list or not waiting:
        return 0
    trust.refuse_others(actor)
    these = "this command" if len(waiting) == 1 else f"these {len(waiting)} commands"
    if not terminal.confirm(f"ahp: may {these} run from now on?", "ahp trust"):
        return 1
    command_trust.accept(waiting, actor, where)
    return 0


_ALL = 1 << 20  # characters: more than a policy has


def _whole(words: list[str]) -> str:
    """A command as it runs, with its line breaks: what is accepted may hide nothing."""
    return "\n    ".join(one_line(line, _ALL) for line in shlex.join(words).split("\n"))

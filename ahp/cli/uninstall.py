"""`ahp uninstall`: take the gate away."""

import click

from ahp.hosts import table
from ahp.hosts.asking import repository_here
from ahp.protocol.event import identify
from ahp.system import environ, terminal
from ahp.system.errors import AhpError


@click.command()
@click.argument("hosts", metavar="[HOST]…", nargs=-1, type=click.Choice(table.able("uninstall")))
@click.option("--user", is_flag=True, help="Take an agent's hooks out of your own settings, not out of the project's.")
def command(hosts: tuple[str, ...], user: bool) -> int:
    """Remove the gate from each HOST (as `ahp install` has them); by default every one it is in.

    The policy and the log stay.

    Only a person can, at a terminal; it leaves a record in the log.
    """
    if (actor := identify(environ.current())).kind != "human":
        raise AhpError(f"only a person can take the gate away; {actor} cannot")
    repository_here()  # before anybody is asked: there is a gate to take away
    typed = " ".join(["ahp uninstall", *hosts])
    if not terminal.confirm("ahp: take the gate away from this repository?", typed):
        return 1
    for name in hosts or table.able("uninstall"):
        for line in table.host(name).uninstall(user, name in hosts):
            click.echo(line)
    return 0

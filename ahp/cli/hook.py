"""`ahp hook HOST …`: what installed hooks call."""

import click

from ahp.hosts import table


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("host", metavar="HOST", type=click.Choice(list(table.hosts())))
@click.argument("arguments", metavar="[ARGUMENT]…", nargs=-1, type=click.UNPROCESSED)
def command(host: str, arguments: tuple[str, ...]) -> int:
    """Judge one hook of HOST (git, pre-receive, monoco or an agent); its arguments are those the host gave.

    A hook manager calls `ahp hook git HOOK [ARGUMENT]…`, with git's own arguments and standard input where it has them.
    """
    done: int = table.host(host).hook(arguments)
    return done

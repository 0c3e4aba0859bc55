"""`ahp exec`: run a command through the gate."""

import click

from ahp.hosts.exec import through_the_gate


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command_line", metavar="-- COMMAND…", nargs=-1, required=True, type=click.UNPROCESSED)
def command(command_line: tuple[str, ...]) -> int:
    """Run COMMAND; if it moves an issue (monoco issue start, submit, close, update), ask the gate first.

    Refused: exit code 1, nothing was run. Else the exit code is the command's own.
    """
    return through_the_gate(list(command_line), "exec")

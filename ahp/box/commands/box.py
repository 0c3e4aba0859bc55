"""`ahp box`: a command in a box."""

import os

import click


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command_line", metavar="-- COMMAND…", nargs=-1, required=True, type=click.UNPROCESSED)
def command(command_line: tuple[str, ...]) -> int:
    """Run COMMAND in a box: the work tree is there to be written, all else is read-only or not there, keys and
    sockets are hidden, and there is no network. What the policy's `box` says holds.

    The exit code is the command's own; 125 where nothing was run.
    """
    from ahp.box import session
    from ahp.hosts import asking
    from ahp.policy.judges import judges_of
    from ahp.protocol.event import identify

    where = asking.around(os.getcwd())
    event = asking.event("pre-tool-use", "cli", identify(where.env), where, mode="dry")
    keys = judges_of(event)[0].program.box
    return session.call(list(command_line), where.root, where.repo, keys)

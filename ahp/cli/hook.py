"""`ahp hook HOST …`: what installed hooks call when their own interpreter is gone."""

import sys

import click


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("host", type=click.Choice(["git"]))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(host: str, arguments: tuple[str, ...]) -> None:
    """Judge one hook of HOST; its arguments are those the host gave."""
    from ahp.hosts.git import hook

    if len(arguments) < 5 or arguments[0] not in hook.NAMES:
        raise click.UsageError("this is for the installed shims; by hand: ahp check pre-commit")
    sys.argv[1:] = arguments
    hook.main()

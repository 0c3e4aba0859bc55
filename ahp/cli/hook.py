"""`ahp hook HOST …`: what installed hooks call."""

import sys

import click

from ahp.hosts.agents.clients import CLIENTS


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("host", metavar="HOST", type=click.Choice(["git", "monoco", "pre-receive", *CLIENTS]))
@click.argument("arguments", metavar="[ARGUMENT]…", nargs=-1, type=click.UNPROCESSED)
def command(host: str, arguments: tuple[str, ...]) -> int:
    """Judge one hook of HOST (git, pre-receive, monoco or an agent); its arguments are those the host gave.

    A hook manager calls `ahp hook git HOOK [ARGUMENT]…`, with git's own arguments and standard input where it has them.
    """
    if host in CLIENTS:
        return _agent(host, arguments)
    if host == "pre-receive":
        return _server(arguments)
    return _monoco(arguments) if host == "monoco" else _git(arguments)


def _server(arguments: tuple[str, ...]) -> int:
    from ahp.hosts.ci import receiving

    limit = receiving.LIMIT
    if arguments:
        name, _, value = "=".join(arguments).partition("=")
        try:
            limit = float(value)
        except ValueError:
            limit = 0
        if name != "--limit" or not 0 < limit < 3600:
            raise click.UsageError("ahp hook pre-receive takes one option: --limit SECONDS, above 0 and below 3600")
    return receiving.judge(sys.stdin.buffer.read(), limit)


def _agent(client: str, arguments: tuple[str, ...]) -> int:
    from ahp.hosts.agents import main

    sys.argv[1:] = ["agent", "", "", "", "git", client, *arguments]
    main.main()
    return 0


def _git(arguments: tuple[str, ...]) -> int:
    from ahp.hosts.git import main
    from ahp.hosts.git.githooks import HOOKS

    if not arguments or arguments[0] not in HOOKS:
        raise click.UsageError(f"which hook of git? one of {', '.join(HOOKS)}; by hand: ahp check pre-commit")
    if len(arguments) < 5:  # the installed shims give more
        from ahp.hosts.git import managed

        arguments = managed.as_installed(arguments[0], arguments[1:])
    sys.argv[1:] = arguments
    main.main()
    return 0


def _monoco(arguments: tuple[str, ...]) -> int:
    from ahp.cli.exec import through_the_gate
    from ahp.hosts.monoco import hook
    from ahp.system import jsontext

    if len(arguments) in (2, 3) and arguments[0] in hook.EVENTS:
        click.echo(jsontext.encode(hook.answer(*arguments)))
        return 0
    if len(arguments) > 1 and arguments[0] == "exec":
        return through_the_gate(list(arguments[1:]), "shim")
    raise click.UsageError("this is for what `ahp install monoco` put in place; by hand: ahp exec -- monoco …")

"""`ahp install`: put the gate in place."""

import click

from ahp.hosts import table


@click.command()
@click.argument("hosts", metavar="[HOST]…", nargs=-1, type=click.Choice(table.able("install")))
@click.option("--user", is_flag=True, help="Put an agent's hooks into your own settings, not into the project's.")
def command(hosts: tuple[str, ...], user: bool) -> None:
    """Install the gate into each HOST; by default every one that is found.

    Running it again renews what is ours. Where an agent's hooks are put and no rule judges its calls, the policy is
    made to extend the pack `agents`.
    """
    from ahp.hosts.asking import repository_here
    from ahp.system import environ

    root, env = repository_here().root, environ.current()
    for name in hosts or [name for name in table.able("found") if table.host(name).found(root, env)]:
        for line in table.host(name).install(user):
            click.echo(line)
        if name == "git":
            for renew in {table.host(other).renew for other in table.able("renew")}:
                renew(repository_here())


command.help = f"{command.help}\n\nHOST is {', '.join(table.able('install'))}; monoco has to be named."

"""`ahp install`: put the gate in place."""

import click

from ahp.protocol.text import one_line


@click.command()
@click.argument("hosts", nargs=-1, type=click.Choice(["git"]))
def command(hosts: tuple[str, ...]) -> None:
    """Install the gate into HOSTS (default: every one that is found). Running it again renews what is ours."""
    from ahp.hosts.events import repository_here, user_policy
    from ahp.hosts.git.install import install

    for host in hosts or ("git",):
        done = install(repository_here(), user_policy())
        click.echo(f"{host}: {len(done.written)} hooks in {one_line(done.folder, 1000)}")
        if done.kept:
            click.echo(f"{host}: earlier hooks keep running: {', '.join(done.kept)}")
        if done.husky:
            click.echo(f"{host}: husky's hooks in {one_line(done.husky, 1000)} call them by one line each: commit those")

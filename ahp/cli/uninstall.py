"""`ahp uninstall`: take the gate away."""

import click

from ahp.protocol.text import one_line


@click.command()
@click.argument("hosts", nargs=-1, type=click.Choice(["git"]))
def command(hosts: tuple[str, ...]) -> None:
    """Remove the gate from HOSTS (default: every one it is in). The policy and the log stay."""
    from ahp.hosts.events import repository_here
    from ahp.hosts.git.install import uninstall

    for host in hosts or ("git",):
        done = uninstall(repository_here())
        click.echo(f"{host}: {len(done.written)} hooks removed from {one_line(done.folder, 1000)}")
        if done.kept:
            click.echo(f"{host}: earlier hooks are back: {', '.join(done.kept)}")

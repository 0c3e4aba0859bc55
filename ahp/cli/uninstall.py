"""`ahp uninstall`: take the gate away."""

import click

from ahp.protocol.text import one_line


@click.command()
@click.argument("hosts", nargs=-1, type=click.Choice(["git", "monoco"]))
def command(hosts: tuple[str, ...]) -> None:
    """Remove the gate from HOSTS (default: every one it is in). The policy and the log stay."""
    for host in hosts or ("git", "monoco"):
        {"git": _git, "monoco": _monoco}[host](host in hosts)


def _git(named: bool) -> None:
    from ahp.hosts.asking import repository_here
    from ahp.hosts.git.install import uninstall

    done = uninstall(repository_here())
    click.echo(f"git: {len(done.written)} hooks removed from {one_line(done.folder, 1000)}")
    if done.kept:
        click.echo(f"git: earlier hooks are back: {', '.join(done.kept)}")


def _monoco(named: bool) -> None:
    from ahp.hosts.asking import repository_here
    from ahp.hosts.monoco.install import uninstall

    was_there = uninstall(repository_here())
    if was_there or named:
        click.echo("monoco: shim and adapter removed" if was_there else "monoco: nothing of ours was there")

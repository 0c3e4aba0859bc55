"""`ahp uninstall`: take the gate away."""

import click

from ahp.hosts.agents.clients import CLIENTS
from ahp.protocol.text import one_line
from ahp.system.errors import AhpError


@click.command()
@click.argument("hosts", metavar="[HOST]…", nargs=-1, type=click.Choice(["git", "monoco", *CLIENTS]))
@click.option("--user", is_flag=True, help="Take an agent's hooks out of your own settings, not out of the project's.")
def command(hosts: tuple[str, ...], user: bool) -> int:
    """Remove the gate from each HOST (as `ahp install` has them); by default every one it is in.

    The policy and the log stay.

    Only a person can, at a terminal; it leaves a record in the log.
    """
    from ahp.hosts.asking import repository_here
    from ahp.protocol.actor import identify
    from ahp.system import environ, terminal

    if (actor := identify(environ.current())).kind != "human":
        raise AhpError(f"only a person can take the gate away; {actor} cannot")
    repository_here()  # before anybody is asked: there is a gate to take away
    typed = " ".join(["ahp uninstall", *hosts])
    if not terminal.confirm("ahp: take the gate away from this repository?", typed):
        return 1
    for host in hosts or ("git", "monoco", *CLIENTS):
        if host in CLIENTS:
            _agent(host, host in hosts, user)
        elif host == "git":
            _git()
        else:
            _monoco(host in hosts)
    return 0


def _agent(client: str, named: bool, user: bool) -> None:
    from ahp.hosts.agents.install import settings_path, uninstall
    from ahp.hosts.asking import repository_here

    repo = repository_here()
    was_there = uninstall(repo, client, user=user)
    if was_there or named:
        path = one_line(settings_path(repo.root, client, user), 1000)
        click.echo(f"{client}: hooks removed from {path}" if was_there else f"{client}: nothing of ours in {path}")


def _git() -> None:
    from ahp.hosts.asking import repository_here
    from ahp.hosts.git.install import says_aside, uninstall

    repo = repository_here()
    done = uninstall(repo)
    click.echo(f"git: {len(done.written)} hooks removed from {one_line(done.folder, 1000)}")
    if done.kept:
        click.echo(f"git: earlier hooks are back: {', '.join(done.kept)}")
    for path in done.aside:
        click.echo(f"git: {says_aside(path)}")
    if done.written:
        click.echo(
            f"git: the policy stays in .ahp, the log in {one_line(repo.ahp_dir, 1000)}; delete what you do not want"
        )


def _monoco(named: bool) -> None:
    from ahp.hosts.asking import repository_here
    from ahp.hosts.monoco.install import uninstall

    was_there = uninstall(repository_here())
    if was_there or named:
        click.echo("monoco: shim and adapter removed" if was_there else "monoco: nothing of ours was there")

"""`ahp install`: put the gate in place."""

import click

from ahp.protocol.text import one_line


@click.command()
@click.argument("hosts", nargs=-1, type=click.Choice(["git", "monoco"]))
def command(hosts: tuple[str, ...]) -> None:
    """Install the gate into HOSTS (default: every one that is found; monoco only when it is named).

    Running it again renews what is ours.
    """
    for host in hosts or ("git",):
        {"git": _git, "monoco": _monoco}[host]()


def _git() -> None:
    from ahp.hosts.asking import repository_here, user_policy
    from ahp.hosts.git.install import install

    done = install(repository_here(), user_policy())
    click.echo(f"git: {len(done.written)} hooks in {one_line(done.folder, 1000)}")
    if done.kept:
        click.echo(f"git: earlier hooks keep running: {', '.join(done.kept)}")
    if done.husky:
        click.echo(f"git: husky's hooks in {one_line(done.husky, 1000)} call them by one line each: commit those")


def _monoco() -> None:
    import os
    import shlex

    from ahp.hosts.asking import repository_here
    from ahp.hosts.monoco.install import install
    from ahp.system import environ

    env = environ.current()
    done = install(repository_here(), env)
    click.echo(
        f"monoco: {one_line(done.monoco.version)} asks at start, submit and close: {one_line(done.adapter, 1000)}"
    )
    folders = [os.path.realpath(folder) for folder in env.get("PATH", "").split(":")]
    if os.path.realpath(done.shims) not in folders:
        line = f'export PATH={shlex.quote(done.shims)}:"$PATH"'
        click.echo(f"monoco: to have `issue update` and --no-hooks judged, too: {one_line(line, 1000)}")

"""`ahp install`: put the gate in place."""

import click

from ahp.hosts.agents.clients import CLIENTS
from ahp.protocol.text import one_line
from ahp.system.terminal import prose


@click.command(
    help=f"""Install the gate into each HOST; by default every one that is found.

    HOST is git, {", ".join(CLIENTS)}, or monoco, which has to be named.

    Running it again renews what is ours.
    """
)
@click.argument("hosts", metavar="[HOST]…", nargs=-1, type=click.Choice(["git", "monoco", *CLIENTS]))
@click.option("--user", is_flag=True, help="Put an agent's hooks into your own settings, not into the project's.")
def command(hosts: tuple[str, ...], user: bool) -> None:
    if not hosts:
        from ahp.hosts.agents.install import found
        from ahp.hosts.asking import repository_here
        from ahp.system import environ

        hosts = ("git", *found(repository_here().root, environ.current()))
    for host in hosts:
        if host in CLIENTS:
            _agent(host, user)
        else:
            {"git": _git, "monoco": _monoco}[host]()


def _agent(client: str, user: bool) -> None:
    from ahp.hosts.agents.install import install
    from ahp.hosts.asking import repository_here, user_policy

    repo = repository_here()
    done = install(repo, client, user_policy(), user=user)
    share = "" if user else "; commit it, so that everybody's agent is judged"
    said = "hooks in" if done.changed else "nothing to change in"
    click.echo(prose(f"{client}: {said} {one_line(done.path, 1000)}{share}"))
    todo = done.todo
    if client == "codex":
        from ahp.hosts.agents import codex_trust

        todo = codex_trust.offer(repo.root)
        if not todo:
            click.echo("codex: it trusts these hooks, and runs them")
    if todo:
        click.echo(prose(f"{client}: {todo}"))


def _git() -> None:
    import os

    from ahp.hosts.agents.install import LAUNCHER, launcher
    from ahp.hosts.asking import repository_here, user_policy
    from ahp.hosts.git import installation, lfs, policy_checks
    from ahp.hosts.git.clone_policies import ClonePolicies
    from ahp.hosts.git.install import install, says_aside

    repo = repository_here()
    done = install(repo, user_policy())
    if os.path.lexists(repo.ahp_dir + LAUNCHER):
        launcher(repo, user_policy())
    click.echo(f"git: {len(done.written)} hooks in {one_line(done.folder, 1000)}")
    if found := installation.in_cache():
        click.echo("git: {}; mend: {}".format(*found))
    if done.kept:
        click.echo(f"git: earlier hooks keep running: {', '.join(done.kept)}")
    for path in done.aside:
        click.echo(f"git: {says_aside(path)}")
    if done.husky:
        said = f"git: husky's hooks in {one_line(done.husky, 1000)} call them by one line each: commit those"
        click.echo(prose(said))
    if lfs.is_used(repo, everywhere=True) and (kept := lfs.check(repo)).status != "ok":
        click.echo(f"git: git-lfs: {kept.detail}; {kept.mend}")
    policy = policy_checks.loaded(repo, user_policy())
    if policy.status == "wrong":
        click.echo("git: the policy here is not valid; what is wrong: ahp policy lint")
        return
    if policy.status == "note":
        click.echo(prose(f"git: policy: {policy.detail}; {policy.mend}"))
    commands = policy_checks.commands(ClonePolicies(repo, user_policy()))
    if commands.status != "ok":
        click.echo(prose(f"git: {commands.detail}; {commands.mend}"))


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

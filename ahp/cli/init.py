"""`ahp init`: a policy for this project, and what it would have said to the last 100 commits."""

import os

import click

from ahp.cli import try_
from ahp.hosts import hint as hints
from ahp.hosts import vendoring
from ahp.hosts.adoption import Adoption, adopt
from ahp.hosts.asking import around
from ahp.hosts.ci import templates
from ahp.hosts.ci.templates import KINDS
from ahp.hosts.history import rules
from ahp.policy.cache import PROJECT
from ahp.protocol.event import Workspace, identify
from ahp.protocol.text import one_line
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.terminal import progress, prose

_RULES_SHOWN = 5


@click.command()
@click.option("--pack", "packs", metavar="NAME", multiple=True, help="Use this pack, too.")
@click.option("--force", is_flag=True, help="Write over a policy that is there.")
@click.option(
    "--ci",
    "kinds",
    type=click.Choice(list(KINDS)),
    multiple=True,
    help="Write what runs `ahp ci` there, too, or only that where a policy is there; repeatable. For other platforms "
    "docs/ci.md has the options of `ahp ci`.",
)
@click.option("--hint", is_flag=True, help="Write what tells colleagues without the gate, or only that.")
@click.option("--org", metavar="URL", help="Extend the newest version of the organisation's policy there instead.")
def command(packs: tuple[str, ...], force: bool, kinds: tuple[str, ...], hint: bool, org: str | None) -> None:
    """Write .ahp/hooks.yaml for what this project is made of, and hold it against the last 100 commits.

    Asks nothing, runs nothing, logs nothing of the past. A rule that would have stopped the work starts as shadow, one
    that would have refused a commit now and then, as a prompt.
    """
    where = around(os.getcwd())
    is_there = where.repo is not None and os.path.lexists(where.repo.root + PROJECT)
    if org is not None:
        if where.repo is None or not where.repo.root or packs or force:
            raise click.UsageError("--org is for a git work tree, and goes with neither --pack nor --force")
        _join(where.repo, org)
    elif not ((kinds or hint) and is_there and not force and not packs):
        _adopt(where, packs, force)
    if kinds:
        _write_ci(where, kinds)
    if hint and where.repo is not None:
        for line in hints.write(where.repo.root):
            click.echo(line)


def _join(repo: Repository, org: str) -> None:
    entry = vendoring.join(repo, org)
    click.echo(f".ahp/hooks.yaml: extends {one_line(entry.called)} {entry.ref}, which may be signed by")
    for line in entry.signers:
        click.echo(f"  {one_line(line, 1000)}")
    click.echo("next: compare these keys with what your platform team tells you by another way")
    click.echo("      ahp install && git add -f .ahp && git commit -m 'chore: add ahp'")


def _write_ci(where: Workspace, kinds: tuple[str, ...]) -> None:
    repo = where.repo
    if repo is None:
        raise AhpError("what runs `ahp ci` belongs into a git work tree; make one first: git init")
    if not repo.root:
        raise AhpError("this repository is bare, and what runs `ahp ci` belongs into a work tree: write it in a clone")
    for line in templates.write(repo, kinds):
        click.echo(line)


def _adopt(where: Workspace, packs: tuple[str, ...], force: bool) -> None:
    with progress("looking at past commits") as seen:
        done = adopt(where, identify(where.env), packs, force, seen)
    found = ", ".join(done.plan.survey.found())
    click.echo(prose(f"{done.path}: packs {', '.join(done.plan.packs)}" + (f"; found {found}" if found else "")))
    plan = done.plan
    starts = {**{rule: f"shadow: {why}" for rule, why in plan.watched.items()}}
    starts |= {rule: f"prompt: {why}" for rule, why in plan.asked.items()}
    try_.show(done.tally, rules(done.policy), starts, _RULES_SHOWN)
    for names, state in (
        (done.trusted, "may run in this clone"),
        (done.waiting, "wait until a person runs `ahp trust`"),
    ):
        if names:
            told = ", ".join(one_line(name.removeprefix("facts.")) for name in names)
            click.echo(prose(f"its commands {state}: {told}"))
    for line in _next(done, os.path.realpath(os.getcwd()) == os.path.realpath(where.root)):
        click.echo(line)


def _next(done: Adoption, at_top: bool) -> list[str]:
    """What to do now, in the order in which it is done; `at_top` of the work tree, else in a folder below."""
    commit = f"git add {'.ahp' if at_top else ':/.ahp'} && git commit -m 'chore: add ahp'"
    closed = done.on_default and not {"protect-main"} & {*done.plan.watched, *done.plan.asked}
    branch = "git switch -c add-ahp && " if closed else ""  # what is committed here could not be pushed
    return [
        f"next: ahp policy test; ahp install; {branch}{commit}",
        "everybody else runs once, in each clone: ahp install; `ahp init --hint` has the project tell them",
    ]

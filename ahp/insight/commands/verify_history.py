"""`ahp verify-history`: whether every revision of a branch was judged, by the statements that lie in this clone."""

from __future__ import annotations

import os
from collections import Counter

import click

from ahp.hosts.asking import repository_here
from ahp.hosts.ci import judging, statements
from ahp.hosts.ci.change import branch_here
from ahp.hosts.ci.platform import BRANCHES
from ahp.insight.advice import counted
from ahp.insight.judged_history import kept, problems
from ahp.protocol.text import one_line
from ahp.system import files
from ahp.system.errors import AhpError
from ahp.system.git import Repository

_SHOWN = 20


@click.command()
@click.option("--keys", metavar="FILE", required=True, help="Who may judge: NAME TYPE KEY a line, of SSH public keys.")
@click.option("--branch", metavar="BRANCH", help="By default the default one, as its remote had it at the last fetch.")
@click.option("--repository", metavar="URI", help="What statements call the repository; by default git+ORIGIN.")
@click.argument("revisions", metavar="[RANGE]", required=False)
def command(keys: str, branch: str | None, repository: str | None, revisions: str | None) -> int:
    """Check offline that each revision of a branch's first-parent line has a statement of a trusted key.

    The statements are those of refs/ahp/statements/ here. None may be missing, made under a policy that was not in
    force, or about a move that was taken back. RANGE (A.., A..B) names what is asked for; by default the whole line.
    """
    repo = repository_here()
    name, tip = branch_here(repo, branch)
    line = repo.run("rev-list", "--first-parent", tip).decode().split()
    asked = _asked(repo, line, revisions, name)
    where = (repository or statements.address_of(repo), BRANCHES + name)
    found, others = kept(repo, trusted(keys))
    about = [one for one in found if (one.repository, one.target) == where]
    with judging.scratch() as folder:
        told = problems(repo, line, asked, about, branch_here(repo)[1], folder)
    for one in told[:_SHOWN]:
        click.echo(one_line(one, 400))
    if len(told) > _SHOWN:
        click.echo(f"and {len(told) - _SHOWN:,} more")
    judges = Counter(f"{one.judge} with the key {one.key}" for one in about)
    by = ", ".join(f"{number:,} by {who}" for who, number in judges.items()) or "none of a trusted key"
    result = f"{counted(len(asked), 'revision')}, {counted(len(told), 'problem')}"
    click.echo(one_line(f"{name}: {result}; statements: {by}", 1000))
    if others:
        click.echo(f"{counted(others, 'other')} not believed: signed by no trusted key, or under another commit's name")
    return 1 if told else 0


def trusted(path: str) -> statements.Keys:
    """The keys in a file. Raises AhpError."""
    data = files.read(os.path.abspath(path))
    if data is None:
        raise AhpError(f"{one_line(path, 300)} is not there; --keys names a file of public keys, NAME TYPE KEY a line")
    return statements.Keys(data)


def _asked(repo: Repository, line: list[str], revisions: str | None, name: str) -> list[str]:
    """The part of the line that is asked for. Raises AhpError."""
    begin, dots, end = (revisions or "..").partition("..")
    places = [line.index(oid) if (oid := repo.commit_id(one)) in line else -1 for one in (begin, end) if one]
    if not dots or -1 in places:
        raise AhpError(f"{one_line(revisions)} is not A.. or A..B of the first-parent line of {one_line(name)}")
    return line[places[-1] if end else 0 : places[0] if begin else None]

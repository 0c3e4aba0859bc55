"""`ahp report`: the feedback loop as a page to look at, and the audit of a range of commits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from ahp.cli.options import FROM, RED, SINCE, check_spares_logs, seconds_of
from ahp.protocol.text import one_line
from ahp.system import clock, environ, files
from ahp.system.errors import AhpError

if TYPE_CHECKING:
    from ahp.insight.outcomes import Grade
    from ahp.insight.page.texts import Texts
    from ahp.policy.rule import Policy
    from ahp.policy.waivers import Waiver


@click.command()
@click.option("--html", "page", metavar="FILE", help="Write one self-contained page, to be looked at in a browser.")
@SINCE
@FROM
@RED
@click.option("--audit", "is_audit", is_flag=True, help="What the log knows of each commit of RANGE (A..B).")
@click.option("--format", "form", type=click.Choice(["text", "json"]), help="Of the audit; default: text.")
@click.option("--keys", metavar="FILE", help="Of the audit: read the statements that these keys signed, too.")
@click.option(
    "--language", type=click.Choice(["en", "zh"]), help="Of the page; default: as LC_ALL, LC_MESSAGES or LANG say."
)
@click.argument("revisions", metavar="[RANGE]", required=False)
def command(
    page: str | None,
    since: str | None,
    from_: tuple[str, ...],
    red: frozenset[str],
    is_audit: bool,
    form: str | None,
    keys: str | None,
    language: str | None,
    revisions: str | None,
) -> None:
    """The signal log as a page of charts (--html), or what it knows of each commit of a range (--audit).

    The audit says for each commit which policy judged it, what it let pass, and who approved that. Without
    RANGE it is about the last hundred commits.
    """
    if is_audit == (page is not None):
        raise click.UsageError("name one thing to make: ahp report --html FILE, or ahp report --audit [RANGE]")
    if is_audit:
        if since or from_ or red or language:
            raise click.UsageError("--since, --from, --red and --language go with --html; an audit is of a RANGE")
        from ahp.insight.commands.report_audit import show

        show(revisions, form or "text", keys)
        return
    if revisions or form or keys:
        raise click.UsageError("RANGE, --format and --keys go with --audit")
    assert page is not None
    _write_page(page, since, from_, red, language or environ.language(environ.current()))


def _write_page(path: str, since: str | None, from_: tuple[str, ...], red: frozenset[str], language: str) -> None:
    from ahp.cli.log import journal
    from ahp.insight import overview, reading
    from ahp.insight.page.sections import content
    from ahp.insight.page.texts import Texts
    from ahp.insight.page.writing import write

    say, now = Texts(language), clock.now()
    where = os.path.abspath(path)
    if path != "-":
        check_spares_logs(path, journal().folder, from_)
    at = seconds_of(since, now)
    with reading.shown() as seen:
        told = overview.collect(journal().folder, since=at, now=now, from_=from_, seen=seen)
    name, waivers, policy = _project(say)
    grades = [] if from_ else _grades(red)
    made = write(content(name, told, waivers, say, now=now, policy=policy, grades=grades), say)
    if path == "-":
        click.echo(made)
        return
    files.overwrite(where, made.encode())
    click.echo(f"wrote {one_line(path, 1000)}")


def _grades(red: frozenset[str]) -> list[Grade]:
    """The rules by what became of the commits since the log began; none where no repository tells."""
    from ahp.hosts.asking import repository_here
    from ahp.insight.commands.outcomes import of_log

    try:
        return of_log(repository_here(), None, red).grades
    except AhpError:
        return []


def _project(say: Texts) -> tuple[str, Sequence[Waiver] | str, Policy | None]:
    """The name of the project, the waivers of its committed policy or why there are none to show, and that policy, None
    where it does not load.
    """
    from ahp.policy import layers, tree, waivers
    from ahp.policy.sources import TreeSource
    from ahp.system import git

    try:
        repo = git.discover(os.getcwd(), environ.current())
    except git.NotARepository:
        return os.path.basename(os.getcwd()), say("waivers_nowhere"), None
    name = os.path.basename(repo.root or repo.git_dir).removesuffix(".git")
    try:
        head = tree.of_commit(repo, "HEAD")
        given = waivers.in_force(head.read).waivers
    except AhpError as error:
        return name, say("waivers_unread", why=one_line(error, 300)), None
    try:
        return name, given, layers.load(TreeSource(head, "HEAD")) if head.has_policy else None
    except AhpError:
        return name, given, None

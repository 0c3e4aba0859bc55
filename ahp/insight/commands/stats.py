"""`ahp stats`: which rules earn their keep."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ahp.cli.options import FROM, RED, SINCE, TEXT_OR_JSON, seconds_of
from ahp.insight import reading
from ahp.insight.advice import SAMPLE, Advice, bar, counted, duration, many, never_fixed, percent
from ahp.insight.advice import advise as advised
from ahp.insight.stats import BY, Figures, Spread, Stats, collect
from ahp.protocol.text import one_line
from ahp.system import clock, jsontext, terminal

if TYPE_CHECKING:
    from ahp.insight.commands.outcomes import Told
    from ahp.insight.proposal import Proposal
    from ahp.policy.rule import Policy
    from ahp.policy.sources import PolicySource
    from ahp.system.git import Repository

_WIDTH = 80
_BAR = 6
_NAME = 18  # at a terminal, where a row is a line; a pipe gets all of a name
_LONGEST = 120
_SHEETS = 3
_TITLES = ("asked", "episodes", "fixed", "after", "tries", "lapsed", "excused")
_LEGEND = (
    "fixed: of the episodes that are over; after, tries: median until then; lapsed: forgotten before anybody fixed "
    "it; excused: dismissed by a person, risk taken, bypassed, waived or commented on, a proxy for false positives."
)


@click.command()
@SINCE
@click.option("--rule", metavar="RULE", help="A rule's key, an oracle's name, or a pattern with *: all of its figures.")
@click.option("--by", type=click.Choice(BY), default="rule", show_default=True, help="What a line is about.")
@click.option("--advise", is_flag=True, help="What the figures advise to change, and what that rests on.")
@click.option("--write", is_flag=True, help="With --advise: print a patch of .ahp/hooks.yaml; nothing is changed.")
@click.option(
    "--outcomes",
    is_flag=False,
    flag_value="",
    metavar="[A..B]",
    help="Rules by what became of the commits that they matched, since the log began or of a range.",
)
@RED
@FROM
@TEXT_OR_JSON
def command(
    since: str | None,
    rule: str | None,
    by: str,
    advise: bool,
    write: bool,
    outcomes: str | None,
    red: frozenset[str],
    from_: tuple[str, ...],
    form: str,
) -> None:
    """What each rule was asked, what it said, how it was answered, and how soon it was fixed.

    Counted are episodes, not repeats: a rule's signals on one branch, issue or session until they are fixed or
    forgotten.
    """
    from ahp.cli.log import journal

    if write and not advise:
        raise click.UsageError("--write goes with --advise: ahp stats --advise --write")
    if advise and by != "rule":
        raise click.UsageError("--advise is about rules; leave out --by")
    if outcomes is None and red:
        raise click.UsageError("--red goes with --outcomes: ahp stats --outcomes --red FILE")
    graded = None
    if outcomes is not None:
        if since or by != "rule" or from_:
            raise click.UsageError(
                "--outcomes joins this clone's log with its commits; it goes with --red, --advise, --rule and --format"
            )
        from ahp.hosts.asking import repository_here
        from ahp.insight.commands.outcomes import misplaced, of_log, show

        repo = repository_here()
        graded = repo, of_log(repo, outcomes or None, red)
        if not advise:
            show(graded[1], rule, form)
            return
    now = clock.now()
    at = seconds_of(since, now)
    with reading.shown() as seen:
        stats = collect(journal().folder, by, rule=rule, since=at, now=now, from_=from_, seen=seen)
    if advise:
        from ahp.hosts.asking import around
        from ahp.policy.sources import FileSource

        policy = _policy_here()
        found = advised(stats, policy) + (misplaced(graded[1], policy) if graded else [])
        source = FileSource(around(os.getcwd()).root)
        source.paths = {"project": source.paths["project"]}
        is_there = policy is not None and bool(source.layers())
        tried = _try(source, found, graded, at, from_) if write or is_there else _Tried(None, {}, [])
        _print_patch(tried) if write else _print_advice(found, tried, form)
        return
    if form == "json":
        click.echo(jsontext.encode(as_json(stats)))
        return
    click.echo("\n".join(_head(stats, since, rule)))
    if rule is not None and stats.begin and not stats.groups:
        click.echo(f"the log has no rule called {one_line(rule, 60)}; ahp stats lists them")
    if rule is not None and by == "rule" and 0 < len(stats.groups) <= _SHEETS:
        for figures in stats.groups:
            click.echo("\n" + "\n".join(_sheet(figures, stats)))
        return
    _print_table(stats)


def as_json(stats: Stats) -> dict[str, Any]:
    """The figures as plain data; times as time stamps, shares as fractions."""
    told = {name: value for name, value in stats._asdict().items() if name not in ("groups", "in_force")}
    told |= {name: clock.iso(told[name]) if told[name] else None for name in ("begin", "end")}
    return {**told, "groups": [_group(figures) for figures in stats.groups]}


def _group(figures: Figures) -> dict[str, Any]:
    told = dict(vars(figures))
    told["answers"] = {action: vars(answers) for action, answers in figures.answers.items()}
    told |= {name: vars(spread) for name, spread in told.items() if isinstance(spread, Spread)}
    told["comments"] = [{**one._asdict(), "at": clock.iso(one.at)} for one in figures.comments]
    return told


def _head(stats: Stats, since: str | None, rule: str | None) -> list[str]:
    if not stats.begin:
        return [f"the log has nothing since {one_line(since, 40)}" if since else "the log has nothing yet"]
    days = f"{clock.iso(stats.begin)[:10]} to {clock.iso(stats.end)[:10]}"
    lines = [days if rule else f"{days}: {counted(stats.evaluations, 'evaluation')}, {stats.denied:,} refused"]
    if stats.undescribed:
        lines.append(
            f"{counted(stats.undescribed, 'evaluation')} by policies that the log does not describe any more: "
            "which rules these asked is not known"
        )
    return [part for line in lines for part in textwrap.wrap(line, _width())]


def _print_table(stats: Stats) -> None:
    loud = [one for one in stats.groups if one.signals or one.shadow or one.waived or one.undecided or one.bypasses]
    loud = stats.groups if stats.by != "rule" else loud
    columns = shutil.get_terminal_size().columns
    width = max(_NAME, columns - (_WIDTH - _NAME)) if sys.stdout.isatty() else _LONGEST
    unfixed = never_fixed(stats) if stats.by in ("rule", "hook") else set()
    rows = [_row(one, width, one.name not in unfixed) for one in loud]
    if rows:
        click.echo()
        styles = {row[3]: _colour(one) for row, one in zip(rows, loud, strict=True)}
        titles: tuple[str, ...] = (stats.by, *_TITLES)
        numbers: tuple[int, ...] = (1, 2, 4, 5, 6, 7)
        if sys.stdout.isatty() and columns < _WIDTH:  # what tells most, as it fits
            titles, *rows = [(row[0], *row[2:4], row[7]) for row in (titles, *rows)]
            numbers = (1, 3)
        terminal.table(rows, titles, numbers=numbers, styles=styles)
    told, in_force = {one.name for one in loud}, {asked.rule for asked in stats.in_force}
    silent = [one.name for one in stats.groups if one.name not in told and one.name in in_force]
    if silent:
        named = ", ".join(one_line(name, 60) for name in silent)
        told_so = f"silent ({len(silent)}): {named}"
        click.echo("\n" + textwrap.fill(told_so, _width(), subsequent_indent="  ", break_on_hyphens=False))
    if rows:
        click.echo("\n" + textwrap.fill(_LEGEND, _width()))


def _width() -> int:
    """Of a line of words."""
    return max(40, min(_WIDTH, shutil.get_terminal_size().columns)) if sys.stdout.isatty() else _WIDTH


def _row(one: Figures, width: int, may_fix: bool) -> tuple[str, ...]:
    closed = one.episodes - one.states.get("open", 0) if may_fix else 0
    fixed = one.share("fixed")
    everything = one.episodes + one.excuses.get("waived", 0)
    return (
        one_line(one.name, width),
        many(one.asked),
        many(one.episodes),
        f"{bar(fixed, _BAR)} {percent(fixed).rjust(4)}" if closed else "",
        duration(one.seconds.median) if one.seconds else "",
        f"{one.tries.median:.0f}" if one.tries else "",
        percent(one.share("forgotten")) if closed else "",
        percent(one.excused / everything) if everything else "",
    )


def _colour(one: Figures) -> str:
    fixed = one.share("fixed")
    return "green" if fixed >= 0.7 else "yellow" if fixed >= 0.4 else "red"


def _sheet(one: Figures, stats: Stats) -> Iterator[str]:
    hooks = [asked.hook for asked in stats.in_force if asked.rule == one.name]
    yield one_line(one.name, 60) + (f"  at {', '.join(hooks)}" if hooks else "  in no policy that judges now")
    for title, told in _parts(one, one.name not in never_fixed(stats)):
        yield from textwrap.wrap(told, _width(), initial_indent=f"  {title:<10}", subsequent_indent=" " * 12)


def _parts(one: Figures, may_fix: bool) -> Iterator[tuple[str, str]]:
    closed, states = one.episodes - one.states.get("open", 0), one.states
    yield "asked", counted(one.asked, "time")
    levels = ", ".join(f"{number} {level}" for level, number in sorted(one.levels.items()))
    climbed = f"; {one.climbed} above its own level" if one.climbed else ""
    yield (
        "matched",
        f"{counted(one.attempts, 'attempt')} in {counted(one.episodes, 'episode')}"
        + (f": {levels}{climbed}" if levels else ""),
    )
    if closed and may_fix:
        yield (
            "fixed",
            f"{states.get('fixed', 0)} of {closed} ({percent(one.share('fixed'))})"
            + (f", {one.reopened} of them broken again within a day" if one.reopened else ""),
        )
    if one.seconds and one.tries:
        half, most = f"{duration(one.seconds.median)} and {_tries(one.tries.median)}", duration(one.seconds.p90)
        yield "", f"half of them within {half}, nine in ten within {most} and {_tries(one.tries.p90)}"
    rest = [f"{number} {state}" for state, number in states.items() if state != "fixed"]
    if rest:
        yield "otherwise" if may_fix else "ended", ", ".join(rest)
    if one.answers or one.unanswered:
        given = [f"{action} {n.given}" for action, n in one.answers.items() if n.given]
        derived = [f"{action} {n.derived}" for action, n in one.answers.items() if n.derived]
        said = [", ".join(given)] if given else []
        said += ["nobody typed: " + ", ".join(derived)] if derived else []
        said += [f"{one.unanswered} unanswered"] if one.unanswered else []
        yield "answered", "; ".join(said)
    if one.excused:
        yield (
            "excused",
            ", ".join(f"{number} {why}" for why, number in one.excuses.items()) + (" (a proxy for false positives)"),
        )
    aside = {"shadow": one.shadow, "waived (claimed)": one.waived, "undecided": one.undecided}
    aside |= {"overridden (claimed)": one.overridden}
    if any(aside.values()):
        yield "aside", ", ".join(f"{number} {what}" for what, number in aside.items() if number)
    if one.comment_count:
        yield "feedback", counted(one.comment_count, "comment") + ", the last ones first" * (one.comment_count > 1)
    for comment in reversed(one.comments):
        yield "", f"{clock.iso(comment.at)[:10]} {one_line(comment.by, 60)}: {one_line(comment.text, 400)}"


def _tries(number: float) -> str:
    return counted(round(number), "try", "tries")


def _policy_here() -> Policy | None:
    """The policy of this folder, None where none loads: then every rule counts as a guard."""
    from ahp.hosts.asking import around
    from ahp.hosts.policy_here import of_work_tree
    from ahp.policy.problems import PolicyError

    try:
        return of_work_tree(around(os.getcwd()))
    except PolicyError:
        return None


class _Tried(NamedTuple):
    """What the edits that advice asks for would have changed: a sentence a rule, and on what corpora that rests.

    `proposal` is None where no policy of this folder loads.
    """

    proposal: Proposal | None
    told: dict[str, str]
    corpora: list[str]


def _try(
    source: PolicySource,
    found: list[Advice],
    graded: tuple[Repository, Told] | None,
    since: float | None,
    from_: Sequence[str],
) -> _Tried:
    """Replays the log with the policy that is proposed; what is narrowed is asked of the commits that were graded."""
    from ahp.cli.log import journal
    from ahp.insight.backtest import replay
    from ahp.insight.commands.outcomes import compared
    from ahp.insight.commands.replay import reads
    from ahp.insight.proposal import propose
    from ahp.policy import layers

    proposal = propose(source, found)
    told: dict[str, str] = {}
    corpora: list[str] = []
    edits = [one for one in found if one.change and one not in [left for left, _ in proposal.left]]
    narrowed = [one.rule for one in edits if one.change == "narrow"]
    if len(edits) > len(narrowed):
        folder = "" if from_ else journal().folder
        with reading.shown() as seen:
            done = replay(folder, proposal.policy, reads(proposal.policy), since=since, from_=from_, seen=seen)
        corpora.append(f"replayed: {counted(done.judged, 'evaluation')}, {done.corpus}")
        for one in edits:
            changes = [change for change in done.changes if change.rule == one.rule]
            said = ", ".join(f"{one.before} → {one.after} {counted(one.count, 'time')}" for one in changes)
            told[one.rule] = f"replayed: {said or 'nothing changes'}"
    if graded and narrowed:
        said_of, corpus = compared(*graded, narrowed, layers.load(source), proposal.policy)
        corpora.append(corpus)
        told |= said_of
    return _Tried(proposal, told, corpora)


def _print_advice(found: list[Advice], tried: _Tried, form: str) -> None:
    if form == "json":
        told = [{**one._asdict(), "tried": tried.told.get(one.rule), "corpora": tried.corpora} for one in found]
        click.echo(jsontext.encode(told))
        return
    for one in found:
        name = one_line(one.rule, 40)
        blank = " " * (len(name) + 2)
        said = f"{name}  {one.kind}: {one.figures}"
        click.echo(textwrap.fill(said, _width(), subsequent_indent=blank))
        for line in filter(None, (one.do, tried.told.get(one.rule) if one.change else "")):
            click.echo(textwrap.fill(line, _width(), initial_indent=blank, subsequent_indent=blank))
    if not found:
        click.echo(f"nothing to advise: below {SAMPLE} closed episodes a rule is not judged")
    for corpus in tried.corpora:
        click.echo("\n" + textwrap.fill(corpus, _width()))


def _print_patch(tried: _Tried) -> None:
    proposal = tried.proposal
    diff = proposal.diff() if proposal is not None else ""
    if diff:  # git passes over what stands before a patch
        lines = [*(f"{one_line(rule, 40)}: {told}" for rule, told in tried.told.items()), *tried.corpora, ""]
        sys.stdout.write("\n".join(lines) + diff)
    for one, why in proposal.left if proposal is not None else ():
        click.echo(f"ahp: {one_line(one.rule)}: {one.kind}, but no edit is proposed: {one_line(why)}", err=True)
    if not diff:
        click.echo("ahp: there is no edit to propose", err=True)

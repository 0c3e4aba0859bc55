"""`ahp log`: what was said and answered."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import click

from ahp.cli.groups import Group
from ahp.cli.options import TEXT_OR_JSON, seconds_of
from ahp.journal import anchors, query
from ahp.journal.answers import RISK
from ahp.journal.append import Journal
from ahp.journal.place import journal_of
from ahp.journal.query import Open
from ahp.journal.verify import anchor as head
from ahp.journal.verify import verify as check
from ahp.policy.problems import nearest, quoted
from ahp.protocol.event import identify
from ahp.protocol.records import KINDS
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS
from ahp.system import clock, environ, git, jsontext
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.terminal import table

_STYLES = {"block": "bold red", "control": "magenta", "prompt": "yellow", "aid": "cyan", "bypass": "red"}
_MESSAGE = 100
_NO_REMOTE = "there is no git repository here, so no remote could keep it"
_SENTENCES = {
    "verdict": "{decision}",
    "cut": "the end is gone: of {had} lines {found} are left",
    "clock": "time goes on from here; it was {was}",
    "prune": "removed up to line {lines}",
    "rotation": "goes on after {after}",
}
_DERIVED = {
    "dismiss": " (by silence)",
    "suggestion_deferred": " (by silence)",
    "retry_after_fix": " (clean later)",
}
_TOLD = ("decision", "had", "found", "was", "lines", "after")
_AT_ONCE = 100  # rows that are drawn together: the first of a long log show at once


@click.group("log", cls=Group, invoke_without_command=True)
@click.option("--rule", metavar="RULE", help="A rule's key, an oracle's name, or a pattern with *.")
@click.option("--subject", metavar="NAME", help="An issue, branch or session.")
@click.option("--hook", metavar="TRIGGER", help="A trigger, like pre-commit.")
@click.option("--intensity", type=click.Choice(["block", "control", "prompt", "aid"]), help="Signals of this level.")
@click.option("--actor", metavar="WHO", help="human, agent or ci, or one of them: agent:claude.")
@click.option("--since", metavar="TIME", help="A day, a time stamp, or an age like 2h or 14d.")
@click.option("--until", metavar="TIME", help="As --since.")
@click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="Records to show; default: signal, bypass, install."
)
@click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="The last N; default: all.")
@click.option("--open", "only_open", is_flag=True, help="What is open now, and how far up its ladder it is.")
@click.option("--follow", is_flag=True, help="Wait for more, answers included, until interrupted.")
@TEXT_OR_JSON
@click.pass_context
def command(
    ctx: click.Context,
    rule: str | None,
    subject: str | None,
    hook: str | None,
    intensity: str | None,
    actor: str | None,
    since: str | None,
    until: str | None,
    kinds: tuple[str, ...],
    limit: int | None,
    only_open: bool,
    follow: bool,
    form: str,
) -> int | None:
    """Show the signal log: one record a signal, with its answer."""
    if ctx.invoked_subcommand:
        return None
    _known("trigger", (hook,) if hook else (), TRIGGERS)
    _known("kind of record", kinds, KINDS)
    now = clock.now()
    times = seconds_of(since, now), seconds_of(until, now)
    wanted = query.Filter(kinds or query.SHOWN, rule, subject, hook, intensity, actor, *times)
    is_all = wanted == query.Filter()
    if only_open:
        if not _print_open(query.open_now(journal(), wanted)[:limit], form) and form == "text":
            click.echo("nothing is open" if is_all else "nothing that is open fits", err=True)
        return 0
    folder = journal().folder
    begin = query.end(folder) if follow else None
    found, more = query.folded(folder, wanted, limit=None if limit is None else min(limit, sys.maxsize), until=begin)
    if not _print(found, form) and form == "text" and not follow:
        click.echo("nothing was said yet" if is_all else "nothing in the log fits", err=True)
    if more and form == "text" and sys.stdout.isatty():
        click.echo("… there are more; raise --limit", err=True)
    if begin is not None:
        try:
            for record in query.follow(folder, wanted, begin):
                _print([query.show(record, None)], form)
        except KeyboardInterrupt:
            return 130
    return 0


@command.command()
@click.option("--anchor", metavar="ANCHOR", help="What `ahp log anchor` printed earlier, kept elsewhere.")
@click.option("--remote", metavar="NAME", help="Compare with the anchors that this remote keeps, too.")
@TEXT_OR_JSON
def verify(anchor: str | None, remote: str | None, form: str) -> int:
    """Check that the log is as it was written, line by line. Exit code 1 when it is not."""
    from ahp.hosts.ci.setup import keeps_anchors
    from ahp.hosts.git.install import installed_log

    log, repo = journal(), _repository()
    lost = installed_log(repo) if repo is not None and repo.root else ""
    kept = [anchor] if anchor is not None else []
    if remote is not None and repo is None:
        raise AhpError(_NO_REMOTE)
    if repo is not None:
        found = anchors.find(repo, {log.index().genesis, log.genesis or "", lost}, remote or "")
        report = check(log, [*kept, *found.anchors])
        guarded = [keeps_anchors(repo, remote)] if remote else []
        notes = [*report.notes, *found.notes, *guarded]
        report = report._replace(problems=[*report.problems, *found.problems], notes=notes)
    else:
        report = check(log, kept)
    if not report.lines and lost:
        what = f"the hooks here were installed with the log {lost}, and nothing of it is left"
        report = report._replace(problems=[*report.problems, what])
    if form == "json":
        click.echo(jsontext.encode({"ok": not report.problems, **report._asdict()}))
        return 1 if report.problems else 0
    for problem in report.problems:
        click.echo(problem)
    for note in report.notes:
        click.echo(f"note: {note}")
    if not report.lines and not report.problems:
        click.echo("there is no log yet")
    elif not report.problems:
        click.echo(f"{report.lines} line{'s' * (report.lines > 1)}, every one chained to the one before it")
    return 1 if report.problems else 0


@command.command()
@click.option("--before", required=True, metavar="TIME", help="A day, or an age like 180d: what is older goes.")
def prune(before: str) -> int:
    """Remove old files of the log; the last 90 days and the last two files stay, and the log says what went."""
    from ahp.journal import repair as pruning

    at = seconds_of(before, clock.now())
    assert at is not None
    pruned = pruning.prune(journal(), at, identify(environ.current()))
    click.echo(f"removed {', '.join(pruned.files)}" if pruned.files else "there is nothing to remove")
    return 0


@command.command()
@click.option("--push", metavar="REMOTE", help="Keep it on this remote of git, too, beside those kept before.")
def anchor(push: str | None) -> int:
    """Print the head of the log, to be kept where nobody who writes the log can change it."""
    log, repo = journal(), _repository()
    click.echo(head(log))
    if push is not None:
        if repo is None:
            raise AhpError(_NO_REMOTE)
        anchors.push(repo, log, push)
    return 0


def journal() -> Journal:
    """The journal of the current folder."""
    return journal_of(os.getcwd())


def _repository() -> Repository | None:
    """The repository that holds the current folder."""

    try:
        return git.discover(os.getcwd(), environ.current())
    except git.NotARepository:
        return None


def _print_open(found: Sequence[Open], form: str) -> bool:
    """Whether there was anything to print."""

    if form == "json":
        for one in found:
            click.echo(jsontext.encode(one._asdict()))
        return bool(found)
    rows = []
    for one in found:
        past = f"ignored {one.went_past} time{'s' * (one.went_past != 1)}, " if one.went_past else ""
        times = f"{past}open since {one.since[:10]}, expires {one.ends[:10]}"
        about = [one_line(text, 60) for text in (one.rule, one.subject, one.actor)]
        rows.append([one.intensity.ljust(7), *about, times, one.id[:8], one_line(one.message, _MESSAGE)])
    if sys.stdout.isatty():  # which has no room for all in one line
        rows = [
            [level, id, "\n".join(["  ".join(filter(None, about)), *filter(None, (stands, message))])]
            for level, *about, stands, id, message in rows
        ]
    if rows:
        table(rows, styles=_STYLES)
    return bool(rows)


def _known(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raises BadParameter for the first of `given` that nothing in a log can have."""
    for name in given:
        if name not in known:
            raise click.BadParameter(f"there is no {what} {quoted(name)}{nearest(name, known)}")


def _print(records: Iterable[Mapping[str, object]], form: str) -> bool:
    """Whether there was anything to print."""

    printed = False
    if form != "json" and sys.stdout.isatty():
        rows = map(_row, records)
        while part := list(islice(rows, _AT_ONCE)):
            table(part, styles=_STYLES)
            printed = True
        return printed
    for record in records:
        click.echo(jsontext.encode(record) if form == "json" else "  ".join(filter(None, _fields(record))))
        printed = True
    return printed


def _row(record: Mapping[str, object]) -> list[str]:
    """For a person: time, level and id; then who was told by which rule, and below it what."""
    time, level, *about, id, told = _fields(record)
    return [time[5:16], level, id.ljust(8), "  ".join(field for field in about if field) + "\n" * bool(told) + told]


def _fields(record: Mapping[str, object]) -> list[str]:
    """`10:00:00 block checklist/1 FEAT-0123 agent:claude → retry_after_fix  a1b2c3d4  message`."""

    def word(name: str, limit: int = 60) -> str:
        return one_line(record.get(name) or "", limit)

    marks = [mark for mark in ("shadow", "undecidable") if record.get(mark)]
    # What a log says anybody may have written into it (authority §8.5).
    marks += ["waived, claimed"] if record.get("waived") else []
    if record.get("overrides"):
        marks.append("passed once, claimed")
    elif record.get("action") == RISK or record.get("kind") == "skip":
        marks.append("claimed")
    return [
        word("timestamp").replace("T", " ")[:19],
        (word("intensity") or word("kind")).ljust(7),
        word("rule") or word("hook"),
        word("subject"),
        word("actor") or word("by"),
        *marks,
        _answered(word("action"), record),
        word("id")[:8] or word("commit")[:12],
        (word("message", _MESSAGE) or word("reason", _MESSAGE) or word("feedback", _MESSAGE) or _sentence(record))
        + _place(record),
    ]


def _sentence(record: Mapping[str, object]) -> str:
    """What a record tells that has no message of its own; "" of kinds whose other columns say it."""

    calls = record.get("calls")
    if record.get("kind") == "count" and isinstance(calls, list):
        numbers = [one.get("calls") for one in calls if isinstance(one, dict)]
        return f"{sum(number for number in numbers if isinstance(number, int))} clean tool calls"
    sentence = _SENTENCES.get(str(record.get("kind")), "")
    return sentence.format_map({name: one_line(record.get(name), _MESSAGE) for name in _TOLD})


def _place(record: Mapping[str, object]) -> str:
    """` (src/a.py:3 and 2 more)`: where the first finding is, or what it is, else which tool call the signal is about;
    "" without all three.
    """

    found = record.get("findings")
    first = found[0] if isinstance(found, list) and found and isinstance(found[0], dict) else {}
    line = f":{first['line']}" if isinstance(first.get("line"), int) else ""
    place = f"{first['file']}{line}" if first.get("file") else first.get("message")
    if not place:
        told = record.get("target") if record.get("kind") == "signal" else None
        return f" ({one_line(told, 200)})" if told else ""
    total = record.get("findings_total")
    more = f" and {total - 1} more" if isinstance(total, int) and total > 1 else ""
    return f" ({one_line(place, 200)}{more})"


def _answered(action: str, record: Mapping[str, object]) -> str:
    """`→ acknowledge`; an answer that somebody typed looks different from a derived one."""
    if not action:
        return ""
    # A tool call is never evaluated clean later: there it was a person who answered another signal of the episode.
    is_derived = record.get("by") == "ahp" and (action != "retry_after_fix" or "target" not in record)
    return f"→ {action}" + (_DERIVED.get(action, "") if is_derived else "")

"""`ahp replay`: what another policy would have said to what the log tells of."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import click

from ahp.cli.options import FROM, POLICY, SINCE, TEXT_OR_JSON, seconds_of
from ahp.insight import reading
from ahp.insight.advice import counted
from ahp.insight.backtest import Backtest, Change, ReadOld, replay
from ahp.policy.rule import Policy
from ahp.policy.tree import HOOKS
from ahp.protocol.text import one_line
from ahp.system import clock, jsontext
from ahp.system.errors import AhpError

_WIDTH = 80
_HEADINGS = ("blocks gained", "blocks lost", "other changes", "not decidable")
_SHOWN = 10


@click.command()
@POLICY
@SINCE
@click.option("--fail-on-change", is_flag=True, help="Exit code 1 where any decided outcome changes.")
@FROM
@TEXT_OR_JSON
def command(
    policy_name: str | None,
    since: str | None,
    fail_on_change: bool,
    from_: tuple[str, ...],
    form: str,
) -> int:
    """Ask the policy of the work tree, or --policy, about every evaluation in the log; logs nothing. About commits:
    ahp try.

    Compared is what each rule says by itself, without ladder, waivers and overrides. The log keeps numbers, truth
    values and short words: a rule that needs another fact is not decidable, unless it asks what it asked then.
    """
    from ahp.cli.log import journal
    from ahp.hosts.asking import around
    from ahp.hosts.policy_here import looked_at

    policy = looked_at(policy_name, around(os.getcwd()))
    folder, at = "" if from_ else journal().folder, seconds_of(since, clock.now())
    with reading.shown() as seen:
        done = replay(folder, policy, reads(policy), since=at, from_=from_, seen=seen)
    if form == "json":
        click.echo(jsontext.encode(_json(done)))
    else:
        _print(done, policy_name or HOOKS, since)
    return 1 if fail_on_change and done.decided else 0


def reads(policy: Policy) -> ReadOld:
    """Gives the policies of the past: a committed one is in git, a work tree's may be the one that is there now."""
    from ahp.hosts.policy_here import named

    def read(record: Mapping[str, object]) -> Policy | None:
        commit = record.get("commit")
        if not isinstance(commit, str) or not commit.isalnum():
            return policy  # whoever asks compares the rules
        try:
            return named(commit)
        except AhpError:
            return None

    return read


def _json(done: Backtest) -> dict[str, Any]:
    told = asdict(done)
    for name in ("begin", "end"):
        told[name] = clock.iso(told[name]) if told[name] else None
    for change in told["changes"]:
        change["examples"] = [{**one._asdict(), "at": clock.iso(one.at)} for one in change["examples"]]
    return told


def _print(done: Backtest, name: str, since: str | None) -> None:
    if not done.begin:
        click.echo(f"the log has no evaluation {f'since {one_line(since, 40)}' if since else 'yet'}")
        return
    days = f"{clock.iso(done.begin)[:10]} to {clock.iso(done.end)[:10]}"
    click.echo(f"{days}: {counted(done.judged, 'evaluation')} asked again of {one_line(name, 40)}")
    now = f"{done.refuses:,} now" + (", as far as it can be decided" if len(done.decided) < len(done.changes) else "")
    click.echo(f"refused by the rules themselves: {done.refused:,} then, {now}")
    click.echo(f"corpus: {done.corpus}")
    _print_changes(done)
    rules_of: dict[int, list[str]] = {}
    for rule, calls in done.calls.items():
        rules_of.setdefault(calls, []).append(one_line(rule, 60))
    notes = [
        f"at {counted(calls, 'tool call')} that were only counted: gained: unknown, by {', '.join(rules)}"
        for calls, rules in rules_of.items()
    ]
    if done.skipped:
        notes.append(f"{counted(done.skipped, 'evaluation')} by policies that the log does not describe: unknown")
    for number, note in enumerate(notes):
        told = textwrap.fill(note, _WIDTH, subsequent_indent="  ", break_on_hyphens=False)
        click.echo(told if number else f"\n{told}")


def _print_changes(done: Backtest) -> None:
    """The changes, blocks gained and lost first."""
    for weight, heading in enumerate(_HEADINGS):
        found = [change for change in done.changes if change.weight == weight]
        if found:
            click.echo(f"\n{heading}")
            for change in found[:_SHOWN]:
                lacks = done.missing.get(change.rule, []) if weight == len(_HEADINGS) - 1 else []
                _print_change(change, lacks)
        if len(found) > _SHOWN:
            click.echo(f"  and {len(found) - _SHOWN} more: ahp replay --format json")
    if not done.changes:
        click.echo("nothing changes")


def _print_change(change: Change, missing: list[str]) -> None:
    lacks = f" (the log lacks {', '.join(one_line(path, 40) for path in missing[:3])})" if missing else ""
    said = f"{one_line(change.rule, 40)}: {change.before} → {change.after}, {counted(change.count, 'time')}{lacks}"
    click.echo(textwrap.fill(said, _WIDTH, initial_indent="  ", subsequent_indent="    "))
    for one in change.examples[:1]:
        about = [clock.iso(one.at)[:16].replace("T", " "), *[one_line(part, 40) for part in one[1:4]]]
        told = ", ".join(about) + (f": {one_line(one.told, 120)}" if one.told else "")
        click.echo(textwrap.fill(f"such as {told}", _WIDTH, initial_indent="    ", subsequent_indent="      "))

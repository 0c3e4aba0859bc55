"""`ahp facts`: the facts of a trigger, with their types and sources."""

from itertools import groupby

import click

from ahp.cli.options import FACTS, ISSUE, TEXT_OR_JSON, TRIGGERS_THERE_ARE, triggers
from ahp.cli.run import event_here
from ahp.facts.listing import Row, listing
from ahp.policy import trust
from ahp.policy.judges import judges_of
from ahp.protocol.text import one_line
from ahp.system.jsontext import encode
from ahp.system.terminal import prose, table

_ITEMS = 3
_WIDTH = 100


@click.command(epilog=TRIGGERS_THERE_ARE)
@click.argument("trigger", shell_complete=triggers)
@ISSUE
@FACTS
@TEXT_OR_JSON
def command(trigger: str, issue: str, facts: str | None, form: str) -> int:
    """Print every fact that conditions can read at TRIGGER, as it is now."""
    event = event_here(trigger, issue, facts)
    first, *others = [
        listing(event, judge.program.settings.but(trusted=trust.checker(event))) for judge in judges_of(event)
    ]
    # Two definitions of one name are two facts: the work tree's is listed where it differs.
    beside = [row for rows in others for row in rows if row not in first]
    if form == "json":
        told = {"trigger": event.trigger, "facts": _plain(first)}
        click.echo(encode({**told, "working": _plain(beside)} if beside else told))
        return 0
    _text(first)
    if beside:
        click.echo("\nby the work tree's policy, which is asked beside the committed one:\n")
        _text(beside)
    return 0


def _plain(rows: list[Row]) -> dict[str, object]:
    facts: dict[str, object] = {}
    for row in rows:
        about: dict[str, object] = {"type": row.type, "source": row.source}
        known = {"absent": row.reason, "command": row.command or None} if row.is_absent else {"value": row.value}
        facts[row.path] = {**about, **known}
    return facts


def _text(rows: list[Row]) -> None:
    for number, ((namespace, source), group) in enumerate(groupby(rows, lambda row: (row.namespace, row.source))):
        block = list(group)
        # A namespace that is absent as a whole says so once.
        reasons = {_why(row) for row in block}
        common = reasons.pop() if len(block) > 1 and len(reasons) == 1 else ""
        click.echo("\n" * (number > 0) + prose(f"{namespace}: {source}{'; ' if common else ''}{common}"))
        values = ["absent" if common else _why(row) or _value(row) for row in block]
        table([(row.path, row.type, value) for row, value in zip(block, values, strict=True)], indent=2)


def _why(row: Row) -> str:
    if not row.is_absent:
        return ""
    return f"absent: {one_line(row.reason)}" + (f" (to get it: {one_line(row.command)})" if row.command else "")


def _value(row: Row) -> str:
    if isinstance(row.value, list):
        shown = ", ".join(_short(item) for item in row.value[:_ITEMS])
        return f"{len(row.value)}: {shown}{', …' if len(row.value) > _ITEMS else ''}" if row.value else "none"
    return _short(row.value)


def _short(value: object) -> str:
    if isinstance(value, str):
        return one_line(f'"{value}"', _WIDTH)
    return one_line(encode(value), _WIDTH)

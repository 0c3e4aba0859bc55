"""`ahp check`: what the policy would say now."""

import click

from ahp.cli.options import FACTS, ISSUE, TEXT_OR_JSON


@click.command()
@click.argument("trigger")
@ISSUE
@FACTS
@TEXT_OR_JSON
def command(trigger: str, issue: str, facts: str | None, form: str) -> int:
    """Judge TRIGGER without logging or counting anything."""
    from ahp.cli.judge import event_here, judge

    return judge(event_here(trigger, issue, facts), form)

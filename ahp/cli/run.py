"""`ahp run`: judge for real."""

import click

from ahp.cli.options import ISSUE, TEXT_OR_JSON, triggers
from ahp.system.errors import AhpError


@click.command()
@click.argument("trigger", shell_complete=triggers)
@ISSUE
@click.option("--facts", hidden=True)
@TEXT_OR_JSON
def command(trigger: str, issue: str, facts: str | None, form: str) -> int:
    """Judge TRIGGER for real: signals are logged, attempts count."""
    from ahp.cli.judge import event_here, judge

    if facts:
        raise AhpError("--facts is for dry commands (ahp check, explain, facts): a real run judges what is there")
    return judge(event_here(trigger, issue, dry=False), form)

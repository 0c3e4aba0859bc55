"""`ahp run`: judge for real."""

import click

from ahp.cli.options import ISSUE, TEXT_OR_JSON, TRIGGERS_THERE_ARE, triggers
from ahp.system.errors import AhpError


@click.command(epilog=TRIGGERS_THERE_ARE)
@click.argument("trigger", shell_complete=triggers)
@ISSUE
@click.option("--facts", hidden=True)
@TEXT_OR_JSON
def command(trigger: str, issue: str, facts: str | None, form: str) -> int:
    """Judge TRIGGER for real: signals are logged, attempts count.

    Exit code 0: it passes, warnings included; 1: it is refused; 2: it could not be judged.
    """
    from ahp.cli.judge import event_here, judge

    if facts:
        raise AhpError("--facts is for dry commands (ahp check, explain, facts): a real run judges what is there")
    return judge(event_here(trigger, issue, dry=False), form)

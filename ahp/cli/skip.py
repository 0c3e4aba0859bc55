"""`ahp skip`: let a rule pass in the next commit."""

import os

import click

from ahp.cli.options import rules
from ahp.hosts import asking, skipping
from ahp.protocol.event import identify
from ahp.protocol.text import one_line
from ahp.system import clock


@click.command()
@click.argument("rule", shell_complete=rules)
@click.option("--reason", default="", metavar="TEXT", help="Why; compulsory. It goes into the commit and the log.")
def command(rule: str, reason: str) -> int:
    """Let RULE pass in the next commit on this branch, within one hour.

    It is the answer proceed_with_risk given in advance: only a person can give it, at a terminal, and the commit says
    so. It holds for a person's own commit, and until the branch has moved; `ahp log --open`
    names one that was not used.
    """
    where = asking.around(os.getcwd())
    made = skipping.skip(where, rule, identify(where.env), reason)
    until = clock.iso(made.ends)[11:16]
    click.echo(
        f"skip: {one_line(made.rule)} passes in the next commit on {one_line(made.branch)}, until {until} UTC; "
        "the commit will say so"
    )
    return 0

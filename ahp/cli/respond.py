"""`ahp respond`: answer a signal."""

from __future__ import annotations

import os

import click

from ahp.journal.place import journal_of
from ahp.journal.respond import respond
from ahp.protocol.event import identify
from ahp.system import environ, jsontext


@click.command()
@click.argument("signal")
@click.argument("action")
@click.option("--reason", default="", metavar="TEXT", help="Why; compulsory for proceed_with_risk.")
@click.option("--feedback", default="", metavar="TEXT", help="What the rule's author should know.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(signal: str, action: str, reason: str, feedback: str, form: str) -> int:
    """Answer SIGNAL, the beginning of an id that `ahp log` shows, with ACTION; `ahp explain SIGNAL` lists what fits.

    \b
    block    retry_after_fix, proceed_with_risk, abort
    control  accept_modification, reject_modification
    prompt   acknowledge, apply_suggestion, dismiss
    aid      suggestion_applied, suggestion_deferred
    """
    given = respond(journal_of(os.getcwd()), signal, action, identify(environ.current()), reason, feedback)
    if form == "json":
        click.echo(jsontext.encode(given.response.as_dict()))
    else:
        click.echo(given.told)
    return 0

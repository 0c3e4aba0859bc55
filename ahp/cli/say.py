"""A verdict on standard error, in the words of whoever asked: what every command prints that goes on afterwards."""

import click

from ahp.hosts import verdict_text
from ahp.protocol.actor import identify
from ahp.protocol.verdict import Verdict


def say(verdict: Verdict | None, env: dict[str, str]) -> None:
    """Prints what there is to say; nothing for a verdict without signals and notes."""
    if verdict is not None and (verdict.signals or verdict.notes):
        click.echo(verdict_text.text(verdict, identify(env), env), err=True)

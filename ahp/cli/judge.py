"""What `ahp check` and `ahp run` share: asking the gate by hand and printing its verdict."""

import sys

import click

from ahp.hosts import render
from ahp.protocol.event import Event
from ahp.system import jsontext


def judge(event: Event, form: str) -> int:
    """Prints the verdict of `event` and gives the exit code: 0 allowed, 1 refused."""
    from ahp.gate.decide import decide

    verdict = decide(event)
    if form == "json":
        click.echo(jsontext.encode(verdict.as_dict()))
    elif verdict.signals or verdict.notes:
        click.echo(render.text(verdict, event.actor, event.env))
    elif sys.stdout.isatty():
        click.echo(f"ahp: {event.trigger}: nothing to say")
    return 1 if verdict.denied else 0

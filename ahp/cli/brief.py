"""`ahp brief`: what an agent reads about the policy when its session begins."""

import os

import click

from ahp.hosts import brief
from ahp.hosts.api import Gate


@click.command()
def command() -> None:
    """Print what blocks tool calls, commits and pushes here, in at most 200 tokens. Nothing is logged."""
    event = Gate(os.getcwd(), host="cli").event("session-start", dry=True)
    click.echo(brief.text(event) or "ahp: no rule refuses a tool call, a commit or a push here")

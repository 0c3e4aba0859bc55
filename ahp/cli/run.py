"""`ahp run`: judge for real."""

import os
import sys
from collections.abc import Mapping

import click

from ahp.cli.options import ISSUE, TEXT_OR_JSON, TRIGGERS_THERE_ARE, triggers
from ahp.facts import registry
from ahp.hosts import api, given_facts, verdict_text
from ahp.hosts.api import Gate
from ahp.policy.judges import judges_of
from ahp.policy.problems import nearest
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.system import jsontext
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

    if facts:
        raise AhpError("--facts is for dry commands (ahp check, explain, facts): a real run judges what is there")
    return judge(event_here(trigger, issue, dry=False), form)


def event_here(trigger: str, issue: str, facts: str | None = None, dry: bool = True) -> Event:
    """The event of `trigger` in the current folder; `facts` as `--facts` has them. Raises AhpError."""
    given = given_facts.read(facts) if facts else None
    event = Gate(os.getcwd(), host="cli").event(trigger, issue_id=issue, dry=dry, facts=given)
    _refuse_misspelt(event, given or {})
    return event


def _refuse_misspelt(event: Event, given: Mapping[str, object]) -> None:
    """Raises AhpError for a namespace that is stated, and that neither ahp nor the policy has."""
    foreign = [name for name in given if not registry.is_known(name)]
    known = {name for judge in judges_of(event) for name in judge.program.settings.commands} if foreign else set()
    for name in foreign:
        if name not in known:
            raise AhpError(
                f"--facts: there are no facts `{one_line(name)}`{nearest(name, {*registry.declared(), *known})}"
            )


def unstaged(event: Event) -> str:
    """Why there is nothing to say of a commit for which nothing is staged; "" of any other event."""
    view = event.view
    if event.trigger != "pre-commit" or event.given or view is None or view.change().entries:
        return ""
    return "nothing is staged (git add); what was said before: ahp explain ID, as `ahp log` shows it"


def judge(event: Event, form: str) -> int:
    """Prints the verdict of `event` and gives the exit code: 0 allowed, 1 refused."""
    verdict = api.judge(event)
    if form == "json":
        click.echo(jsontext.encode(verdict.as_dict()))
    elif verdict.signals or verdict.notes:
        click.echo(verdict_text.text(verdict, event.actor, event.env))
    elif not any(judge.program.triggers for judge in judges_of(event)):
        click.echo("ahp: no policy judges here, so everything passes; `ahp init` writes one", err=True)
    elif sys.stdout.isatty():
        why = unstaged(event)
        click.echo(f"ahp: {event.trigger}: nothing to say" + (f"; {why}" if why else ""))
    return 1 if verdict.denied else 0

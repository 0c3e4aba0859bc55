"""`ahp respond`: answer a signal."""

from __future__ import annotations

import os

import click

from ahp.journal.answers import AnswerRefused
from ahp.journal.episodes import LoggedSignal
from ahp.journal.place import journal_of
from ahp.journal.respond import fitting, possible, refusal, respond
from ahp.policy.problems import nearest, quoted
from ahp.protocol.event import Actor, identify
from ahp.protocol.signals import ACTIONS_OF
from ahp.protocol.text import one_line
from ahp.system import environ, jsontext

_SHOWN = 20


@click.command()
@click.argument("words", nargs=-1, metavar="[SIGNAL] ACTION")
@click.option("--last", is_flag=True, help="Answer the last signal that ACTION fits.")
@click.option("--reason", default="", metavar="TEXT", help="Why; compulsory for proceed_with_risk.")
@click.option("--feedback", default="", metavar="TEXT", help="What the rule's author should know.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(words: tuple[str, ...], last: bool, reason: str, feedback: str, form: str) -> int:
    """Answer SIGNAL, the beginning of an id that `ahp log` shows, with ACTION; without SIGNAL, list what fits.

    \b
    block    retry_after_fix, proceed_with_risk, abort
    control  accept_modification, reject_modification
    prompt   acknowledge, apply_suggestion, dismiss
    aid      suggestion_applied, suggestion_deferred
    """
    if len(words) > 2 or (last and len(words) != 1):
        raise click.UsageError("write ahp respond SIGNAL ACTION, or ahp respond --last ACTION")
    journal, by = journal_of(os.getcwd()), identify(environ.current())
    action = words[-1] if words else ""
    signal = words[0] if len(words) == 2 else ""
    if not signal:
        found = fitting(journal, by, _known(action))
        if not found:
            why = refusal(journal, by, action)
            raise AnswerRefused(why or f"nothing waits for {action or 'an answer'}; `ahp log` shows what was said")
        if not last:
            for one in found[:_SHOWN]:
                click.echo(_line(one, by))
            click.echo(f"which one? ahp respond ID {action or 'ACTION'}, or ahp respond --last {action or 'ACTION'}")
            return 2
        signal = found[0].id
    given = respond(journal, signal, action, by, reason, feedback)
    if form == "json":
        click.echo(jsontext.encode(given.response.as_dict()))
    else:
        click.echo(given.told)
    return 0


def _known(action: str) -> str:
    """`action`, if it is one or empty. Raises UsageError for a word that answers nothing, such as an id alone."""
    known = [name for names in ACTIONS_OF.values() for name in names]
    if action and action not in known:
        if all(letter in "0123456789abcdef-" for letter in action):
            raise click.UsageError(
                f"{quoted(action)} needs an answer, too: ahp respond {action[:40]} ACTION; `ahp respond` lists them"
            )
        raise click.UsageError(f"{quoted(action)} answers nothing{nearest(action, known)}")
    return action


def _line(signal: LoggedSignal, by: Actor) -> str:
    """`a1b2c3d4  prompt  size/1  main  acknowledge, apply_suggestion, dismiss`."""
    fit = ", ".join(possible(signal, by))
    return "  ".join((signal.id[:8], signal.intensity.ljust(7), one_line(signal.rule), one_line(signal.subject), fit))

"""Answering a signal: checked, recorded, and told what follows from it (seed 002 §3.4; design §7)."""

from __future__ import annotations

import shlex
from typing import NamedTuple

from ahp.journal import answers
from ahp.journal.append import Journal
from ahp.journal.episodes import LoggedSignal
from ahp.journal.state import State
from ahp.protocol import records
from ahp.protocol.event import Actor
from ahp.protocol.signals import ACTIONS_OF, SignalResponse
from ahp.protocol.text import one_line
from ahp.system import clock, terminal

_TEXT = 1024
_QUESTION = 500
_FOLLOWS = {
    "proceed_with_risk": "this change passes the rule once, and the commit says so; for CI an approver signs it",
    "acknowledge": "the same evidence does not climb again",
    "reject_modification": "the next attempt is refused instead of changed",
}


class Given(NamedTuple):
    """An answer that was recorded, and the sentence that tells what it does."""

    response: SignalResponse
    told: str


def possible(signal: LoggedSignal, by: Actor) -> list[str]:
    """The answers to a signal that are this actor's to give."""
    return [action for action in ACTIONS_OF.get(signal.intensity, ()) if _may(signal, by, action)]


def _may(signal: LoggedSignal, by: Actor, action: str) -> bool:
    try:
        _check(signal, by, action, reason="asked")
    except answers.AnswerRefused:
        return False
    return True


def _check(signal: LoggedSignal, by: Actor, action: str, reason: str) -> None:
    """Raises AnswerRefused."""
    answers.check(
        action,
        intensity=signal.intensity,
        actor=signal.actor,
        by=by,
        overridable=signal.overridable,
        reason=reason,
    )


def respond(journal: Journal, prefix: str, action: str, by: Actor, reason: str = "", feedback: str = "") -> Given:
    """Records the answer of `by` to the signal whose id begins with `prefix`.

    A person is asked at the terminal before a rule passes. Raises AnswerRefused when there is no such signal or the
    answer is not theirs to give, AhpError when nobody can be asked, JournalUnwritable.
    """
    reason, feedback = one_line(reason, _TEXT).strip(), one_line(feedback, _TEXT).strip()
    with State.open(journal) as state:
        id = answers.one(prefix, state.find(prefix))
        signal = state.signal(id)
        assert signal is not None
        _check(signal, by, action, reason)
        stamp = clock.iso(state.now)
        message = one_line(state.record(signal).get("message") or "", _QUESTION)
    if action == answers.RISK:
        question = f"ahp: {one_line(signal.rule)} blocks: {message}\nlet it pass once, for this change?"
        typed = f"ahp respond {one_line(prefix)} {action} --reason {shlex.quote(reason)}"
        if not terminal.confirm(question, typed):
            raise answers.AnswerRefused("nothing was recorded: the answer was no")
    details: dict[str, object] = {}
    if reason:
        details["reason"] = reason
    if feedback:
        details["feedback"] = feedback
    more: dict[str, object] = {"details": details} if details else {}
    of: dict[str, object] = {name: getattr(signal, name) for name in ("hook", "intensity", "source", "id")}
    if action == answers.RISK:  # the line in the commit is held against these
        more |= {"digest": signal.rule_digest, "content": signal.content}
    lines = [records.response(of, stamp, action, str(by), rule=signal.rule, subject=signal.subject, **more)]
    if feedback:
        said = {"id": id, "rule": signal.rule, "by": str(by), "feedback": feedback}
        lines.append(records.other("feedback", stamp, **said))
    journal.append(lines, durable=action == answers.RISK)
    follows = _FOLLOWS.get(action)
    if action == answers.RISK and signal.hook == "pre-push":
        follows = "the rule passes once for what was to be pushed"
    if action == "acknowledge" and by.kind != "human":
        follows = "the same evidence does not climb once"
    told = f"{action}: {one_line(signal.rule)} ({id[:8]})" + (f"; {follows}" if follows else "")
    return Given(SignalResponse(id, stamp, action, details or None), told)

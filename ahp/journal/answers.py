"""Who may answer which signal with what (seed 002 §3.4; design §7)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ahp.protocol.event import Actor
from ahp.protocol.signals import ACTIONS_OF
from ahp.system.errors import AhpError

AUTOMATIC = "ahp"
"""The `by` of an answer that nobody typed."""
RISK = "proceed_with_risk"
SKIP_LASTS = 3600.0
"""Seconds for which a `proceed_with_risk` that was given in advance waits for its commit."""


class AnswerRefused(AhpError):
    """This answer does not fit, or is not this actor's to give; the text says which and what is possible."""


def check(action: str, *, intensity: str, actor: str, by: Actor, overridable: bool, reason: str) -> None:
    """Raises AnswerRefused unless `by` may answer the signal of `actor` with `action`.

    Agents give every answer to their own signals but `proceed_with_risk`; that one is a person's, needs a reason, and a
    rule that can be overridden.
    """
    fitting = ACTIONS_OF.get(intensity, ())
    if action not in fitting:
        raise AnswerRefused(f"{action} does not answer {_article(intensity)}; it takes {_either(fitting)}")
    if by.kind != "human" and str(by) != actor:
        raise AnswerRefused(f"this signal is for {actor or 'somebody else'}; {by} can answer its own only")
    if action == RISK:
        if by.kind != "human":
            raise AnswerRefused("proceed_with_risk is a person's answer; fix it (retry_after_fix) or ask a person")
        check_leave(RISK, overridable=overridable, reason=reason)


def check_leave(what: str, *, overridable: bool, reason: str) -> None:
    """What letting a rule pass takes beside a person, whether after a refusal or before. Raises AnswerRefused."""
    if not overridable:
        raise AnswerRefused("this rule cannot be overridden; fix it, or have its policy changed")
    if not reason.strip():
        raise AnswerRefused(f'{what} needs a reason: --reason "…"; it goes into the commit and the log')


def one(prefix: str, found: Sequence[str]) -> str:
    """The only id among `found`, which begin with `prefix`. Raises AnswerRefused when it is none or not unique."""
    if not found or not prefix:
        raise AnswerRefused(f"no signal has an id that begins with {prefix[:40]!r}; `ahp log` shows them")
    if len(found) > 1:
        listed = ", ".join(id[: len(prefix) + 8] for id in found[:4])
        raise AnswerRefused(f"several signals have an id that begins with {prefix[:40]!r}: {listed}; give more of it")
    return found[0]


@lru_cache(maxsize=1024)
def kind_of(actor: str) -> str:
    """`human`, `agent` or `ci` of an actor's text form, `agent:claude`."""
    return actor.partition(":")[0]


def _article(intensity: str) -> str:
    return f"{'an' if intensity[:1] == 'a' else 'a'} {intensity}"


def _either(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)

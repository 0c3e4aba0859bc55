"""A push that git has not begun, judged as its hook would judge it."""

import os
from collections.abc import Sequence

from ahp.hosts.git import pre_push
from ahp.hosts.git.githooks import Hook
from ahp.protocol.event import Event, Workspace
from ahp.protocol.signals import DECISION_OF
from ahp.protocol.verdict import Verdict
from ahp.system.view import View

_DECISIONS = list(DECISION_OF.values())  # the strongest first


class AskedPush(Hook):
    """The pre-push hook that git would start for what `asked` is about."""

    __slots__ = ("asked",)

    def __init__(self, asked: Event, remote: str) -> None:
        where = Workspace(asked.root, asked.journal, asked.env, asked.repo, asked.genesis, asked.user_policy)
        assert asked.repo is not None
        super().__init__("pre-push", str(os.getppid()), [remote], asked.actor, asked.repo, where)
        self.asked = asked

    def event(self, view: View | None = None, trigger: str = "") -> Event:
        """As the hook's, by whoever asks."""
        return self.asked.but(trigger=trigger or self.name, view=view, tool=None)

    def attempt(self) -> str:
        """What asks is the attempt."""
        return self.asked.attempt


def judge(event: Event) -> Verdict:
    """The verdict on the push of `event`: on its range, each commit in it, each move of a ticket. Raises AhpError."""
    assert event.push is not None
    remote = event.remote or ""
    return as_one(event, list(pre_push.judge_refs(AskedPush(event, remote), [event.push], remote)))


def as_one(event: Event, verdicts: Sequence[Verdict]) -> Verdict:
    """The verdicts on one action as one, by the first's policy; without any nobody judges it."""
    first = verdicts[0] if verdicts else Verdict("allow", event.trigger, event.subject, "")
    for other in verdicts[1:]:
        first.decision = min(first.decision, other.decision, key=_DECISIONS.index)
        first.signals += other.signals
        first.dropped += other.dropped
        first.notes += [note for note in other.notes if note not in first.notes]
    return first

"""What figures are asked for: of which rules, since when, and by what a record tells of who, where and when."""

from __future__ import annotations

import time
from fnmatch import fnmatchcase
from typing import NamedTuple

BY = ("rule", "hook", "subject", "actor", "agent", "environment", "week")
ALL = "all"
"""One group, named ""."""
UNTOLD = "(unknown)"
PEOPLE = "(people)"
_DAY = 86400
WEEK = 7 * _DAY
MONDAY = 3 * _DAY
"""Seconds from a Monday to the epoch, a Thursday."""


class Question(NamedTuple):
    """`by` is one of `BY` or `ALL`, `rule` a key, an oracle's name or a pattern, `since` in seconds since the epoch.

    `now` is the time as of which it is asked, in seconds, but never before the last record's.
    An episode counts if it was opened since then, a signal, an answer to it and an evaluation if they came since then.
    """

    by: str = "rule"
    rule: str | None = None
    since: float | None = None
    now: float = 0.0

    def wants(self, rule: str) -> bool:
        """Whether figures of `rule` are asked for."""
        return self.rule is None or fnmatchcase(rule, self.rule) or rule.partition("/")[0] == self.rule


def agent_of(actor: str) -> str:
    """The group of an actor among agents: the agent's name, all people as one."""
    kind, _, name = actor.partition(":")
    return {"agent": name or "agent", "human": PEOPLE}.get(kind, kind or UNTOLD)


class Weeks(dict[int, str]):
    """The weeks of ISO 8601 in UTC by their number: `weeks[(at + MONDAY) // WEEK]` of a time in seconds."""

    def __missing__(self, number: int) -> str:
        name = self[number] = time.strftime("%G-W%V", time.gmtime(number * WEEK - MONDAY))
        return name

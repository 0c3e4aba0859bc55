"""What figures are grouped by: a rule, or what a record tells of who, where and when."""

from __future__ import annotations

import time
from collections.abc import Mapping

BY = ("rule", "hook", "subject", "actor", "agent", "environment", "week")
UNTOLD = "(unknown)"
PEOPLE = "(people)"
_DAY = 86400


class Group:
    """`by` is one of `BY`; an agent is its name, a week is ISO 8601's in UTC.

    `key` is the one of records whose text is the name of the group, "" where the name is made of more.
    """

    def __init__(self, by: str) -> None:
        self.by = by
        self.key = by if by in BY and by not in ("agent", "week") else ""
        self._weeks: dict[int, str] = {}

    def of(self, record: Mapping[str, object], at: float) -> str:
        """The group that a record of the time `at` (seconds) counts in, `UNTOLD` where it does not tell."""
        if self.by == "week":
            return self._week(int(at // _DAY))
        if self.by == "agent":
            kind, _, name = str(record.get("actor") or "").partition(":")
            return {"agent": name or "agent", "human": PEOPLE}.get(kind, kind or UNTOLD)
        return str(record.get(self.by) or UNTOLD)

    def _week(self, day: int) -> str:
        known = self._weeks.get(day)
        if known is None:
            known = self._weeks[day] = time.strftime("%G-W%V", time.gmtime(day * _DAY))
        return known

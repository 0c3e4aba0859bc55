"""Overrides that a person gave in advance, for a branch's next commit, as the log tells of them.

A `skip` record says for which rule, branch and commit; the answer `proceed_with_risk` that an attempt made of it names
it. Which change it is for is known only then.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from ahp.journal import segments
from ahp.journal.answers import RISK, SKIP_LASTS, kind_of
from ahp.journal.append import Journal
from ahp.journal.state import SKIPS
from ahp.protocol import records
from ahp.protocol.text import one_line
from ahp.system import clock, files

KIND = "skip"
_LOOKED_AT = 200_000  # lines of the log
_STAMP = re.compile(rb'"timestamp": ?"([^"]{1,40})"')


class Skip(NamedTuple):
    """A person's leave for `rule` in the next commit on `branch`, which is at the commit `head` ("" before the first).

    `mark` is how the branch's reflog was (`ahp.system.reflogs.mark`), `at` when it was given in seconds, `used` the
    attempts (git commands) that it let pass; where one of them became a commit, the branch has moved since.
    """

    id: str
    rule: str
    branch: str
    head: str
    mark: str
    by: str
    reason: str
    at: float
    used: tuple[str, ...] = ()

    @property
    def ends(self) -> float:
        return self.at + SKIP_LASTS

    def record(self) -> dict[str, object]:
        """Its line in the log."""
        told = {name: getattr(self, name) for name in ("id", "rule", "branch", "head", "mark", "by", "reason")}
        return records.other(KIND, clock.iso(self.at), **told, subject=self.branch, ends=clock.iso(self.ends))

    def why_not(self, branch: str, head: str, mark: str, now: float, attempt: str = "") -> str:
        """Why it does not hold for an `attempt` on `branch`, which is at `head` with `mark`; "" where it does."""
        if self.branch != branch:
            return f"it is for the branch {one_line(self.branch)}"
        if (self.head, self.mark) != (head, mark):
            return f"it was for the next commit, and {one_line(self.branch)} has moved since"
        if now >= self.ends:
            return f"it ended at {clock.iso(self.ends)[11:16]} UTC"
        # Without a reflog nobody can tell an attempt that was given up from a commit that was taken back.
        others = [one for one in self.used if one != attempt]
        return "it was used, and no reflog tells whether a commit came of that" if others and not mark else ""


def give(journal: Journal, skip: Skip) -> None:
    """Records `skip`, and lets refused commits look for it while it lasts. Raises JournalUnwritable, AhpError."""
    journal.append([skip.record()], durable=True)
    path = journal.folder + SKIPS
    files.replace(path, b"")
    os.utime(path, (skip.at, skip.at))


def given(folder: str, now: float) -> list[Skip]:
    """The skips in the log in `folder` that may still last, the newest first. Raises AhpError."""
    found: list[Skip] = []
    used: dict[str, list[str]] = {}
    for number, line in enumerate(segments.backward(folder)):
        stamp = _STAMP.search(line.raw)
        at = clock.seconds(stamp[1].decode("ascii", "replace")) if stamp else None
        if number >= _LOOKED_AT or (at is not None and at < now - SKIP_LASTS):
            break
        record = line.record() if b'"skip"' in line.raw else None
        if not record or at is None or kind_of(str(record.get("by"))) != "human":
            continue
        if record.get("kind") == "response" and record.get("action") == RISK:
            used.setdefault(str(record.get("skip")), []).append(str(record.get("attempt")))
        elif record.get("kind") == KIND:
            id, rule, branch, head, mark, by, reason = (str(record.get(name) or "") for name in _TOLD)
            found.append(Skip(id, rule, branch, head, mark, by, reason, at, tuple(used.get(id, ()))))
    return found


_TOLD = ("id", "rule", "branch", "head", "mark", "by", "reason")

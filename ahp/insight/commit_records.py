"""The few records of a log that tell of certain commits: how they were judged, what was answered, which pushes were.

However long the log is, kept is what is about these commits, and one record a push.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ahp.insight.amends import Part
from ahp.insight.pushed import Push
from ahp.journal.answers import RISK, kind_of
from ahp.protocol.triggers import OF_COMMITS
from ahp.system.commits import Past, PastView
from ahp.system.errors import AhpError
from ahp.system.view import View

_ID = re.compile(r"[0-9a-f]{40,64}")


def is_id(text: object) -> bool:
    """Whether it looks like the id of an object."""
    return isinstance(text, str) and _ID.fullmatch(text) is not None


class PolicyName(NamedTuple):
    """A policy by its digest; `commit` is one that has it, `origin` where it stood ("" where the log does not tell)."""

    digest: str
    commit: str
    origin: str


class Attempt:
    """One attempt about a change: its verdicts by hook, and what was said."""

    def __init__(self) -> None:
        self.verdicts: dict[str, Mapping[str, object]] = {}
        self.signals: list[Mapping[str, object]] = []
        self.order = 0

    @property
    def passed(self) -> bool:
        """Whether its hooks let it pass."""
        return bool(self.verdicts) and all(one.get("decision") != "deny" for one in self.verdicts.values())


class CommitRecords:
    """What a log has of the commits `past`; `shown` are their views. It is fed the log's records, in their order.

    `parts` are those of amended commits (`amends.parts`), `attempts` are by change and by git command, `given` the
    overrides by what binds them (rule, rule digest, content) and `risks` by the signal that was answered, each with who
    and why; `before` are the tips that the first install found, None without one.
    """

    def __init__(
        self, past: Sequence[Past], shown: Sequence[PastView], parts: Mapping[str, Sequence[Part]] | None = None
    ) -> None:
        self.parts = parts or {}
        self.ids = {one.id for one in past}
        self.changes: dict[str, set[str]] = {}
        self.empty: set[str] = set()
        for one, view in zip(past, shown, strict=True):
            for part in (view, view.own):
                digest = _digest(part)
                if digest:
                    self.changes.setdefault(one.id, set()).add(digest)
                    if not part.change().entries:
                        self.empty.add(digest)
        self._wanted = {digest for digests in self.changes.values() for digest in digests}
        self._wanted |= {part.digest for some in self.parts.values() for part in some}
        self.attempts: dict[str, dict[str, Attempt]] = {}
        self.policies: dict[str, PolicyName] = {}
        self.risks: dict[str, tuple[str, str]] = {}
        self.given: dict[tuple[str, str, str], tuple[str, str]] = {}
        self.bypasses: dict[str, Mapping[str, object]] = {}
        self.pushes: list[Push] = []
        self.of_push: dict[str, list[Mapping[str, object]]] = {}
        self.before: list[str] | None = None
        self.begin = ""
        self._pushing: list[Mapping[str, object]] = []
        self._taken = 0

    def take(self, record: Mapping[str, object]) -> None:
        """Takes up one record."""
        kind = record.get("kind")
        self.begin = self.begin or str(record.get("timestamp") or "")
        if kind in ("signal", "verdict"):
            self._judged(record, kind == "verdict")
        elif kind == "policy":
            told = [str(record.get(name) or "") for name in ("digest", "commit", "origin")]
            self.policies.setdefault(told[0], PolicyName(*told))
        elif kind == "response" and record.get("action") == RISK and kind_of(str(record.get("by"))) == "human":
            self._answered(record)
        elif kind == "bypass" and (commit := str(record.get("commit"))) in self.ids:
            self.bypasses[commit] = record
        elif kind == "install" and self.before is None:
            tips = record.get("tips")
            self.before = [tip for tip in tips if is_id(tip)] if isinstance(tips, list) else []

    def _answered(self, record: Mapping[str, object]) -> None:
        details = record.get("details")
        reason = str(details.get("reason") or "") if isinstance(details, dict) else ""
        by = str(record.get("by")), reason
        id, rule, digest, content = (str(record.get(name) or "") for name in ("id", "rule", "digest", "content"))
        self.risks[id] = by
        self.given[rule, digest, content] = by

    def _judged(self, record: Mapping[str, object], is_verdict: bool) -> None:
        hook = record.get("hook")
        if hook == "pre-push":
            self._pushed(record, is_verdict)
        elif hook in OF_COMMITS and (change := str(record.get("change"))) in self._wanted:
            attempts = self.attempts.setdefault(change, {})
            attempt = attempts.setdefault(str(record.get("attempt") or ""), Attempt())
            self._taken += 1
            attempt.order = self._taken
            if is_verdict:
                attempt.verdicts[str(hook)] = record
            else:
                attempt.signals.append(record)

    def _pushed(self, record: Mapping[str, object], is_verdict: bool) -> None:
        if not is_verdict:
            named = record.get("commits")
            if isinstance(named, list) and not self.ids.isdisjoint(map(str, named)):
                self._pushing.append(record)
            return
        head, count = str(record.get("head") or ""), record.get("commits")
        if record.get("decision") != "deny" and is_id(head):
            about = [one for one in self._pushing if one.get("attempt") == record.get("attempt")]
            judged = count if isinstance(count, int) and not isinstance(count, bool) else 0
            base = record.get("base")
            begins = [str(one) for one in base] if isinstance(base, list) else None
            self.pushes.append(Push(head, begins, judged, {**record, "said": about} if about else record))
        self._pushing = []

    def policy(self, digest: object) -> PolicyName:
        """What the log tells of a policy."""
        return self.policies.get(str(digest or ""), PolicyName(str(digest or ""), "", ""))


def _digest(view: View) -> str:
    try:
        return view.digest()
    except AhpError:
        return ""

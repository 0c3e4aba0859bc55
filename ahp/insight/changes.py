"""What a back-test finds: which outcomes change, how often, with examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ahp.protocol.signals import UNDECIDED

EXAMPLES = 3
"""Of each change."""


class Example(NamedTuple):
    """One evaluation whose outcome changes: when (seconds), at which trigger, about whom, and the facts it went by."""

    at: float
    hook: str
    subject: str
    actor: str
    told: str


@dataclass
class Change:
    """How often a rule would have said `after` where it said `before`: a level, `silent` or `undecided`."""

    rule: str
    before: str
    after: str
    count: int = 0
    examples: list[Example] = field(default_factory=list)

    @property
    def weight(self) -> int:
        """0: a block gained, 1: a block lost, 2: another change, 3: nobody knows."""
        if UNDECIDED in (self.before, self.after):
            return 3
        return 0 if self.after == "block" else 1 if self.before == "block" else 2


@dataclass
class Backtest:
    """`judged` evaluations of the log, `refused` of them then and `refuses` now as far as is decided.

    `changes`: blocks gained first, then blocks lost, other changes, undecided ones. `missing` facts by rule, that the
    log lacks. `calls` that were only counted, of rules at tool triggers that did not ask the same then: what these
    would have said is unknown, and so is what `skipped` evaluations would have been, by policies that the log does
    not describe any more.
    """

    judged: int = 0
    refused: int = 0
    refuses: int = 0
    skipped: int = 0
    begin: float = 0.0
    end: float = 0.0
    changes: list[Change] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)

    @property
    def decided(self) -> list[Change]:
        """The changes of which the log tells enough."""
        return [change for change in self.changes if change.weight < 3]


class Tally:
    """What changes at evaluations that are alike, and at how many of them; `before` is what was said there."""

    __slots__ = ("before", "changes", "count", "missing", "refuses")

    def __init__(self, before: Mapping[str, str], refuses: bool) -> None:
        self.before, self.refuses, self.count = before, refuses, 0
        self.changes: list[Change] = []
        self.missing: list[tuple[str, str]] = []

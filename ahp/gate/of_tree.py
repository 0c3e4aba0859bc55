"""The rules of a change, asked of a tree as it is, as if one commit had brought all of it.

What only a change has (what it removes, how much it is, what it does to the policy or to dependencies) a tree does not
tell: rules that read that are not asked. A rule with `each` over lines is asked of every file alone, so that a large
tree needs no more memory than its largest file.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ahp.facts import registry
from ahp.gate import joining
from ahp.gate.candidate import Candidate
from ahp.gate.hearing import Hearing, hear
from ahp.gate.weighing import Weighing
from ahp.policy.judge import Judge
from ahp.policy.program import RuleAnswer
from ahp.protocol.event import Event
from ahp.system import clock

TRIGGERS = ("pre-commit", "pre-merge-commit", "pre-push", "pre-merge")
"""Whose rules are asked, each rule at the first that has it."""
LINES = frozenset({"diff.added", "debuggers.added"})
_FILES = ("changed", "added", "changes", "binary", "largest_bytes", "lfs")
_REPORTS = ("tests", "coverage")
_OF_CHANGES = frozenset({"commit", "push", "deps", "policy", "tool", "files", "diff", "moved", "debuggers"})
_PREVIOUS = "coverage.previous"


class Plan(NamedTuple):
    """Which rules are asked, by key: of `each_file` alone, of `all_files` together; and those that are `not_asked`."""

    each_file: set[str]
    all_files: set[str]
    not_asked: set[str]


def plan(rules: dict[str, RuleAnswer]) -> Plan:
    """How these rules, by key, are asked of a tree."""
    found = Plan(set(), set(), set())
    for key, rule in rules.items():
        reads = set(rule.reads)
        has_fixer = rule.action is not None and rule.action.command is not None
        if not _is_of_a_tree(reads) or has_fixer:  # a fixer runs only where the commit is made
            found.not_asked.add(key)
        elif rule.each and reads & LINES and (rule.each.partition(" in ")[2].strip() in LINES):
            found.each_file.add(key)
        else:
            found.all_files.add(key)
    return found


def _is_of_a_tree(reads: set[str]) -> bool:
    """Whether a rule reads what a tree has, and nothing that only a change has."""
    known = {path for path in reads if _is_told(path)}
    return bool(known) and not any(path.partition(".")[0] in _OF_CHANGES or path == _PREVIOUS for path in reads - known)


def _is_told(path: str) -> bool:
    name, _, field = path.partition(".")
    if name == "files":
        return field in _FILES
    return path in LINES or (name in _REPORTS and path != _PREVIOUS) or not registry.is_known(name)


class Inquiry:
    """What the judges ask of files: built once, asked of any number of views."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        self._judges = [judge for judge in judges if judge.program.rules]
        self._hearings: list[Hearing] = []

    def ask(self, event: Event) -> tuple[list[Candidate], list[str]]:
        """What the rules say, and notes beside that. Raises AhpError."""
        if not self._judges:
            return [], []
        if self._hearings:
            for hearing in self._hearings:
                hearing.hear(event)
        else:
            self._hearings = hear(self._judges, event)
        if not any(hearing.hits for hearing in self._hearings):
            return [], []
        weighings = [_Weighing(hearing) for hearing in self._hearings]
        found = joining.join([one.weigh() for one in weighings])
        return found, [note for one in weighings for note in one.notes]


class _Weighing(Weighing):
    """Rules speak of a tree at their own level: it is no attempt, and nobody has let anything of it pass."""

    def __init__(self, hearing: Hearing) -> None:
        super().__init__(hearing, hearing.facts.event, None, clock.now())

    def _climb(self) -> None:
        for candidate in self.candidates:
            if candidate.enforced and candidate.intensity == "control":
                candidate.soften("")

    def _soften_for_policy_only(self) -> None:
        """The tree is judged as it lies: no change is under way that could mend the policy."""

    def _override(self) -> None:
        """An override is for what one change is."""

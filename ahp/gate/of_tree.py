"""The rules of a change, asked of a tree as it is, as if one commit had brought all of it.

Only a change removes lines, has a size, or changes policy and dependencies: rules that read those are not asked. A rule
with `each` over lines judges one file after the other, so that a large tree needs no more memory than its largest file.
"""

from typing import NamedTuple

from ahp.facts import registry
from ahp.policy.program import RuleAnswer

TRIGGERS = ("pre-commit", "pre-merge-commit", "pre-push", "pre-merge")
"""Whose rules are asked, each rule at the first that has it."""
LINES = frozenset({"diff.added", "debuggers.added"})
_FILES = ("changed", "added", "changes", "binary", "largest_bytes", "lfs")
_REPORTS = ("tests", "coverage")
_OF_CHANGES = frozenset({"commit", "push", "deps", "policy", "tool", "files", "diff", "debuggers", "content"})
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
    return (
        path in LINES
        or (name == "content" and field.startswith("after"))
        or (name in _REPORTS and path != _PREVIOUS)
        or not registry.is_known(name)
    )

"""Which rules of a change are asked of a tree."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ahp.gate import of_tree


@pytest.mark.parametrize(
    ("reads", "each", "how"),
    [
        (["diff.added", "limits.secret"], "l in diff.added", "each_file"),
        (["debuggers.added", "diff.added", "actor.kind"], "d in debuggers.added", "each_file"),
        (["diff.added"], None, "all_files"),
        (["diff.added", "files.added"], "p in files.added", "all_files"),
        (["files.changes", "branch.name"], None, "all_files"),
        (["tests.failed_count"], None, "all_files"),
        (["coverage.current", "coverage.threshold"], None, "all_files"),
        (["lint.count"], None, "all_files"),
        (["coverage.current", "coverage.previous"], None, "not_asked"),
        (["files.added", "files.deleted"], None, "not_asked"),
        (["files.changed_count"], None, "not_asked"),
        (["content.after['package.json']"], None, "all_files"),
        (["content.after", "files.changed"], "f in files.changed", "all_files"),
        (["content.after", "content.before"], None, "not_asked"),
        (["diff.added", "diff.removed"], "l in diff.added", "not_asked"),
        (["diff.added", "commit.subject"], "l in diff.added", "not_asked"),
        (["branch.name", "time.hour"], None, "not_asked"),
    ],
)
def test_a_rule_is_asked_where_it_reads_what_a_tree_has(reads: list[str], each: str | None, how: str) -> None:
    rule: Any = SimpleNamespace(reads=reads, each=each, action=None)
    found = of_tree.plan({"rule": rule})
    assert [name for name, keys in found._asdict().items() if keys] == [how]

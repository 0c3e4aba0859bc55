"""Rules that people want of files, dependencies and signatures: each is one rule, with tests of both its answers."""

from __future__ import annotations

from pathlib import Path

from ahp.hosts import policy_test
from ahp.policy import cases

from .conftest import Load

FOLDER = Path(__file__).parent / "wanted"


def test_each_wanted_rule_speaks_where_it_should_and_nowhere_else(load: Load) -> None:
    policy = load((FOLDER / "hooks.yaml").read_text())
    report = policy_test.run(policy, cases.read((FOLDER / "cases.yaml").read_bytes(), "cases.yaml", policy))
    assert {one.case.keys.name: one.faults for one in report.outcomes if one.faults} == {}
    assert [rule.rule for rule in report.rules if not rule.spoke or rule.spoke == rule.asked] == []

"""A rule that speaks for another does not open a way round it (design §4, §7)."""

from __future__ import annotations

import pytest

from tests.gate.conftest import Desk, signals

TWO = """
hooks:
  pre-commit:
    oracles:
      - name: o
        rules:
          - {id: base, condition: files.changed_count > 0, intensity: block, %s}
          - {id: fine, condition: files.changed_count > 0 and files.changed_count < 9, intensity: block, %s}
"""


@pytest.mark.parametrize(
    ("base", "fine", "said"),
    [
        ("locked: true", "severity: low", ["o/base", "o/fine"]),
        ("overridable: false", "severity: low", ["o/base", "o/fine"]),
        ("overridable: false", "overridable: false", ["o/fine"]),
        ("locked: true", "locked: true", ["o/fine"]),
        ("severity: low", "severity: low", ["o/fine"]),
    ],
)
def test_what_a_person_may_override_does_not_speak_for_what_nobody_may(
    desk: Desk, base: str, fine: str, said: list[str]
) -> None:
    desk.policy(TWO % (base, fine))
    verdict = desk.judge(files={"changed_count": 1})
    assert signals(verdict) == [(rule, "block") for rule in said]

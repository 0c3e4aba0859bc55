"""The spectrum of control."""

from __future__ import annotations

from ahp.protocol import levels
from ahp.protocol.triggers import TRIGGERS


def test_the_spectrum_goes_from_block_to_allow() -> None:
    order = ["block", "control", "prompt", "aid", levels.ALLOW]
    assert [levels.strength(one) for one in order] == [4, 3, 2, 1, 0]
    assert set(levels.DECISION_OF) == set(order)


def test_the_strongest_wins() -> None:
    assert levels.strongest(["aid", "block", "prompt"]) == "block"
    assert levels.strongest([]) == "allow"


def test_triggers_carry_what_the_design_says() -> None:
    for trigger in TRIGGERS.values():
        after = trigger.name.startswith("post-") or trigger.name == "session-start"
        assert trigger.post == after
        assert trigger.intensities == (("aid",) if after else ("block", "control", "prompt"))
        assert set(trigger.advised) <= set(trigger.intensities)
    assert TRIGGERS["commit-msg"].family == TRIGGERS["post-commit"].family == "commit"
    assert TRIGGERS["pre-merge"].family == "pre-merge"

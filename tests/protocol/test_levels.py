"""The spectrum of control."""

from __future__ import annotations

from ahp.protocol import levels


def test_the_spectrum_goes_from_block_to_allow() -> None:
    order = ["block", "control", "prompt", "aid", levels.ALLOW]
    assert [levels.strength(one) for one in order] == [4, 3, 2, 1, 0]
    assert set(levels.DECISION_OF) == set(order)


def test_the_strongest_wins() -> None:
    assert levels.strongest(["aid", "block", "prompt"]) == "block"
    assert levels.strongest([]) == "allow"

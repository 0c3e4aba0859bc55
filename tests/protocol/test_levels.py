"""The spectrum of control."""

from __future__ import annotations

from ahp.protocol import signals


def test_the_spectrum_goes_from_block_to_allow() -> None:
    order = ["block", "control", "prompt", "aid", signals.ALLOW]
    assert [signals.strength(one) for one in order] == [4, 3, 2, 1, 0]
    assert set(signals.DECISION_OF) == set(order)


def test_the_strongest_wins() -> None:
    assert signals.strongest(["aid", "block", "prompt"]) == "block"
    assert signals.strongest([]) == "allow"

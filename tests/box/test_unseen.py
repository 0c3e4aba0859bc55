"""Files that nobody is known to have written, in sessions of agents."""

from __future__ import annotations

import pytest

from .trials_unseen import trials


@pytest.mark.slow
@pytest.mark.parametrize("first", [2000, 3000])
def test_hidden_writes_are_named_and_a_persons_are_not(first: int) -> None:
    counts = trials(range(first, first + 12))
    assert counts["nobody"][1] > 10
    assert counts["nobody"][0] == counts["nobody"][1], counts
    assert counts["person"][0] == 0, counts

from __future__ import annotations

import pytest

from ahp.tickets.frontmatter import TicketError
from ahp.tickets.tracker import VARIABLE, candidates


def test_what_was_named_stands_alone() -> None:
    assert candidates("#feat-0001", "FIX-0002-x", {VARIABLE: "FEAT-3"}) == ["FEAT-0001"]


def test_the_branch_comes_before_the_variable() -> None:
    assert candidates(None, "FIX-0002-x", {VARIABLE: "FEAT-3"}) == ["FIX-0002", "FEAT-3"]
    assert candidates("", "FEAT-3", {VARIABLE: "FEAT-3"}) == ["FEAT-3"]
    assert candidates(None, "main", {VARIABLE: "rm -rf"}) == []


@pytest.mark.parametrize("text", ["login", "lab::FEAT-1", "FEAT-1\n", "-x"])
def test_a_name_that_is_no_id_is_an_error(text: str) -> None:
    if text == "FEAT-1\n":
        assert candidates(text, "", {}) == ["FEAT-1"]
        return
    with pytest.raises(TicketError, match="is no issue id"):
        candidates(text, "", {})

"""ahp.runner.context.retriever"""

from __future__ import annotations

import pytest

from ahp.runner.context.retriever import fuse


def test_the_score_is_the_sum_of_the_reciprocal_ranks() -> None:
    fused = fuse({"grep": ["a", "b"], "lately": ["b", "c"], "ticket": []})
    assert [(one.path, one.why) for one in fused] == [("b", ["lately", "grep"]), ("a", ["grep"]), ("c", ["lately"])]
    assert fused[0].score == pytest.approx(1 / 61 + 1 / 62)


def test_agreement_outweighs_one_first_place() -> None:
    fused = fuse({"one": ["first", "x", "shared"], "two": ["y", "z", "shared"]})
    assert fused[0].path == "shared"


def test_of_equal_ones_what_an_earlier_ranking_names_goes_first() -> None:
    assert [one.path for one in fuse({"a": ["z"], "b": ["y"]})] == ["z", "y"]

from __future__ import annotations

import pytest

from ahp.insight.advice import bar, counted, duration, many, percent


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0s"), (0.4, "0s"), (20, "20s"), (59, "59s"), (90, "2m"), (7200, "2h"), (3 * 86400, "3d")]
)
def test_a_duration_has_one_unit(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_a_share_that_is_neither_none_nor_all_never_reads_so() -> None:
    assert [percent(share) for share in (0, 0.001, 0.5, 0.999, 1)] == ["0%", "1%", "50%", "99%", "100%"]


def test_large_numbers_take_five_characters() -> None:
    told = [many(number) for number in (0, 9_999, 10_000, 35_999, 123_456, 999_949, 1_234_567, 99_949_999)]
    assert told == ["0", "9,999", "10k", "36k", "123.5k", "999.9k", "1.23M", "99.9M"]


def test_a_bar_is_as_wide_as_it_is_told_to_be() -> None:
    assert [bar(share, 4) for share in (0, 0.03, 0.5, 1)] == ["····", "▏···", "██··", "████"]


def test_one_and_more() -> None:
    assert [counted(1, "try", "tries"), counted(2, "try", "tries"), counted(0, "episode")] == [
        "1 try",
        "2 tries",
        "0 episodes",
    ]

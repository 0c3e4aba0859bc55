"""What kind of thing a regular expression has found, by the names of its groups."""

from __future__ import annotations

import pytest

from ahp.conditions.regexes import named_groups
from ahp.conditions.runtime import MAX_CHARS

KINDS = "(?:(?P<digits>[0-9]+)|(?P<word>[a-z]+)|!)"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("12", ["digits"]),
        ("ab 12 cd", ["word", "digits"]),
        ("!", []),
        ("", []),
        ("\udcff\ud800 7", ["digits"]),
        ("é7", ["digits"]),
        ("7" * (MAX_CHARS + 1), []),
    ],
)
def test_the_groups_that_match_are_named_in_their_order(text: str, found: list[str]) -> None:
    assert named_groups(KINDS, text) == found


def test_a_group_within_a_group_is_named_too() -> None:
    assert named_groups("(?P<key>id-(?P<live>live)?)", "id-live") == ["key", "live"]
    assert named_groups("(?P<key>id-(?P<live>live)?)", "id-test") == ["key"]

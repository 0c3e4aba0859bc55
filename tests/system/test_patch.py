"""ahp.system.patch; that git's own diffs are read right is in tests/facts/test_diff.py."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ahp.system.patch import parts


def read(text: str) -> list[Any]:
    return [part if isinstance(part, str) else (part.old, part.new, part.wrong) for part in parts(text)]


PAIR = "@@ -1,2 +1,3 @@\n a\n--- x\n+++ y\n+b\n"


def test_a_hunk_ends_where_a_file_begins_whatever_it_says() -> None:
    assert read(PAIR) == [(["a\n", "-- x\n"], ["a\n", "++ y\n", "b\n"], "")]
    other = read(PAIR + "--- z\n+++ z\n@@\n+c\n")
    assert other[1:] == ["--- z", "+++ z", ([], ["c\n"], "")]
    assert read("@@ -1 +1 @@\n-a\n+b\n+c\n") == [(["a\n"], ["b\n", "c\n"], "")]
    assert read("@@ -1 +1 @@\nx\n-a\n+b") == [(["a\n"], ["b\n"], "x")]


def test_a_line_without_an_end_has_none_on_its_own_side_only() -> None:
    end = "\\ No newline at end of file\n"
    assert read(f"@@ -1 +1 @@\n-a\n{end}+b\n") == [(["a"], ["b\n"], "")]
    assert read(f"@@ -1 +1 @@\n-a\n+b\n{end}") == [(["a\n"], ["b"], "")]
    assert read(f"@@ -1 +1 @@\n a\n{end}") == [(["a"], ["a"], "")]


@given(st.lists(st.sampled_from(["@@ -1 +1 @@", "@@", "--- a", "+++ b", "+x", "-y", " z", "", "\r", "\\", "-- ", "?"])))
def test_whatever_stands_in_a_patch_is_read(lines: list[str]) -> None:
    parts("\n".join(lines))

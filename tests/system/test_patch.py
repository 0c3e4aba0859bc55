"""ahp.system.patch; that git's own diffs are read right is in tests/facts/test_diff.py."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.system.patch import Hunk, parts


def read(text: str, counted: bool) -> list[Any]:
    return [part if isinstance(part, str) else (part.old, part.new, part.wrong) for part in parts(text, counted)]


PAIR = "@@ -1,2 +1,3 @@\n a\n--- x\n+++ y\n+b\n"


def test_a_counted_hunk_is_as_long_as_it_says_and_another_ends_where_a_file_begins() -> None:
    assert read(PAIR, counted=True) == [(["a\n", "-- x\n"], ["a\n", "++ y\n", "b\n"], ""), ""]
    assert read(PAIR, counted=False) == read(PAIR, counted=True)[:1]
    other = read(PAIR + "--- z\n+++ z\n@@\n+c\n", counted=False)
    assert other[1:] == ["--- z", "+++ z", ([], ["c\n"], "")]
    short = "@@ -1 +1 @@\n-a\n+b\n+c\n"
    assert read(short, counted=True) == [(["a\n"], ["b\n"], ""), "+c", ""]
    assert read(short, counted=False) == [(["a\n"], ["b\n", "c\n"], "")]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("@@ -1 +1,9 @@\n a\n", "@@ -1 +1,9 @@"),
        ("@@ -1 +1 @@\nx\n-a\n+b", "x"),
        ("@@ -1,0 +1,0 @@", "@@ -1,0 +1,0 @@"),
        ("@@ -x +1 @@\n+b", "@@ -x +1 @@"),
        ("@@ -1,2 +1 @@\n-a\n@@ -3 +3 @@\n-c\n+d", "@@ -3 +3 @@"),
    ],
)
def test_a_counted_hunk_says_what_is_wrong_with_it(text: str, wrong: str) -> None:
    assert next(part.wrong for part in parts(text, counted=True) if isinstance(part, Hunk)) == wrong


def test_a_line_without_an_end_has_none_on_its_own_side_only() -> None:
    end = "\\ No newline at end of file\n"
    assert read(f"@@ -1 +1 @@\n-a\n{end}+b\n", counted=False) == [(["a"], ["b\n"], "")]
    assert read(f"@@ -1 +1 @@\n-a\n+b\n{end}", counted=False) == [(["a\n"], ["b"], "")]
    assert read(f"@@ -1 +1 @@\n a\n{end}", counted=False) == [(["a"], ["a"], "")]


@given(st.lists(st.sampled_from(["@@ -1 +1 @@", "@@", "--- a", "+++ b", "+x", "-y", " z", "", "\r", "\\", "-- ", "?"])))
def test_whatever_stands_in_a_patch_is_read(lines: list[str]) -> None:
    for counted in (True, False):
        parts("\n".join(lines), counted)

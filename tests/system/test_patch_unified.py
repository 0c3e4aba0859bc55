"""ahp.system.patch"""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.system.patch import lines_of, parse, regions, unified

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "d e", "-- x"]), max_size=12).map(
    lambda lines: "".join(line + "\n" for line in lines)
)


@given(TEXTS, TEXTS)
def test_a_diff_makes_the_new_text_of_the_old_one(old: str, new: str) -> None:
    before, after = lines_of(old), lines_of(new)
    made, at = [], 0
    for old_from, old_to, new_from, new_to in regions(before, after):
        made += before[at:old_from] + after[new_from:new_to]
        at = old_to
    assert made + before[at:] == after
    plus, minus = parse(unified('a "b".txt', old, new))
    assert all(after[line["line"] - 1] == line["text"] for line in plus)  # type: ignore[operator]
    assert all(before[line["line"] - 1] == line["text"] for line in minus)  # type: ignore[operator]
    assert {line["path"] for line in plus + minus} <= {'a "b".txt'}


def test_the_lines_are_those_that_git_shows(repo: Any) -> None:
    repo.write("old", "a\nb\nc\nd\n")
    repo.write("new", "a\nx\nc\nd\ne\n")
    shown = subprocess.run(
        ["git", "diff", "--no-index", "-U0", "old", "new"], cwd=repo.root, capture_output=True, check=False
    ).stdout
    ours = unified("f", (repo.root / "old").read_text(), (repo.root / "new").read_text())
    plain = [[(line["line"], line["text"]) for line in side] for side in parse(ours)]
    assert plain == [[(line["line"], line["text"]) for line in side] for side in parse(shown)]
    assert json.dumps(plain)


@pytest.mark.parametrize("name", ['a "b"\\c', "tab\tand\nline", "ümlaut", "byte\udce9", "b"])
def test_a_name_is_read_as_it_was_written(name: str) -> None:
    plus, minus = parse(unified(name, "", "x\n"))
    assert (plus, minus) == ([{"path": name, "line": 1, "text": "x"}], [])

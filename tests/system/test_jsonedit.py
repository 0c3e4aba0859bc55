"""Somebody else's JSON file is changed in one place, and in no other."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.system.errors import AhpError
from ahp.system.jsonedit import NotJson, parse, put, remove, replace

COMMENTED = '{\n    // one\n    "a": [1, 2,], /* two */\n    "b": {"c": "}"},\n}\n'


def test_comments_and_trailing_commas_are_read() -> None:
    assert parse(COMMENTED).value == {"a": [1, 2], "b": {"c": "}"}}
    assert parse("\ufeff // x\n {} // y").value == {}


@pytest.mark.parametrize(
    "text", ["", "{", '{"a" 1}', "{1: 2}", "[1}", '{"a": }', "{} x", "/* ", "[1 2]", "nul", '{"a": [}']
)
def test_what_is_no_json_is_told_with_its_place(text: str) -> None:
    with pytest.raises(NotJson, match="line 1"):
        parse(text)


def test_an_item_goes_to_the_end_and_leaves_all_else() -> None:
    text = put(COMMENTED, ("a",), {"x": 1})
    assert parse(text).value == {"a": [1, 2, {"x": 1}], "b": {"c": "}"}}
    assert "// one" in text and "/* two */" in text and '    "b": {"c": "}"},\n' in text


def test_what_lacks_on_the_way_is_made() -> None:
    assert json.loads(put("{}", ("a", "b"), 1)) == {"a": {"b": [1]}}
    assert put('{\n  "x": 1\n}\n', ("a",), 1) == '{\n  "x": 1,\n  "a": [\n    1\n  ]\n}\n'
    assert put('{\n\t"x": 1\n}\n', ("a",), 1) == '{\n\t"x": 1,\n\t"a": [\n\t\t1\n\t]\n}\n'
    assert parse(put("{ // nothing yet\n}", ("a",), 1)).value == {"a": [1]}


@pytest.mark.parametrize("path", [("a", "x"), ("b",), ("b", "c", "d")])
def test_something_else_in_its_place_is_an_error(path: tuple[str, ...]) -> None:
    with pytest.raises(AhpError):
        put(COMMENTED, path, 1)


def test_a_value_is_replaced_in_its_place() -> None:
    text = '{\n  "a": [1, 2]\n}'
    assert replace(text, parse(text).members["a"].items[1], {"x": 1}, 1) == '{\n  "a": [1, {\n    "x": 1\n  }]\n}'


def test_what_is_empty_goes_with_its_last_item() -> None:
    assert remove('{"x": 1, "a": {"b": [1]}}', ("a", "b"), 0) == '{"x": 1}'
    assert remove('{"a": {"b": [1]}, "x": 1}', ("a", "b"), 0) == '{"x": 1}'
    assert remove('{"a": [1, 2, 3]}', ("a",), 0) == '{"a": [2, 3]}'
    assert remove('{"a": [1, 2, 3]}', ("a",), 2) == '{"a": [1, 2]}'
    assert remove('{"a": [1]}\n', ("a",), 0) == "{}\n"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=4), VALUES, max_size=3), VALUES, st.sampled_from([None, 2, "\t"]))
def test_what_is_put_can_be_taken_out_again(before: dict[str, object], item: object, indent: int | str | None) -> None:
    before.pop("hooks", None)
    text = json.dumps(before, indent=indent)
    after = put(text, ("hooks", "E"), item)
    assert json.loads(after) == {**before, "hooks": {"E": [item]}}
    assert json.loads(remove(after, ("hooks", "E"), 0)) == before

"""JSON without the json package agrees with it."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.system import jsontext
from tests.conftest import PROJECT

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20)
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
)


def hides(c: str) -> bool:
    """Whether a terminal obeys `c`, it ends a line, or it turns the reading order."""
    turns = unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    return "\x80" <= c <= "\x9f" or turns or c in "\u061c\u200b\u200e\u200f\u2028\u2029\u2060\ufeff"


HIDING = "".join([c for c in map(chr, range(0x10000)) if hides(c)])
hiding = st.text(st.sampled_from(HIDING + 'a\u4e2d\ud800"\\\n'), max_size=8)


@given(st.dictionaries(hiding, st.lists(hiding, max_size=3), max_size=3))
def test_nothing_in_a_text_hides_and_all_of_it_comes_back(value: object) -> None:
    text = jsontext.encode(value)
    assert not any(hides(c) for c in text)
    assert jsontext.decode(text) == value == json.loads(text)
    shown = jsontext.visible(json.dumps({"\x9b\u202e": 1}, ensure_ascii=False, indent=2))
    assert shown == '{\n  "\\u009b\\u202e": 1\n}'


@given(values)
def test_what_was_encoded_is_decoded_by_both(value: object) -> None:
    text = jsontext.encode(value)
    assert jsontext.decode(text) == value == json.loads(text)
    assert len(text.splitlines()) <= 1
    text.encode()


@given(values)
def test_it_is_written_as_the_json_package_writes_it(value: object) -> None:
    ours = jsontext.encode(value)
    theirs = json.dumps(value, ensure_ascii=False)
    if not any(0xD800 <= ord(c) <= 0xDFFF or hides(c) for c in theirs):
        assert ours == theirs


@pytest.mark.parametrize("text", ["caf\udce9", "\ud800", "a\u2028b\u2029c\x85", "nul\0 del\x7f", '"\\\n'])
def test_hostile_texts_survive_on_one_line(text: str) -> None:
    encoded = jsontext.encode({text: [text]})
    assert len(encoded.encode().decode().splitlines()) == 1
    assert jsontext.decode(encoded) == {text: [text]}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, {1, 2}, b"bytes", object()])
def test_what_json_lacks_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"no JSON form|not JSON compliant"):
        jsontext.encode([value])


def test_nesting_has_an_end() -> None:
    value: object = []
    for _ in range(70):
        value = [value]
    with pytest.raises(ValueError, match="too deeply"):
        jsontext.encode(value)
    with pytest.raises(ValueError, match="too deeply"):
        jsontext.decode("[" * 100_000)


def test_tuples_are_lists_and_keys_are_texts() -> None:
    assert jsontext.encode((1, {2: 3})) == '[1, {"2": 3}]'


@pytest.mark.parametrize(
    "text", ["", "  ", "[1", "1 2", "NaN", "Infinity", "1e999", "[-1e999]", "{'a': 1}", "[1,]", "\ufeff1", "x"]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        jsontext.decode(text)


def test_white_space_around_is_allowed() -> None:
    assert jsontext.decode("\r\n\t [1] \n") == [1]


@pytest.mark.parametrize("text", ['{"a', '"', '{"a": [1', '"\\u12', '"\\x"', '"\n"', "{", "[1,"])
def test_what_is_cut_is_refused_also_where_nobody_loaded_the_json_package(text: str) -> None:
    program = (
        "import sys; sys.path.append(sys.argv[1]); from ahp.system import jsontext\n"
        "try: jsontext.decode(sys.argv[2])\n"
        "except ValueError: print('json.decoder' in sys.modules or 'refused')"
    )
    argv = [sys.executable, "-I", "-S", "-c", program, str(PROJECT), text]
    assert subprocess.run(argv, capture_output=True, check=True, text=True).stdout.strip() in ("refused", "True")


def test_nesting_ends_at_64_and_brackets_in_texts_do_not_nest() -> None:
    value: object = 1
    for _ in range(64):
        value = [value]
    assert jsontext.decode(jsontext.encode(value)) == value
    with pytest.raises(ValueError, match="too deeply"):
        jsontext.encode([value])
    assert jsontext.decode(jsontext.encode(["[{" * 100, *([[1]] * 100)])) == ["[{" * 100, *([[1]] * 100)]


class Inner(jsontext.Record):
    fields = ("a",)
    __slots__ = fields
    a: int


class Outer(jsontext.Record):
    fields = ("one", "many", "named", "plain")
    __slots__ = (*fields, "own")
    parts = {"one": Inner, "many": [Inner], "named": {str: Inner}}  # noqa: RUF012
    one: Inner | None
    many: list[Inner]
    named: dict[str, Inner]
    plain: object


def test_a_record_is_the_list_of_its_fields() -> None:
    made = Outer(one=Inner(a=1), many=[Inner(a=2)], named={"x": Inner(a=3)}, plain=[1, {"y": None}])
    made.own = "not written"
    text = jsontext.encode({"made": made})
    assert text == '{"made": [[1], [[2]], {"x": [3]}, [1, {"y": null}]]}'
    found = Outer.of(json.loads(text)["made"])
    assert (found.one.a, found.many[0].a, found.named["x"].a, found.plain) == (1, 2, 3, [1, {"y": None}])
    assert found.own is None
    assert Outer.of([None, [], {}, 0]).one is None


@pytest.mark.parametrize("value", [[], [1, 2], {}, {"a": 1}, 7, None])
def test_what_has_other_fields_is_no_such_record(value: object) -> None:
    with pytest.raises(ValueError, match="not the 1 fields of a Inner"):
        Inner.of(value)
    with pytest.raises(TypeError, match="takes a; given were"):
        Inner(b=1)

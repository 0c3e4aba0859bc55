from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.policy.problems import Place, PolicyError
from ahp.policy.yamltext import MAX_BYTES, parse


def refused(text: str | bytes) -> str:
    with pytest.raises(PolicyError) as caught:
        parse(text.encode() if isinstance(text, str) else text, "f")
    return str(caught.value)


@pytest.mark.parametrize("text", ["", "# a comment\n", "---\n", "~\n"])
def test_a_file_without_a_document_gives_no_tree(text: str) -> None:
    assert parse(text.encode(), "f") is None


def test_values_are_those_of_the_core_schema() -> None:
    text = "a: 1\nb: [1.5, true, null, ~, 'x', \"y\", yes, 2026-01-02, 1e3, -4]\nc: {d: ''}\n"
    tree = parse(text.encode(), "f")
    assert tree is not None
    assert tree.plain() == {
        "a": 1,
        "b": [1.5, True, None, None, "x", "y", "yes", "2026-01-02", 1000.0, -4],
        "c": {"d": ""},
    }


def test_every_key_and_value_knows_its_place() -> None:
    tree = parse(b"rules:\n  x:\n    at: [a, 'b']\n    block: |\n\n      one\n", "f")
    assert tree is not None
    assert tree.key_place(("rules", "x")) == Place("f", 2, 3)
    assert tree.at(("rules", "x", "at", 1)).place == Place("f", 3, 13)
    assert tree.at(("rules", "x", "at", 1)).text_place == Place("f", 3, 14)
    assert tree.at(("rules", "x", "block")).text_place == Place("f", 6, 7)
    assert tree.key_place(("rules", "x", "at", 0)) == Place("f", 3, 10)
    assert tree.key_place(()) == Place("f", 1, 1)
    assert str(tree.at(("rules", "tag", "x")).place) == "f:3:5"


def test_a_block_scalar_without_text_stands_where_it_begins() -> None:
    tree = parse(b"a: |\n", "f")
    assert tree is not None and tree.at(("a",)).text_place == Place("f", 1, 4)


def test_a_byte_order_mark_is_passed_over() -> None:
    tree = parse(b"\xef\xbb\xbfa: 1", "f")
    assert tree is not None and tree.plain() == {"a": 1}


def test_aliases_are_followed() -> None:
    tree = parse(b"a: &x [1, 2]\nb: *x\nc: &y z\nd: *y\n", "f")
    assert tree is not None and tree.plain() == {"a": [1, 2], "b": [1, 2], "c": "z", "d": "z"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\x00\xff", "f:1:2: byte 0xff is not UTF-8 text"),
        (b"a: 1\nb: \xfe", "f:2:4: byte 0xfe"),
        (b"a\x00", "f:1:2: control character U+0000"),
        (b"x" * (MAX_BYTES * 10), "f:1:1: the file has 10485760 bytes; at most 1048576 are read"),
        ("[" * 100_000, "nested deeper than 32 levels"),
        ("a: &a [*a]", "f:1:8: the alias *a refers to itself"),
        ("a: *b", "the alias *b names no anchor"),
        ("a: 1\na: 2\n", "f:2:1: the key 'a' is already given in line 1"),
        ("on: 1", "f:1:1: the bare key `on` is read as true or false by most YAML readers"),
        ("1: a", "f:1:1: a key must be text, not 1; quote it"),
        ("true: a", "a key must be text, not True"),
        ("~: a", "a key must be text, not empty"),
        ("? [a]\n: b\n", "a key must be text, not a list"),
        ("? {a: b}\n: b\n", "a key must be text, not a mapping"),
        ("<<: {a: b}", "f:1:1: the merge key `<<` is not read"),
        ("a: !!python/object:x y", "YAML tags are not read"),
        ("a: !!set {b}", "YAML tags are not read"),
        ("a: 1\n---\nb: 1\n", "f:2:1: a second document begins here"),
        ("a: 010", "010 is read as octal by some"),
        ("a: 1e999", "too large for a number"),
        ("a: \tb\n\tc: d", "f:2:1: not YAML: found a tab character"),
        ("a:\n\tb: c", "any token; indent with spaces, not tabs"),
        ("a: [1", "f:1:4: the `[` that opens here is never closed"),
    ],
)
def test_what_is_refused_names_its_place(text: str | bytes, said: str) -> None:
    assert said in refused(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "r:\n  a:\n    at: x\n   block: y\n",
            "f:4:4: this line begins behind 3 spaces; what fits there is 4 (as line 3) or",
        ),
        ("r:\n  at: x\n      block: y\n", "f:3:7: this line begins behind 6 spaces; what fits there is 2 (as line 2)"),
        (
            "r:\n  a: >\n     b\n   c\n  d: e\n",
            "f:4:4: this line begins behind 3 spaces; what fits there is 5 (as line 3)",
        ),
        ("version:1\nrules: {}\n", "f:1:8: a space is missing behind the colon\n    write: version: 1"),
        ("rules:\n  a:{at: x, b: y}\n", "f:2:4: a space is missing behind the colon\n    write: a: {at: x, b: y}"),
        ("a: {b: c\nd: {e: f}\n", "f:2:2: the `{` of line 1 is not closed, or a comma is missing"),
        ("a: [b, c\nd: {e: f}\n", "the `[` of line 1 is not closed, or a comma is missing"),
        ('a: "b\nc: d\n', "f:1:4: the quote that opens here is never closed"),
        ("a: [b, 'c]\n", "f:1:8: the quote that opens here is never closed"),
        ("a: http://x: y\n", 'write: a: "http://x: y"'),
        ("a: b\nc:\n  d: [\n", "f:3:6: the `[` that opens here is never closed"),
        ("a: {b: c, d: e[0], f: g # }\n", "f:1:4: the `{` that opens here is never closed"),
        ("a: {b: '}'\n", "f:1:4: the `{` that opens here is never closed"),
        ("a:\n  b: {c: d}}\n", "f:2:12: this `}` closes nothing"),
        ("a:\n  b: >-\n  c == 'd'\n", "f:3:3: the text that line 2 begins has to stand further in than its key"),
        (
            "a: {at: b block: c, d: e}\n",
            "f:1:10: a comma is missing before `block`\n    write: a: {at: b, block: c, d: e}",
        ),
        ("r:\n  a\n    at: x\n", "f:2:4: a colon is missing here\n    write: a:"),
        ("a: b: c\n", "f:1:5: a colon with a space behind it begins another value; the value needs quotes"),
        ("a:\n  - *.lock\n", "f:2:6: no value begins with `*`; the value needs quotes"),
        ('a: "x\\d"\n', "f:1:6: in double quotes a backslash begins an escape; write single ones"),
        (
            "a: {b: %d files}\n",
            'f:1:8: no value begins with `%`; the value needs quotes\n    write: a: {b: "%d files"}',
        ),
    ],
)
def test_lines_that_yaml_cannot_put_together_say_what_is_wrong_with_them(text: str, said: str) -> None:
    assert said in refused(text)


def test_an_alias_bomb_is_refused() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]")
    assert "more than 300000 values" in refused("\n".join(lines))


def test_all_problems_are_named_at_once() -> None:
    said = refused("a: 1\na: 2\n2: x\n<<: {}\n")
    assert [line.split(":")[1] for line in said.splitlines()] == ["2", "3", "4"]


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        ("block: !has(issue.id)", "block: not has(issue.id)"),
        ("block: !tests.is_stale", "block: not tests.is_stale"),
        ("x: {at: pre-push, block: !has(issue.id)}", "x: {at: pre-push, block: not has(issue.id)}"),
        ("block: 'main' in branch.name", "block: \"'main' in branch.name\""),
        ('block: "main" in branch.name', "block: '\"main\" in branch.name'"),
        ("x: {at: pre-push, block: 'main' in branch.name}", "x: {at: pre-push, block: \"'main' in branch.name\"}"),
        ("x: {block: glob(p, 'a'), at: b}", "x: {block: \"glob(p, 'a')\", at: b}"),
        ("condition: env.X == 'a: b'", "condition: \"env.X == 'a: b'\""),
        ("message: {files.changed_count} files", 'message: "{files.changed_count} files"'),
        ("block: commit.subject == 'see #12'", "block: \"commit.subject == 'see #12'\""),
        ("message: 50% done: look", 'message: "50% done: look"'),
        ("block: @x", 'block: "@x"'),
        ("block: 'branch.name == 'main''", "block: \"branch.name == 'main'\""),
        ("x: {block: 'branch.name == 'main'', at: b}", "x: {block: \"branch.name == 'main'\", at: b}"),
        ("x: {message: {a.b} files, at: b}", 'x: {message: "{a.b} files", at: b}'),
        ("- 'a' in b", "- \"'a' in b\""),
        ("block: 'a' in b or c == 'd'", "block: \"'a' in b or c == 'd'\""),
        ("message: 'it's wrong'", 'message: "it\'s wrong"'),
        ("- *.lock", '- "*.lock"'),
        ("made: [*.lock, a.b, *.map] # x", 'made: ["*.lock", a.b, "*.map"] # x'),
        ("fix: [`git add`]", 'fix: ["`git add`"]'),
        ("x: {block: a in {'b', 'c'}, at: d}", "x: {block: \"a in {'b', 'c'}\", at: d}"),
        ("block: \"matches(a, '\\d')\"", "block: 'matches(a, ''\\d'')'"),
        ('x: {a: "\\d", b: "c"}', "x: {a: '\\d', b: \"c\"}"),
    ],
)
def test_a_frequent_slip_is_shown_mended(line: str, mended: str) -> None:
    assert refused(f"  {line}\n").splitlines()[-1].strip() == f"write: {mended}"


@pytest.mark.parametrize("text", ["a: don't # can't", "a: x # 'y'", "a: 'b' # it's", "a: b == 'c' # 'd'"])
def test_a_comment_behind_a_whole_value_stays_one(text: str) -> None:
    tree = parse(text.encode(), "f")
    assert tree is not None


def test_a_mistake_beside_a_date_that_is_no_day_is_told() -> None:
    assert refused("limits: {d: 2024-13-99, e: *.py}\n").startswith("f:1:29: not YAML: ")


def test_a_flow_mapping_with_a_mistake_inside_is_not_quoted_whole() -> None:
    assert "write:" not in refused("x: {a: b, c")


@given(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_bytes_give_a_tree_or_a_policy_error(data: bytes) -> None:
    try:
        parse(data, "f")
    except PolicyError as error:
        assert all(problem.place.line >= 1 and problem.place.column >= 1 for problem in error.problems)


@given(st.lists(st.sampled_from([*"a-[]{},'\"!&*|>#%@\n:?1", "b:", "true", "<<"]), max_size=12))
def test_any_yaml_like_text_gives_a_tree_or_a_policy_error(parts: list[str]) -> None:
    try:
        parse(" ".join(parts).encode(), "f")
    except PolicyError as error:
        assert error.problems

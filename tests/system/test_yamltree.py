from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.system.yamltree import Node, Place, YamlError, decode, read


def tree(text: str, *, texts: bool = False) -> Node:
    node = read(text, "f", texts=texts)
    assert node is not None
    return node


def refused(text: str, *, texts: bool = False) -> list[str]:
    with pytest.raises(YamlError) as caught:
        read(text, "f", texts=texts)
    return [f"{fault.place}: {fault.what}" for fault in caught.value.faults]


@pytest.mark.parametrize("text", ["", "# a comment\n", "---\n", "~\n"])
@pytest.mark.parametrize("texts", [True, False])
def test_text_without_a_document_gives_no_tree(text: str, texts: bool) -> None:
    assert read(text, "f", texts=texts) is None


def test_scalars_are_typed_or_stay_text() -> None:
    text = "a: [010x, on, true, 1.5, ~, '~', 2026-01-02]"
    assert tree(text).at(("a",)).plain() == ["010x", "on", True, 1.5, None, "~", "2026-01-02"]
    assert tree(text, texts=True).at(("a",)).plain() == ["010x", "on", "true", "1.5", None, "~", "2026-01-02"]


def test_offsets_cut_out_what_was_written() -> None:
    text = "---\r\na: '登'\r\nb:\r\n- x # c\r\n- [1, y]\r\n"
    node = tree(text, texts=True)
    quoted, item, flow = node.at(("a",)), node.at(("b", 0)), node.at(("b", 1))
    assert [text[n.start : n.end] for n in (quoted, item, flow)] == ["'登'", "x", "[1, y]"]
    assert (quoted.bare, item.bare, flow.flow, node.at(("b",)).flow) == (False, True, True, False)
    assert text[: quoted.key_end].endswith("a") and text[: node.at(("b",)).key_end].endswith("\nb")
    assert (item.line, item.place, quoted.text_place) == (4, Place("f", 4, 3), Place("f", 2, 5))


@pytest.mark.parametrize("name", ["0085", "2028", "2029", "061C", "200F", "202E", "2066"])
def test_what_hides_how_a_line_reads_is_refused_outside_quotes(name: str) -> None:
    char = chr(int(name, 16))
    for texts in (True, False):
        assert refused(f"a: 1\nb: x{char}y\n", texts=texts)[0].startswith(f"f:2:5: U+{name} outside quotes")
        assert refused(f"a: 1 # off{char}b: 2\n", texts=texts)[0].startswith(f"f:1:11: U+{name} outside quotes")
        assert f"U+{name} outside quotes" in "".join(refused(f"a: |\n  x{char}y\n", texts=texts))
        assert f"U+{name} outside quotes" in "".join(refused(f"a: [1{char}\n  ]]", texts=texts))
        assert tree(f"a: 'x{char}y'\nb: \"{char}\"\n", texts=texts).plain()


def test_anchors_aliases_and_tags_are_refused_where_all_is_text() -> None:
    for text in ("a: &x y", "a: *x", "a: !!str y", "a: !x {}"):
        assert refused(text, texts=True) == ["f:1:4: anchors, aliases and tags are not read here; write the value out"]


def test_a_key_that_other_readers_take_for_a_truth_value_is_text_where_all_is() -> None:
    assert tree("on: 1\n<<: 2\n3: x\n", texts=True).plain() == {"on": "1", "<<": "2", "3": "x"}


def test_every_fault_is_told_with_what_could_be_read() -> None:
    with pytest.raises(YamlError) as caught:
        read("a: 1\na: 2\nb: !x y\n", "f")
    assert [fault.place.line for fault in caught.value.faults] == [2, 3]
    assert caught.value.root is not None and caught.value.root.plain() == {"a": 1, "b": "y"}
    assert str(caught.value).splitlines()[0] == "f:2:1: the key 'a' is already given in line 1; keep one of them"


def test_what_is_never_closed_is_at_fault_where_it_opens() -> None:
    assert refused("a: 1\nb: [1,\n\n\n")[0].startswith("f:2:")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x" * 11, "f:1:1: the file has 11 bytes; at most 10 are read"),
        (b"a\n\xff", "f:2:1: byte 0xff is not UTF-8 text"),
        (b"\xff\xfea\x00", "f:1:1: is not UTF-8 but UTF-16"),
    ],
)
def test_bytes_that_are_no_text_are_refused(data: bytes, said: str) -> None:
    with pytest.raises(YamlError, match=said):
        decode(data, "f", 10)


def test_a_byte_order_mark_is_passed_over() -> None:
    assert decode(b"\xef\xbb\xbfa", "f", 10) == "a"


@given(st.text(alphabet="ab:- \n'\"[]{}#,|>&*!?1~\u2028\u202e\t", max_size=40), st.booleans())
def test_any_text_gives_a_tree_or_faults_at_their_places(text: str, texts: bool) -> None:
    try:
        node = read(text, "f", texts=texts)
    except YamlError as error:
        assert all(fault.place.line >= 1 and fault.place.column >= 1 for fault in error.faults)
    else:
        assert node is None or node.plain() is not None

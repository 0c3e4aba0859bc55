from __future__ import annotations

import pytest

from ahp.tickets import frontmatter
from ahp.tickets.frontmatter import TicketError


def problem(data: bytes) -> str:
    with pytest.raises(TicketError) as caught:
        frontmatter.parse("a.md", data)
    return str(caught.value)


def test_scalars_stay_text_and_null_is_none() -> None:
    text = (
        "---\nid: 010\nat: 2026-11-20 09:18:10\nyes: on\nempty:\ntilde: ~\nnull_: null # c\nquoted: 'null'\n---\nbody\n"
    )
    front = frontmatter.parse("a.md", text.encode())
    assert {key: node.value for key, node in front.keys.items()} == {
        "id": "010",
        "at": "2026-11-20 09:18:10",
        "yes": "on",
        "empty": None,
        "tilde": None,
        "null_": None,
        "quoted": "null",
    }
    assert (front.body, front.body_line, front.keys["quoted"].line) == ("body\n", 10, 8)


def test_a_bom_and_crlf_are_seen_through() -> None:
    front = frontmatter.parse("a.md", b"\xef\xbb\xbf---\r\nid: \xe7\x99\xbb\r\n---\r\nbody\r\n")
    assert (front.bom, front.newline, front.body) == (True, "\r\n", "body\r\n")
    node = front.keys["id"]
    assert front.text[node.start : node.end] == node.value == "登"


def test_an_empty_front_matter_has_no_keys() -> None:
    front = frontmatter.parse("a.md", b"---\n# nothing\n---")
    assert (front.keys, front.body) == ({}, "")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "a.md:1: has no front matter"),
        (b"# Title\n", "a.md:1: has no front matter"),
        (b"----\nid: x\n---\n", "a.md:1: has no front matter"),
        (b"---", "a.md:1: the front matter is never closed"),
        (b"---\nid: x\n", "a.md:1: the front matter is never closed"),
        (b"---\nid: x\n  ---\n", "a.md:1: the front matter is never closed"),
        (b"---\nid: x\nstatus: [open\n---\n", "a.md:3: the front matter is not YAML"),
        (b"---\nid: x\n\tstatus: y: z\n---\n", "a.md:"),
        (b"---\nid: x\nstatus: \x01\n---\n", "a.md:3: the front matter is not YAML"),
        (
            b"---\nid: x\nid: y\n---\n",
            "a.md:3: the front matter cannot be read: the key 'id' is already given in line 2",
        ),
        (b"---\na: {b: 1, b: 2}\n---\n", "the key 'b' is already given in line 2"),
        (b"---\n- a\n---\n", "a.md:2: the front matter is not a mapping"),
        (b"---\nid: x\n? [a]\n: b\n---\n", "a.md:3: the front matter cannot be read: a key must be text, not a list"),
        (
            b"---\nid: x\n<<<<<<< HEAD\nstatus: open\n=======\nstatus: done\n>>>>>>> b\n---\n",
            "a.md:3: a merge conflict in the front matter is not resolved",
        ),
        (b"---\na: &x y\n---\n", "a.md:2: the front matter cannot be read: anchors"),
        (b"---\na: *x\n---\n", "a.md:2: the front matter cannot be read: anchors"),
        (b"---\na: !!python/object:os.system x\n---\n", "a.md:2: the front matter cannot be read: anchors"),
        (b"---\na: 1\n...\n%YAML 1.1\n--- \nb\n---\n", "a.md:"),
        (b"---\na: 1\n... \n--- b\n---\n", "a second document begins here"),
        (b"---\na: " + b"[" * 40 + b"]" * 40 + b"\n---\n", "nested deeper than 32"),
        (
            "---\nid: x\nstatus: open # \u2028stage: done\n---\n".encode(),
            "a.md:3: the front matter cannot be read: U+2028",
        ),
        (b"---\nid: \xff\n---\n", "a.md:2: byte 0xff is not UTF-8"),
        ("---\nid: x\n---\n".encode("utf-16"), "a.md:1: is not UTF-8 but UTF-16"),
        (b" " * (frontmatter.LIMIT + 1), "a.md:1: the file has 8388609 bytes"),
    ],
)
def test_what_cannot_be_read_says_where(data: bytes, said: str) -> None:
    assert said in problem(data)


def test_a_bomb_of_brackets_is_refused_and_not_crashed_on() -> None:
    assert problem(b"---\na: " + b"[" * 900_000 + b"\n---\n").startswith("a.md:2: ")


def test_a_plain_document_is_read_whole() -> None:
    assert frontmatter.document("w.yaml", b"") is None
    node = frontmatter.document("w.yaml", b"\xef\xbb\xbfa: b\n")
    assert node is not None and node.line == 1

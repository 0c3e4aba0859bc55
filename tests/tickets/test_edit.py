from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from ahp.tickets import frontmatter
from ahp.tickets.edit import Value, edit_keys, scalar
from ahp.tickets.frontmatter import TicketError

SAMPLES = sorted((Path(__file__).parent.parent / "data" / "monoco").glob("*.md"))

SEED = """\
---
# the head
id: FEAT-0001   # its id
stage:  draft # where it stands
"status" : 'open'
solution: # later
files: [] # filled by submit
tags:
# first
- a # one
# second
- 'b'

- c
# tail
title: "登 \\u767b"
folded: >
  some
  text
last: {a: 1}
# the end
---
body --- \r
"""


def edited(**changes: Value) -> str:
    return edit_keys(SEED.encode(), changes, "a.md").decode()


@pytest.mark.parametrize(
    ("changes", "before", "after"),
    [
        ({"stage": "doing"}, "stage:  draft #", "stage:  doing #"),
        ({"status": "closed"}, "\"status\" : 'open'", '"status" : closed'),
        ({"solution": "wontfix"}, "solution: # later", "solution: wontfix # later"),
        ({"title": "a: b"}, '"登 \\u767b"', "'a: b'"),
        ({"title": "登 登"}, "", ""),
        ({"files": ["x", "#y"]}, "files: [] # filled by submit\n", "files:  # filled by submit\n- x\n- '#y'\n"),
        ({"files": "x"}, "files: []", "files: x"),
        ({"files": []}, "", ""),
        ({"solution": ["x"]}, "solution: # later\n", "solution: # later\n- x\n"),
        ({"stage": ["x"]}, "stage:  draft #", "stage:   #"),
        ({"title": ["x"]}, 'title: "登 \\u767b"\n', "title:\n- x\n"),
        ({"tags": ["a", "b", "c"]}, "", ""),
        ({"tags": ["b", "d"]}, "- a # one\n# second\n- 'b'\n\n- c\n", "- b\n- d\n"),
        ({"tags": []}, "tags:\n# first\n- a # one\n# second\n- 'b'\n\n- c\n", "tags: []\n# first\n"),
        ({"tags": "x"}, "tags:\n# first\n- a # one\n# second\n- 'b'\n\n- c\n", "tags: x\n# first\n"),
        ({"new": "1"}, "# the end\n", "# the end\nnew: '1'\n"),
        ({"new": ["1"], "newer": []}, "# the end\n", "# the end\nnew:\n- '1'\nnewer: []\n"),
    ],
)
def test_only_the_key_changes(changes: dict[str, Value], before: str, after: str) -> None:
    changed = edited(**changes)
    if "stage" in changes and isinstance(changes["stage"], list):
        after, before = f"{after} where it stands\n- x\n", f"{before} where it stands\n"
    assert changed == SEED.replace(before, after) if before else changed == SEED


def test_a_capitalised_key_is_changed_in_its_spelling() -> None:
    assert edit_keys(b"---\nStage: Draft\n---\n", {"stage": "doing"}) == b"---\nStage: doing\n---\n"


def test_indented_and_empty_front_matter_take_new_keys() -> None:
    assert edit_keys(b"---\n  a: b\n---\n", {"c": ["d"]}) == b"---\n  a: b\n  c:\n  - d\n---\n"
    assert edit_keys(b"---\n---\n", {"c": "d"}) == b"---\nc: d\n---\n"


def test_deeper_lists_keep_their_indentation() -> None:
    assert edit_keys(b"---\na:\n    -   b\n---\n", {"a": ["b", "c"]}) == b"---\na:\n    -   b\n    -   c\n---\n"


def test_a_bom_and_crlf_stay() -> None:
    data = b"\xef\xbb\xbf---\r\nstage: draft\r\nfiles: []\r\n---\r\nbody\n"
    changed = edit_keys(data, {"stage": "doing", "files": ["a"], "x": "z"})
    assert changed == b"\xef\xbb\xbf---\r\nstage: doing\r\nfiles:\r\n- a\r\nx: z\r\n---\r\nbody\n"


@pytest.mark.parametrize(
    ("text", "changes", "said"),
    [
        ("{a: b}", {"a": "c"}, "a.md:2: the front matter stands in braces"),
        ("a: {b: c}", {"a": "c"}, "a.md:2: a mapping or a block of text"),
        ("a: |\n  b", {"a": "c"}, "a.md:2: a mapping or a block of text"),
        ("a:\n- b: c", {"a": ["c"]}, "a.md:3: an entry of the list is not one text"),
        ("a:\n- - b", {"a": ["c"]}, "a.md:3: an entry of the list is not one text"),
        ("a:\n-\n  b", {"a": ["c"]}, "a.md:4: an entry of the list is not one text"),
        ("a:\n-", {"a": ["c"]}, "an entry of the list is not one text"),
        ("a: b\n...", {"c": "d"}, "edit it by hand"),
        ("a: b\n... #", {"c": "d"}, "edit it by hand"),
        ("a: b", {"c d": "e"}, "a.md: `c d` cannot be a key"),
        ("? a\n: b", {"a": "x", "c": "d"}, ""),
    ],
)
def test_what_cannot_be_changed_alone_is_refused(text: str, changes: dict[str, Value], said: str) -> None:
    data = f"---\n{text}\n---\n".encode()
    if not said:
        assert frontmatter.parse("", edit_keys(data, changes)).root.plain() == changes
        return
    with pytest.raises(TicketError) as caught:
        edit_keys(data, changes, "a.md")
    assert said in str(caught.value)


def test_a_result_that_says_something_else_is_never_given_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ahp.tickets.edit.scalar", lambda text: f"other # {text}")
    with pytest.raises(TicketError, match="without touching other keys; edit it by hand"):
        edited(stage="doing")


@given(st.text())
def test_a_scalar_is_read_back_as_the_same_text_by_any_reader(text: str) -> None:
    assume(not any(0xD800 <= ord(c) <= 0xDFFF for c in text))
    for template in ("k: {}\n", "k: {} # c\n", "- {}\n"):
        loaded = yaml.safe_load(template.format(scalar(text)))
        assert (loaded["k"] if isinstance(loaded, dict) else loaded[0]) == text


DOUBLE, SINGLE = '"{}"'.format, lambda text: "'" + text.replace("'", "''") + "'"  # the words below need no escapes
words = st.sampled_from(["draft", "doing", "a b", "x.py", "登录", "#t", "null", "", "2026-01-01", "it's", "a: b", "-"])
comments = st.sampled_from(["", " # why", "  #x: - y"])
keys = st.sampled_from(["id", "stage", "status", "files", "tags", "title", "Solution"])
values = st.one_of(words, st.lists(words, max_size=4))
breaks = st.sampled_from(["\n", "\r\n"])


@st.composite
def tickets(draw: st.DrawFn) -> str:
    """A ticket whose front matter is written in many ways."""
    lines: list[str] = []
    for key in draw(st.lists(keys, unique=True)):
        lines += draw(st.sampled_from([[], [], ["# - above: it"], [""]]))
        value, comment = draw(values), draw(comments)
        quote = draw(st.sampled_from([scalar, DOUBLE, SINGLE]))
        if isinstance(value, str):
            lines.append(f"{key}: {quote(value)}{comment}" if value else f"{key}:{comment}")
        elif draw(st.booleans()) or not value:
            lines.append(f"{key}: [{', '.join(quote(item) for item in value)}]{comment}")
        else:
            lead = draw(st.sampled_from(["- ", "  - ", "-   "]))
            lines.append(f"{key}:{comment}")
            for item in value:
                lines += draw(st.sampled_from([[], [], ["  # between"], [""]]))
                lines.append(f"{lead}{quote(item)}{draw(comments)}")
    end = draw(breaks)
    body = draw(st.text(alphabet=st.sampled_from("-# []x\n\r登"), max_size=30))
    return draw(st.sampled_from(["", "\ufeff"])) + end.join(["---", *lines, "---", ""]) + body


@given(tickets(), st.dictionaries(keys, values, max_size=3))
def test_whatever_is_changed_every_other_line_stays(text: str, changes: dict[str, Value]) -> None:
    before = frontmatter.parse("", text.encode())
    result = edit_keys(text.encode(), changes)
    after = frontmatter.parse("", result)
    assert after.root.plain() == before.root.plain() | changes  # type: ignore[operator]
    assert (after.body, after.bom) == (before.body, before.bom)
    lines, kept = text.split("\n"), result.decode().split("\n")
    for line in lines:  # comments on lines of their own
        if line.lstrip().startswith("#"):
            assert kept.count(line) >= lines.count(line)
    untouched = [key for key in before.keys if key not in changes]
    for key in untouched:
        node, again = before.keys[key], after.keys[key]
        assert before.text[node.start : node.end] == after.text[again.start : again.end]
    assert [key for key in after.keys if key in before.keys] == list(before.keys)


@given(st.sampled_from(SAMPLES), st.dictionaries(keys, values, max_size=3))
def test_a_change_and_its_reverse_give_back_the_values_of_monocos_files(path: Path, changes: dict[str, Value]) -> None:
    data = path.read_bytes()
    before = frontmatter.parse("", data).root.plain()
    assert isinstance(before, dict)
    back = {key: before[key] for key in changes if isinstance(before.get(key), str | list)}
    assert edit_keys(data, {}) == data
    assert edit_keys(data, back) == data
    again = frontmatter.parse("", edit_keys(edit_keys(data, changes), back)).root.plain()
    assert again == before | {key: value for key, value in changes.items() if key not in back}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_words_of_monocos_files_change_and_change_back_byte_for_byte(path: Path) -> None:
    data = path.read_bytes()
    stage = frontmatter.parse("", data).keys["stage"].value
    assert isinstance(stage, str)
    changed = edit_keys(data, {"stage": "freezed"})
    assert [line for line in changed.splitlines() if line not in data.splitlines()] == [b"stage: freezed"]
    assert edit_keys(changed, {"stage": stage}) == data

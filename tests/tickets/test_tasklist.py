from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.tickets.tasklist import scan, visible_lines


def states(body: str) -> list[tuple[str, str]]:
    return [(box.section, box.state) for box in scan(body, 1)]


def test_every_mark_has_its_state() -> None:
    body = "\n".join(f"- [{mark}] item" for mark in " xX/-~+")
    assert [box.state for box in scan(body, 1)] == ["todo", "done", "done", "doing", "doing", "cancelled", "cancelled"]


def test_other_bullets_are_boxes_and_links_are_not() -> None:
    body = "* [ ] a\n+ [ ] b\n1. [ ] c\n2) [ ] d\n-[ ] e\n\t- [ ] f\n- [x](http://x)\n- [1] g\n*[ ] i\n- [WIP] k"
    assert [box.text for box in scan(body, 1)] == ["a", "b", "c", "d", "e", "f"]


def test_boxes_that_are_quoted_or_nested_are_boxes() -> None:
    body = "> - [ ] a\n> > 1. [x] b\n- - [ ] c\n1. * [/] d\n>\t-\t[ ] e\n> [ ] f\n- - g [ ]"
    assert [(box.text, box.state) for box in scan(body, 1)] == [
        ("a", "todo"),
        ("b", "done"),
        ("c", "todo"),
        ("d", "doing"),
        ("e", "todo"),
    ]


def test_what_only_looks_like_a_box_is_open() -> None:
    boxes = scan("- ☐ a\n* ☑ b\n- ［ ］ c\n- ［x］d\n- 【　】 e\n- [　] f\n☐ g\n- 【需求】 h\n- ✅ i\n", 1)
    assert [(box.text, box.state) for box in boxes] == [(text, "invalid") for text in "abcdef"]


def test_a_mark_that_nobody_knows_makes_an_open_box() -> None:
    boxes = scan("- [v] a\n* [] b\n1. [  ] c\n- [✓] d\n- [xx] e\n- [?]\n", 1)
    assert [box.text for box in boxes] == ["a", "b", "c", "d", "e", ""]
    assert all(box.state == "invalid" and box.is_open for box in boxes)


@pytest.mark.parametrize(
    ("heading", "section"),
    [
        ("## Acceptance Criteria", "acceptance"),
        ("### 验收标准", "acceptance"),
        ("## 交付目标 ##", "acceptance"),
        ("## Technical Tasks", "tasks"),
        ("## 技术任务", "tasks"),
        ("## 任务清单", "tasks"),
        ("## Implementation plan", "tasks"),
        ("## Review Comments", "review"),
        ("## 评审记录", "review"),
        ("## Explanation", ""),
        ("## Objective", ""),
        ("#NoHeading", "tasks"),
        ("####### Review", "tasks"),
        ("##验收标准", "acceptance"),
        ("#验收", "tasks"),
        ("- Review\n---", "tasks"),
        ("\n---", "tasks"),
    ],
)
def test_headings_in_english_and_chinese_open_sections(heading: str, section: str) -> None:
    assert states(f"# Title\n## Tasks\n{heading}\n- [ ] x") == [(section, "todo")]


def test_a_subheading_goes_on_and_another_heading_ends_the_section() -> None:
    body = "## Tasks\n### Back end\n- [ ] a\n#### Review of it\n- [ ] b\n### Notes\n- [ ] c\n## Notes\n- [ ] d"
    assert [box.section for box in scan(body, 1)] == ["tasks", "review", "review", ""]


def test_a_title_opens_no_section() -> None:
    assert states("# 实现用户登录功能\n- [ ] a\n# Tasks\n- [ ] b") == [("", "todo"), ("tasks", "todo")]
    body = "## FEAT-0001: Review plan\n- [ ] a"
    assert [box.section for box in scan(body, 1, "FEAT-0001")] == [""]


def test_comments_and_fences_hold_no_boxes() -> None:
    body = """<!-- - [ ] a --> x
- [ ] b <!-- c --> <!-- d -->
<!--
- [ ] e
--> - [ ] f
```text
- [ ] g
~~~
- [ ] h
````
- [ ] i
   ~~~
- [ ] j
   ~~~~
- [ ] k
"""
    assert [box.text.strip() for box in scan(body, 1)] == ["b", "f", "i", "k"]


@pytest.mark.parametrize(
    "body",
    [
        "<!-- never closed\n- [ ] a",
        "<!-->\n- [ ] a",
        "```\n- [ ] a",
        "````\n- [ ] a\n```",
        "~~~\n- [ ] a\n```",
        "```not a`fence\n- [ ] a\n```",
        "write `<!--` to begin\n- [ ] a\nand `-->` to end",
        "--> <!--\n- [ ] a",
    ],
)
def test_what_is_never_closed_hides_nothing(body: str) -> None:
    assert [box.text for box in scan(body, 1)] == ["a"]


def test_a_lone_backtick_does_not_save_a_comment() -> None:
    assert [box.text for box in scan("it`s <!--\n- [ ] a\n-->\n- [ ] b", 1)] == ["b"]


def test_ids_come_from_the_text_or_from_the_place() -> None:
    body = "- [ ] loose\n## Tasks\n- [x] one\n- [ ] chk-003: 完成 API 文档\n- [ ] chk-4：十"
    boxes = scan(body, 10)
    assert [(box.id, box.label, box.line) for box in boxes] == [
        ("box-1", "loose", 10),
        ("tasks-1", "one", 12),
        ("chk-003", "chk-003: 完成 API 文档", 13),
        ("chk-4", "chk-4: 十", 14),
    ]


def test_a_box_without_a_text_is_called_by_its_place() -> None:
    assert [box.label for box in scan("## Tasks\n- [ ]\n- [ ] chk-4:\n- [ ] a", 1)] == ["tasks-1", "chk-4", "a"]


def test_a_carriage_return_alone_ends_a_line() -> None:
    assert states("## Tasks\r- [x] a\r- [ ] b") == [("tasks", "done"), ("tasks", "todo")]


def test_an_empty_comment_is_closed() -> None:
    assert [box.text for box in scan("<!-->\n- [ ] a\n<!--->\n- [ ] b\n<!---->\n- [ ] c\n-->\n- [ ] d", 1)] == list(
        "abcd"
    )


def test_lines_end_with_crlf_too() -> None:
    assert [(box.text, box.section) for box in scan("## Tasks\r\n- [ ] a\r\n- [x]\r\n", 1)] == [
        ("a", "tasks"),
        ("", "tasks"),
    ]


@given(st.text(alphabet=st.sampled_from("<!->`~x[] \n-")))
def test_any_text_is_scanned_and_no_line_is_made_up(body: str) -> None:
    lines = body.split("\n")
    for number, line in visible_lines(body):
        assert len(line) <= len(lines[number - 1])


@pytest.mark.no_cover
@pytest.mark.parametrize("line", ["<!--", "```x", "- [ ] a", "> - " * 9, "# " + " " * 40 + "b", "`" * 40 + "x`", "~~~"])
def test_a_megabyte_of_one_line_is_read_in_one_pass(line: str) -> None:
    body = (line + "\n") * (1_000_000 // (len(line) + 1))
    assert len(scan(body, 1)) in (0, body.count("\n"))


def test_a_megabyte_in_one_line_is_read_in_one_pass() -> None:
    assert scan("# " + "  " * 500_000 + "x\n" + "<!--" * 250_000, 1) == []

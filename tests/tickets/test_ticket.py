from __future__ import annotations

import json
from pathlib import Path

import pytest

from ahp.tickets.frontmatter import TicketError
from ahp.tickets.ticket import read, tally
from tests.tickets.memory import draft, place

SAMPLES = Path(__file__).parent.parent / "data" / "monoco"
EXPECTED = json.loads((SAMPLES / "expected_facts.json").read_text())
HEADINGS = {"Acceptance Criteria": "acceptance", "Technical Tasks": "tasks", "Review Comments": "review"}

RECORD = """\
---
id: FEAT-0123
uid: 0b0e8f4e-0000-4000-8000-000000000000
type: Feature
status: Doing
stage: implementing
title: "实现用户登录功能"
description: |
  作为用户，我希望能够使用邮箱和密码登录系统。
  ---
depends_on:
  - FEAT-0120      # another ticket
  - "config:db"
files: src/auth/login.py
checklist:
  - id: "chk-001"
    item: "设计数据库 Schema"
    checked: true
    verification:
      type: "test"
      target: "tests/db/test_schema.py::test_user_table"

  - id: "chk-002"
    item: "实现登录 API"
    checked: false
    depends_on:
      - "chk-001"
  - item: 完成 API 文档
---

# 实现用户登录功能

## 验收标准
- [ ] 标准 1
- [x] 标准 2
"""


def problem(text: str, path: str = place("FEAT-0001")) -> str:
    with pytest.raises(TicketError) as caught:
        read(path, text.encode())
    return str(caught.value).removeprefix(path)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_facts_of_monocos_own_files_are_the_reference_counts(name: str) -> None:
    expected = EXPECTED[name]
    ticket = read(name.replace(".", "-", 1), (SAMPLES / name).read_bytes())
    states: dict[str, dict[str, int]] = {}
    for box in ticket.boxes:
        of_section = states.setdefault(box.section, {})
        of_section[box.state] = of_section.get(box.state, 0) + 1
    assert states == {HEADINGS[heading]: counts for heading, counts in expected["sections"].items()}
    counts = tally(ticket.boxes)
    assert counts["incomplete_count"] == expected["incomplete_count"]
    assert counts["completion_rate"] == pytest.approx(expected["completion_rate"], abs=1e-4)
    written = expected["front_matter"]
    assert {key: getattr(ticket, key) for key in ("id", "type", "status", "stage", "criticality")} == {
        key: written[key] for key in ("id", "type", "status", "stage", "criticality")
    }
    assert list(ticket.dependencies) == written["dependencies"]
    assert list(ticket.files) == written["files"]


def test_a_record_document_has_its_checklist_in_the_front_matter() -> None:
    ticket = read("Issues/Features/doing/FEAT-0123.md", RECORD.encode())
    assert (ticket.is_record, ticket.phase, ticket.status, ticket.stage) == (True, "doing", "doing", "implementing")
    assert (ticket.type, ticket.dependencies, ticket.files) == (
        "feature",
        ("FEAT-0120", "config:db"),
        ("src/auth/login.py",),
    )
    counts = tally(ticket.boxes)
    assert (counts["total"], counts["done"], counts["completion_rate"]) == (5, 2, 0.4)
    assert counts["incomplete"] == ["chk-002: 实现登录 API", "完成 API 文档", "标准 1"]
    assert counts["incomplete_ids"] == ["chk-002", "tasks-3", "acceptance-1"]
    assert [box.line for box in ticket.boxes] == [16, 23, 28, 34, 35]


def test_cancelled_boxes_do_not_count_and_no_boxes_have_no_rate() -> None:
    ticket = read("FEAT-0001.md", b"---\nid: FEAT-0001\n---\n- [~] a\n- [+] b\n")
    nothing = {"total": 0, "done": 0, "incomplete_count": 0, "incomplete": [], "incomplete_ids": []}
    assert tally(ticket.boxes) == {**nothing, "cancelled_count": 2, "invalid_count": 0}


@pytest.mark.parametrize(
    ("lines", "status", "stage", "phase", "done"),
    [
        ("", "open", "draft", "draft", False),
        ("status: Closed\n", "closed", "done", "done", True),
        ("status: backlog\n", "backlog", "freezed", "freezed", False),
        ("status: open\nstage: Done\n", "open", "done", "done", False),
        ("status: done\n", "done", "done", "done", True),
        ("status: weird\n", "weird", "", "", False),
        ("Status: archived\nSTAGE: done\n", "archived", "done", "done", True),
    ],
)
def test_status_and_stage_of_either_layout_give_one_phase(
    lines: str, status: str, stage: str, phase: str, done: bool
) -> None:
    ticket = read("x.md", f"---\nid: feat-0001\n{lines}---\n".encode())
    assert (ticket.id, ticket.status, ticket.stage, ticket.phase, ticket.is_done) == (
        "FEAT-0001",
        status,
        stage,
        phase,
        done,
    )


def test_the_type_follows_the_prefix_where_none_is_written() -> None:
    assert read("x.md", b"---\nid: FEAT-1\n---\n").type == "feature"
    assert read("x.md", b"---\nid: LAB-1\n---\n").type == "lab"


def test_crlf_a_bom_and_a_megabyte_change_no_fact() -> None:
    plain = draft("FEAT-0001", "FEAT-0002") + f"- [x] {'more ' * 40}\n" * 6_000
    marked = b"\xef\xbb\xbf" + plain.replace("\n", "\r\n").encode()
    first, second = read("x.md", plain.encode()), read("x.md", marked)
    assert len(marked) > 1 << 20
    assert tally(first.boxes) == tally(second.boxes)
    assert tally(first.boxes)["total"] == 6_001
    assert (first.id, first.dependencies, first.boxes[-1].line) == (
        second.id,
        second.dependencies,
        second.boxes[-1].line,
    )


@pytest.mark.parametrize(
    ("front", "said"),
    [
        ("title: x", ":1: the front matter has no `id`"),
        ("id:", ":1: the front matter has no `id`"),
        ("id: [FEAT-0001]", ":2: `id` must be one word or line of text"),
        ("id: login", ":2: `login` is no issue id"),
        ("id: FEAT-0002", ":2: the id is FEAT-0002 but the file name says FEAT-0001"),
        ("id: FEAT-0001\nstatus: {a: b}", ":3: `status` must be one word"),
        ("id: FEAT-0001\ndependencies: {a: b}", ":3: `dependencies` must be a list"),
        (
            "id: FEAT-0001\ndependencies:\n- #FEAT-2",
            ":4: an empty entry in `dependencies`; put text that begins with #",
        ),
        ("id: FEAT-0001\nfiles:\n- [a]", ":4: an entry of `files` is not a text"),
        ("id: FEAT-0001\nchecklist: all", ":3: `checklist` must be a list"),
        ("id: FEAT-0001\nchecklist:\n- all", ":4: an item of `checklist` is not a mapping"),
        ("id: FEAT-0001\nchecklist:\n- {id: a, checked: maybe}", ":4: `checked` must be true or false"),
        ("id: FEAT-0001\nchecklist:\n- {id: a}\n- {id: a}", ":5: the checklist has two items `a`"),
    ],
)
def test_a_field_of_the_wrong_kind_is_an_error_with_its_line(front: str, said: str) -> None:
    assert problem(f"---\n{front}\n---\n").startswith(said)


def test_null_lists_are_empty() -> None:
    ticket = read("x.md", b"---\nid: A-1\ndependencies:\nfiles: ~\nchecklist: null\n---\n")
    assert (ticket.dependencies, ticket.files, ticket.boxes) == ((), (), ())


def test_hostile_names_stay_on_one_line_of_the_error() -> None:
    with pytest.raises(TicketError) as caught:
        read("Issues/a\n\x1b[31mb‮.md", b"x")
    assert str(caught.value).isprintable()

"""The stories that seed 002 tells, on a real repository."""

from __future__ import annotations

import json

import pytest

from ahp.cli.main import run
from ahp.hosts.issue import Moved, move
from tests.conftest import Repo

POLICY = """\
version: 1
limits: {max_files: {production: 10, default: 30}}
environment: {production: branch.name == 'never'}
hooks:
  pre-issue-submit:
    trigger: pre-issue-submit
    oracles:
      - name: checklist-validator
        rules:
          - condition: "checklist.incomplete_count > 0"
            intensity: block
            message: "提交被拒绝：checklist 未完成 {checklist.incomplete_ids}"
            resolution: ["完成 {checklist.incomplete}"]
          - condition: "checklist.incomplete_count > 0 and checklist.completion_rate > 0.8"
            intensity: prompt
            message: "大部分已完成，确认提交？"
      - name: change-size-limiter
        rules:
          - condition: "files.changed_count > 20"
            intensity: prompt
            message: "警告：大变更（{files.changed_count} 文件），建议分步？"
  post-issue-submit:
    oracles:
      - name: notification
        type: review-triggered
        rules:
          - condition: "issue.stage == 'review'"
            intensity: aid
            message: "已通知审查者，预计 2 小时响应"
"""
TICKET = """\
---
id: FEAT-0123
type: feature
status: open
stage: doing
title: 实现用户登录功能
files: []
---

## FEAT-0123: 实现用户登录功能

## 验收标准
- [x] chk-001: 设计数据库 Schema
- [ ] chk-002: 实现登录 API
- [ ] chk-003: 完成 API 文档
"""
PATH = "Issues/Features/open/FEAT-0123-登录.md"


@pytest.fixture
def lab(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, PATH: TICKET})
    repo.git("checkout", "-q", "-b", "FEAT-0123-login")
    monkeypatch.chdir(repo.root)
    return repo


def told(moved: Moved) -> list[tuple[object, str, object]]:
    return [
        (s.header["source"], s.intensity, s.payload.get("reason", s.payload.get("message")))
        for s in moved.before.signals
    ]


def test_a_submit_with_open_boxes_is_refused_and_names_them_and_passes_once_mended(
    lab: Repo, capfd: pytest.CaptureFixture[str]
) -> None:
    refused = move("submit", "FEAT-0123")
    message = "提交被拒绝：checklist 未完成 'chk-002'、'chk-003'"
    assert told(refused) == [("checklist-validator", "block", message)]
    path = refused.before.signals[0].payload["resolution_path"]
    assert path == ["完成 'chk-002: 实现登录 API'", "完成 'chk-003: 完成 API 文档'"]
    assert (lab.root / PATH).read_text() == TICKET

    lab.write(PATH, TICKET.replace("[ ]", "[x]"))
    for number in range(24):
        lab.write(f"src/{number}.py")
    passed = move("submit", "FEAT-0123")  # the ticket is the twenty-fifth
    assert told(passed) == [("change-size-limiter", "prompt", "警告：大变更（25 文件），建议分步？")]
    assert passed.before.decision == "warn"
    assert passed.after is not None
    [aid] = passed.after.signals
    assert (aid.header["source"], aid.intensity, aid.payload["context"]) == (
        "notification",
        "aid",
        "已通知审查者，预计 2 小时响应",
    )
    text = (lab.root / PATH).read_text()
    assert "stage: review\n" in text
    assert text.count("\n- src/") == 24

    assert run(["respond", passed.before.signals[0].id, "acknowledge"]) == 0
    assert run(["respond", aid.id, "suggestion_applied"]) == 0
    capfd.readouterr()
    assert run(["log", "--format", "json"]) == 0
    lines = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [list(line.items())[1:6] for line in lines] == [
        list({"hook": hook, "intensity": intensity, "source": source, "consumed": True, "action": action}.items())
        for hook, intensity, source, action in (
            ("pre-issue-submit", "block", "checklist-validator", "retry_after_fix"),
            ("pre-issue-submit", "prompt", "change-size-limiter", "acknowledge"),
            ("post-issue-submit", "aid", "notification", "suggestion_applied"),
        )
    ]
    assert all(next(iter(line)) == "timestamp" for line in lines)


def test_most_boxes_done_prompts_where_open_ones_block(lab: Repo) -> None:
    lab.write(PATH, TICKET.replace("[ ]", "[x]") + "- [x] d\n- [x] e\n- [ ] f\n")
    moved = move("submit", "FEAT-0123")
    assert (moved.before.decision, [line[1] for line in told(moved)]) == ("warn", ["prompt"])


def test_a_record_document_is_gated_by_the_checklist_of_its_front_matter(lab: Repo) -> None:
    record = "---\nid: FEAT-0123\nstatus: doing\nchecklist:\n- {id: chk-001, item: 设计, checked: true}\n"
    record += "- {id: chk-002, item: 实现, checked: false}\n---\n"
    lab.git("mv", PATH, "Issues/FEAT-0123.md")
    lab.write("Issues/FEAT-0123.md", record)
    assert move("submit", "FEAT-0123").before.signals[0].payload["resolution_path"] == ["完成 'chk-002: 实现'"]
    lab.write("Issues/FEAT-0123.md", record.replace("false", "true"))
    assert not move("submit", "FEAT-0123").denied
    assert "status: review\n" in (lab.root / "Issues/FEAT-0123.md").read_text()

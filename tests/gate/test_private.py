"""What is never shown or logged stays hidden on every way out (design §7)."""

from __future__ import annotations

import json

import pytest

from ahp.gate.explain import HIDDEN, explain, shown
from ahp.protocol.signals import reason_of
from ahp.protocol.verdict import Verdict
from tests.gate.conftest import Desk

MESSAGE = """
rules:
  r: {at: commit-msg, control: "contains(commit.message, 'key')", redact: true,
      action: {type: replace, target: commit.message, pattern: "key[0-9]+", with: "(key)"}}
"""
TOOL = """
rules:
  r: {at: pre-tool-use, control: "'force' in tool.input", action: {type: set, target: tool.input.force, value: "no"}}
"""


def changed(verdict: Verdict) -> list[dict[str, object]]:
    assert verdict.decision == "allow_with_modification"
    return verdict.modifications


def test_the_change_of_a_redacting_rule_tells_digests_only(desk: Desk) -> None:
    desk.policy(MESSAGE)
    verdict = desk.judge("commit-msg", draft=b"key123\n", commit={"message": "key123"})
    (one,) = changed(verdict)
    assert str(one["original"]).startswith("sha256:") and str(one["updated"]).startswith("sha256:")
    assert verdict.modified is not None and verdict.modified.draft == b"(key)\n"
    assert "key123" not in json.dumps(verdict.as_dict()) + json.dumps(desk.log())


def test_the_log_holds_no_argument_of_a_tool(desk: Desk) -> None:
    desk.policy(TOOL)
    call = {"name": "shell", "input": {"force": "sesame"}}
    verdict = desk.judge("pre-tool-use", host="claude", tool=call)
    assert changed(verdict)[0]["original"] == "sesame"  # for the one who made the call
    (line,) = desk.log("signal")
    assert line["modifications"][0]["target"] == "tool.input.force"
    assert "sesame" not in json.dumps(desk.log())


@pytest.mark.parametrize(
    ("condition", "part"),
    [
        ("env.TOKEN.startswith('s')", "env.TOKEN"),
        ("env['TOKEN'].startswith('s')", "env.TOKEN"),
        ("diff['added'][0]['text'] == 'sesame'", "diff.added[0].text"),
        ("diff.added[0].text == 'sesame'", "diff.added[0].text"),
    ],
)
def test_an_explanation_gives_no_value_of_what_is_private(desk: Desk, condition: str, part: str) -> None:
    desk.policy(f'env_allow: [TOKEN]\nrules:\n  r: {{at: pre-commit, prompt: "{condition}"}}\n')
    added = [{"path": "a", "line": 1, "text": "sesame"}]
    event = desk.event(mode="dry", env={"TOKEN": "sesame"}, diff={"added": added, "removed": []})
    (reason,) = explain(event).reasons
    values = dict(reason.values)
    assert reason.outcome == "true" and values[condition] is True
    assert values[part] is HIDDEN and shown(values[part]) == "(not shown)"
    assert "sesame" not in "".join(shown(value) for value in values.values())


def test_an_explanation_says_where_the_lines_stand(desk: Desk) -> None:
    desk.policy("rules:\n  r: {at: pre-commit, each: l in diff.added, prompt: \"l.text == 'sesame'\"}\n")
    added = [{"path": "a.txt", "line": 1, "text": "sesame"}]
    (reason,) = explain(desk.event(mode="dry", diff={"added": added, "removed": []})).reasons
    assert [(part, shown(value)) for part, value in reason.values] == [("diff.added", "'a.txt:1'")]


def test_no_password_of_an_address_is_logged(desk: Desk) -> None:
    desk.policy("rules:\n  m: {at: commit-msg, prompt: len(commit.subject) > 3, message: 'it says {commit.subject}'}\n")
    verdict = desk.judge("commit-msg", commit={"subject": "use https://ann:secret@example.org/x"})
    assert "https://example.org/x" in reason_of(verdict.signals[0].payload)
    told = (desk.journal / "signals.jsonl").read_text()
    assert "https://example.org/x" in told and "secret" not in told

"""An explanation gives every value that its conditions name."""

from __future__ import annotations

from ahp.gate.explain import explain, shown
from tests.gate.conftest import Desk


def test_limits_have_their_values(desk: Desk) -> None:
    desk.policy(
        "limits: {most: 3, secret: AKIA, wide: {production: 1, default: 9}}\n"
        "environment: {production: branch.is_default}\n"
        "rules:\n  r: {at: pre-commit, prompt: files.changed_count > limits.most or files.insertions > limits.wide}\n"
    )
    event = desk.event(
        mode="dry", files={"changed_count": 5, "insertions": 2}, branch={"name": "x", "is_default": False}
    )
    explanation = explain(event)
    (reason,) = explanation.reasons
    values = dict(reason.values)
    assert values["limits.most"] == 3 and values["limits.wide"] == 9
    assert values["files.changed_count > limits.most"] is True
    assert explanation.missing == {}


def test_the_list_of_an_each_rule_that_is_absent_is_told_as_missing(desk: Desk) -> None:
    desk.policy(
        "facts: {lint: {run: [lint], parse: json, extract: {items: {value: output, type: 'list[str]'}}}}\n"
        "rules:\n  r: {at: pre-commit, each: f in lint.items, prompt: f != ''}\n"
    )
    (reason,) = explain(event := desk.event(mode="dry", lint={})).reasons
    assert event.given == {"lint": {}}
    assert [(text, shown(value)) for text, value in reason.values] == [("lint.items", "? (missing)")]


def test_the_list_of_an_each_rule_that_nobody_asked_for_is_not_told(desk: Desk) -> None:
    desk.policy("rules:\n  r: {at: pre-commit, when: branch.is_default, each: p in files.changed, prompt: p == 'a'}\n")
    told = {}
    for given in ({"branch": {"is_default": False}}, {"branch": {"is_default": True}, "files": {"changed": ["b"]}}):
        (reason,) = explain(desk.event(mode="dry", **given)).reasons
        told[reason.outcome] = reason.values
    assert told == {
        "filtered": [("branch.is_default", False)],
        "false": [("branch.is_default", True), ("files.changed", ["b"])],
    }

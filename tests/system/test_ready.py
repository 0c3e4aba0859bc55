"""Values that come with the bundle."""

from __future__ import annotations

import marshal

import pytest

from ahp.system import ready


def test_a_value_is_made_once_and_packed_for_the_bundle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "_made", {})
    made = [ready.made("table", lambda: {"a": 1}), ready.made("table", lambda: {"b": 2})]
    assert made == [{"a": 1}, {"a": 1}]
    assert {name: marshal.loads(value) for name, value in ready.pack().items()} == {"table": {"a": 1}}


def test_what_the_bundle_holds_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "_made", {})
    monkeypatch.setattr(ready, "packed", {"table": marshal.dumps([1, 2])})
    assert ready.made("table", lambda: [3]) == [1, 2]

"""One rule passes once, for this tree, and the commit says so (design §7)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ahp.gate.overrides import Override, find, trailers
from ahp.journal.append import Journal
from ahp.journal.logged_signal import Act, LoggedSignal
from ahp.protocol.records import other
from ahp.system import clock

ACT = Act(100.0, "git", "pre-commit", "t1", "change1:c", "sha256:e")


def taken(**more: Any) -> LoggedSignal:
    signal = LoggedSignal()
    signal.id, signal.rule, signal.by, signal.act = "id", "size/1", "human:ann", ACT
    signal.details = {"reason": "hot\nfix"}
    for name, value in more.items():
        setattr(signal, name, value)
    return signal


def test_an_override_is_for_the_same_tree() -> None:
    found = find([taken()], ACT._replace(token="t2", evidence="other"), overridable=True)
    assert found is not None
    assert (found.signal, found.by, found.trailer) == ("id", "human:ann", "Ahp-Override: size/1 hot fix")
    assert find([taken()], ACT._replace(change="change1:d"), overridable=True) is None


def test_without_a_change_the_evidence_stands_for_the_tree() -> None:
    call = ACT._replace(change="")
    assert find([taken(act=call)], call, overridable=True)
    assert find([taken(act=call)], call._replace(evidence="other"), overridable=True) is None
    assert find([taken(act=call._replace(evidence=""))], call._replace(evidence=""), overridable=True) is None


def test_an_override_is_good_for_one_attempt_and_all_its_hooks() -> None:
    spent = taken(spent=ACT._replace(token="t2", at=200.0))
    assert find([spent], ACT._replace(token="t2", at=230.0, hook="commit-msg"), overridable=True)
    assert find([spent], ACT._replace(token="t3", at=230.0), overridable=True) is None


def test_one_for_a_push_holds_as_often_as_it_is_tried() -> None:
    act = ACT._replace(hook="pre-push")
    spent = taken(act=act, spent=act._replace(token="t2", at=200.0))
    assert find([spent], act._replace(token="t3", at=230.0), overridable=True)
    assert find([spent], act._replace(token="t3", change="change1:d"), overridable=True) is None


def test_a_rule_that_cannot_be_overridden_is_not() -> None:
    assert find([taken()], ACT, overridable=False) is None
    assert find([], ACT, overridable=True) is None


def test_a_trailer_is_one_line_whatever_the_reason() -> None:
    lines = Override("id", "r\n/1", "human", "x\n\nSigned-off-by: me\x1b[2J" + "y" * 500).trailer.splitlines()
    assert len(lines) == 1
    assert "\x1b" not in lines[0]
    assert len(lines[0]) < 400


@pytest.mark.parametrize("change", ["change1:c", "change1:d", ""])
def test_a_commit_under_an_override_carries_its_trailer(tmp_path: Path, change: str) -> None:
    journal = Journal(str(tmp_path / "ahp"))
    view = SimpleNamespace(change=lambda: SimpleNamespace(digest=change)) if change else None
    event: Any = SimpleNamespace(
        journal=journal.folder,
        genesis=None,
        trigger="commit-msg",
        subject="main",
        actor=SimpleNamespace(kind="human"),
        view=view,
    )
    assert trailers(event) == []
    stamp = clock.iso(clock.now())
    signal = {"hook": "pre-commit", "intensity": "block", "rule": "size/1", "subject": "main", "change": "change1:c"}
    journal.append(
        [
            other("signal", stamp, id="first", actor="agent:claude", decision="deny", **signal),
            other("response", stamp, id="first", action="proceed_with_risk", by="human:ann", details={"reason": "why"}),
        ]
    )
    assert trailers(event) == []
    journal.append(
        [other("signal", stamp, id="second", actor="human:ann", decision="allow", overrides="first", **signal)]
    )
    assert trailers(event) == (["Ahp-Override: size/1 why"] if change == "change1:c" else [])

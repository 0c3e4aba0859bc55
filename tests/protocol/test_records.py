from __future__ import annotations

from ahp.protocol import records
from ahp.protocol.signals import Signal
from tests.protocol.test_signals import HEADER


def test_records_begin_with_the_seed_s_six_keys() -> None:
    six = ("timestamp", "hook", "intensity", "source", "consumed", "action")
    line = records.signal(Signal(HEADER, {"hook": "pre-commit"}, {}), rule="o/r")
    assert tuple(line)[:6] == six
    assert (line["consumed"], line["action"], line["kind"], line["rule"]) == (False, None, "signal", "o/r")
    answer = records.response(line, "later", "abort", "human:ann", details={})
    assert tuple(answer)[:6] == six
    assert (answer["timestamp"], answer["consumed"], answer["action"], answer["id"]) == ("later", True, "abort", "i")
    assert answer["by"] == "human:ann"


def test_other_records() -> None:
    assert records.verdict("t", "pre-commit", "allow", "main", {"a": 1}, host="git") == {
        "timestamp": "t",
        "hook": "pre-commit",
        "kind": "verdict",
        "decision": "allow",
        "subject": "main",
        "facts": {"a": 1},
        "host": "git",
    }
    assert records.other("bypass", "t", commit="c") == {"timestamp": "t", "kind": "bypass", "commit": "c"}
    assert "bypass" in records.KINDS

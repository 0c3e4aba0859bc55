"""Signals, answers and records, field for field (seed 002 §2.2, §3, §6.2)."""

from __future__ import annotations

from ahp.protocol import signals
from ahp.protocol.signals import Signal, SignalResponse

HEADER: dict[str, object] = {
    "id": "i",
    "type": "quality-gate",
    "timestamp": "2026-02-09T10:00:00.000Z",
    "source": "o",
    "intensity": "block",
    "correlation_id": "c",
}


def test_a_block_s_payload() -> None:
    assert signals.blocking("why", ["do"], True) == {
        "level": "blocking",
        "decision": "deny",
        "reason": "why",
        "resolvable": True,
        "resolution_path": ["do"],
    }


def test_a_control_s_payload() -> None:
    change: dict[str, object] = {"target": "t", "original": 1, "updated": 2, "reason": "why"}
    assert signals.controlling([change], False) == {
        "level": "controlling",
        "decision": "allow_with_modification",
        "modifications": [change],
        "reversible": False,
    }


def test_a_prompt_s_payload() -> None:
    assert signals.prompting("m", "low", ["s"], True) == {
        "level": "prompting",
        "decision": "warn",
        "severity": "low",
        "message": "m",
        "suggestions": ["s"],
        "continue_allowed": True,
    }


def test_an_aid_s_payload() -> None:
    advice: dict[str, object] = {"type": "best_practice", "description": "d"}
    assert signals.aiding("c", [advice]) == {
        "level": "aiding",
        "decision": "suggest",
        "context": "c",
        "suggestions": [advice],
    }


def test_every_level_keeps_its_sentence_somewhere() -> None:
    assert signals.reason_of(signals.blocking("a", [], True)) == "a"
    assert signals.reason_of(signals.prompting("a", "low", [], True)) == "a"
    assert signals.reason_of(signals.aiding("a", [])) == "a"
    assert signals.reason_of(signals.controlling([{"reason": "a"}], True)) == "a"
    assert signals.reason_of(signals.controlling([], True)) == ""


def test_a_signal_and_its_answer_as_json_shows_them() -> None:
    signal = Signal(HEADER, {"hook": "pre-commit"}, {})
    assert (signal.id, signal.intensity) == ("i", "block")
    assert signal.as_dict() == {"header": HEADER, "context": {"hook": "pre-commit"}, "payload": {}}
    answer = SignalResponse("i", "t", "retry_after_fix")
    assert answer.as_dict() == {"signal_id": "i", "consumed_at": "t", "action": "retry_after_fix"}
    answer = SignalResponse("i", "t", "abort", {"reason": "x"})
    assert answer.as_dict()["details"] == {"reason": "x"}


def test_every_level_has_its_answers() -> None:
    assert signals.ACTIONS_OF == {
        "block": ("retry_after_fix", "proceed_with_risk", "abort"),
        "control": ("accept_modification", "reject_modification"),
        "prompt": ("acknowledge", "apply_suggestion", "dismiss"),
        "aid": ("suggestion_applied", "suggestion_deferred"),
    }

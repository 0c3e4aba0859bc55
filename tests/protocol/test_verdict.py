from __future__ import annotations

from ahp.protocol.signals import Signal
from ahp.protocol.verdict import Verdict
from tests.protocol.test_signals import HEADER


def test_a_verdict_shows_notes_only_when_there_are_any() -> None:
    quiet = Verdict("allow", "pre-commit", "main", "sha256:p")
    assert not quiet.denied
    assert "notes" not in quiet.as_dict()
    noted = Verdict("deny", "pre-commit", "main", "sha256:p", [Signal(HEADER, {}, {})], notes=["n"])
    assert noted.denied
    assert noted.as_dict()["notes"] == ["n"]
    assert noted.as_dict()["signals"] == [{"header": HEADER, "context": {}, "payload": {}}]

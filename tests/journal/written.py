"""What the tests of appending write and read back."""

from __future__ import annotations

import itertools
import json

from ahp.journal import segments
from ahp.journal.append import Journal
from ahp.system import digest

VERDICT = {"hook": "pre-commit", "kind": "verdict", "decision": "allow", "subject": "main", "actor": "human:ann"}


PROMPT = {
    "hook": "pre-commit",
    "intensity": "prompt",
    "kind": "signal",
    "id": "11111111-0000-4000-8000-000000000000",
    "rule": "size/1",
    "subject": "main",
    "actor": "agent:claude",
}


def raw(journal: Journal) -> list[bytes]:
    return [line.raw for line in reversed(list(segments.backward(journal.folder)))]


def records(journal: Journal) -> list[dict[str, object]]:
    return [json.loads(line) for line in raw(journal)]


def assert_chained(journal: Journal) -> None:
    written = raw(journal)
    assert json.loads(written[0])["prev"] is None
    for before, line in itertools.pairwise(written):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        assert record["prev"] == digest.tagged(before)

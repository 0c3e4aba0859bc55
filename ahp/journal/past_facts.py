"""What an earlier record of a subject still knows: evidence that was there and is gone (design §4, Missing facts)."""

from __future__ import annotations

from ahp.journal import segments
from ahp.system import jsontext

_LINES = 2000


def had_fact(folder: str, subject: str, path: str) -> bool:
    """Whether one of the last 2,000 records of the log has a value of the fact `path` for this subject.

    Raises AhpError when the log cannot be read.
    """
    marks = [jsontext.encode(text).encode() for text in (path, subject)]
    for number, line in enumerate(segments.backward(folder)):
        if number >= _LINES:
            return False
        if not all(mark in line.raw for mark in marks):
            continue
        record = line.record() or {}
        facts = record.get("facts")
        if record.get("subject") == subject and isinstance(facts, dict) and path in facts:
            return True
    return False

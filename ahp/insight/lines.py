"""Lines of a log outside of it: which keys have a column, and the name of the log as last key of an exported line."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ahp.system import jsontext

LOG = "log"
"""The key that an export adds, which no record of a log has: the id of the log's genesis."""

_WORDS = (
    *("kind", "hook", "rule", "subject", "actor", "agent", "host", "session", "issue", "intensity", "declared"),
    *("decision", "environment", "policy", "id", "correlation_id", "action", "by", "reason", "attempt", "change"),
    *("head", "target", "waived", "message", "feedback"),
)
COLUMNS = {
    "n": "BIGINT",
    "timestamp": "TIMESTAMP",
    **dict.fromkeys(_WORDS, "VARCHAR"),
    **dict.fromkeys(("shadow", "undecidable"), "BOOLEAN"),
    "ms": "DOUBLE",
}
"""The keys that tables and other programs ask for most, with their SQL types."""


def exported(raw: bytes, log: str) -> bytes:
    """A line as an export has it."""
    return raw.rstrip()[:-1] + _suffix(log)


def as_logged(raw: bytes, record: Mapping[str, object]) -> bytes:
    """The bytes of the line in its log."""
    log = record.get(LOG)
    suffix = _suffix(log) if isinstance(log, str) else b""
    return raw[: -len(suffix)] + b"}" if suffix and raw.endswith(suffix) else raw


def private(path: str, flags: int) -> int:
    """Opens a file for writing that only its owner reads, as the log is."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def _suffix(log: str) -> bytes:
    return f', "{LOG}": {jsontext.encode(log)}}}'.encode()

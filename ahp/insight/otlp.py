"""Records as log records of OpenTelemetry: https://opentelemetry.io/docs/specs/otel/logs/data-model/.

The body is the line as it was logged; attributes are what is asked for most. `log.record.uid` is the same for the same
record whenever it is sent, so that a store can drop what it has.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from ahp.system import clock, digest, jsontext
from ahp.system.version import __version__

SCOPE = "ahp.journal"
UID = "log.record.uid"
_SEVERITY = {"block": ("ERROR", 17), "control": ("WARN", 13), "prompt": ("WARN", 13)}
_BEYOND = 1 << 63  # ns: no collector has a time from the year 2262 on
_WARNED = ("bypass", "cut", "prune", "clock")

Value = str | bool | int | float


class Told(NamedTuple):
    """A log record: nanoseconds since the epoch, severity, event name, body, attributes."""

    nanoseconds: int
    severity: str
    number: int
    event: str
    body: str
    attributes: dict[str, Value]


def resource(log: str, whose: Mapping[str, object], policy: str) -> dict[str, str]:
    """Attributes of all records of the log `log`: whose they are, and the commit of the policy, "" for none.

    Of the machine only a random id is told, as by the log.
    """
    told = {"service.name": "ahp", "service.version": __version__, "service.instance.id": log, "ahp.log": log}
    names = {"ahp.repository": whose.get("repository"), "host.id": whose.get("host"), "ahp.policy.commit": policy}
    return told | {name: str(value) for name, value in names.items() if value}


def heartbeat(log: str, n: int, head: str) -> Told:
    """Says how far a log has come, whatever was new: what a store lacks of it, and a clone that is silent, shows."""
    now = clock.now()
    record = {"timestamp": clock.iso(now), "kind": "heartbeat", "n": n, "head": head}
    attributes: dict[str, Value] = {UID: f"{log}:heartbeat:{record['timestamp']}", "ahp.kind": "heartbeat"}
    attributes |= {"ahp.n": n, "ahp.log.head": head}
    return Told(round(now * 1000) * 1_000_000, "INFO", 9, "ahp.heartbeat", jsontext.encode(record), attributes)


def told(log: str, raw: bytes, record: Mapping[str, object]) -> Told:
    """A line of the log `log` and its record."""
    kind, n = _visible(str(record.get("kind"))), record.get("n")
    attributes: dict[str, Value] = {UID: f"{log}:{n if isinstance(n, int) else ''}:{digest.sha256(raw)[:16]}"}
    for name in COLUMNS:
        value = record.get(name)
        if name == "timestamp" or value == "" or not isinstance(value, (str, int, float)):
            continue
        is_wide = isinstance(value, int) and not -1 << 63 <= value < 1 << 63
        attributes[f"ahp.{name}"] = _visible(str(value)) if is_wide or isinstance(value, str) else value
    level = str(record.get("intensity")) if kind == "signal" else ""
    severity, number = _SEVERITY.get(level, ("WARN", 13) if kind in _WARNED else ("INFO", 9))
    at = round((clock.seconds(record.get("timestamp")) or 0.0) * 1000) * 1_000_000
    at = at if 0 <= at < _BEYOND else 0  # which is unknown
    return Told(at, severity, number, f"ahp.{kind}", raw.decode(), attributes)


def _visible(text: str) -> str:
    """Protobuf takes no lone surrogates, and names of files may hold them."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


LOG = "log"
"""The key that an export adds, which no record of a log has: the id of the log's genesis."""

_WORDS = (
    *("kind", "hook", "rule", "subject", "actor", "agent", "host", "session", "issue", "intensity", "declared"),
    *("decision", "environment", "policy", "id", "correlation_id", "action", "by", "reason", "attempt", "change"),
    *("head", "target", "waived", "message", "feedback", "traceparent"),
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

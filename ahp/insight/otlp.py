"""Records as log records of OpenTelemetry: https://opentelemetry.io/docs/specs/otel/logs/data-model/.

The body is the line as it was logged; attributes are what is asked for most. `log.record.uid` is the same for the same
record whenever it is sent, so that a store can drop what it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ahp.insight.lines import COLUMNS
from ahp.system import clock, digest
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


def resource(log: str) -> dict[str, str]:
    """Attributes of all records of the log `log`; nothing of the machine, which the log does not tell either."""
    return {"service.name": "ahp", "service.version": __version__, "ahp.log": log}


def told(log: str, raw: bytes, record: Mapping[str, object]) -> Told:
    """A line of the log `log` and its record."""
    kind, n = _visible(str(record.get("kind"))), record.get("n")
    attributes: dict[str, Value] = {UID: f"{log}:{n if isinstance(n, int) else ''}:{digest.sha256(raw)[:16]}"}
    for name in COLUMNS:
        value = record.get(name)
        if name in ("kind", "timestamp") or value == "" or not isinstance(value, (str, int, float)):
            continue
        is_wide = isinstance(value, int) and not -1 << 63 <= value < 1 << 63
        attributes[f"ahp.{name}"] = _visible(str(value)) if is_wide or isinstance(value, str) else value
    level = str(record.get("intensity")) if kind == "signal" else ""
    severity, number = _SEVERITY.get(level, ("WARN", 13) if kind in _WARNED else ("INFO", 9))
    at = round((clock.seconds(record.get("timestamp")) or 0.0) * 1000) * 1_000_000
    at = at if 0 <= at < _BEYOND else 0  # which is unknown
    return Told(at, severity, number, f"ahp.{kind}", raw.decode(), attributes)


def request(log: str, found: Iterable[tuple[bytes, Mapping[str, object]]]) -> dict[str, object]:
    """Lines and their records as one export request in OTLP's JSON form (a line of OTLP's file format)."""
    records = [_json(told(log, raw, record)) for raw, record in found]
    scope = {"scope": {"name": SCOPE, "version": __version__}, "logRecords": records}
    return {"resourceLogs": [{"resource": {"attributes": _pairs(resource(log))}, "scopeLogs": [scope]}]}


def _json(one: Told) -> dict[str, object]:
    return {
        "timeUnixNano": str(one.nanoseconds),
        "severityNumber": one.number,
        "severityText": one.severity,
        "eventName": one.event,
        "body": {"stringValue": one.body},
        "attributes": _pairs(one.attributes),
    }


def _pairs(attributes: Mapping[str, Value]) -> list[dict[str, object]]:
    return [{"key": name, "value": _value(value)} for name, value in attributes.items()]


def _value(value: Value) -> dict[str, object]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _visible(text: str) -> str:
    """Protobuf takes no lone surrogates, and names of files may hold them."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()

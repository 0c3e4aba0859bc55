"""The records of a log for other programs: JSON lines, Parquet."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from tempfile import NamedTemporaryFile
from typing import NamedTuple

from ahp.insight import reading
from ahp.journal.decoding import decode
from ahp.journal.recovery import log_of
from ahp.protocol.text import one_line
from ahp.system import clock, digest, installed, jsontext
from ahp.system.errors import AhpError
from ahp.system.terminal import Seen, unseen
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


TYPE_CHECKING = False
if TYPE_CHECKING:
    import duckdb


def text(folder: str, seen: Seen = unseen) -> Iterator[bytes]:
    """The log in `folder` as JSON lines. Raises AhpError."""
    log = log_of(folder)
    return (exported(raw, log) + b"\n" for raw in _all(folder, seen))


def to_file(folder: str, path: str, seen: Seen = unseen) -> None:
    """Writes what `text` gives to `path`, whole or not at all. Raises AhpError."""
    with _whole(path) as part, open(part, "wb", opener=private) as file:
        file.writelines(text(folder, seen))


@contextlib.contextmanager
def _whole(path: str) -> Iterator[str]:
    """Where to write what takes the place of `path` in the end, or never does. Raises AhpError."""
    part = path + ".part"
    try:
        yield part
        os.replace(part, path)
    except OSError as error:
        raise AhpError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):  # of which the writing has told
            os.unlink(part)


def to_parquet(folder: str, path: str, seen: Seen = unseen) -> None:
    """Writes the log in `folder` to the Parquet file `path`, with the lines as they are in the log. Raises AhpError."""
    write(path, log_of(folder), _all(folder, seen), COLUMNS)


def _all(folder: str, seen: Seen) -> Iterator[bytes]:
    """The lines that hold a record."""
    return (raw for raw in chain.from_iterable(reading.blocks(folder, None, seen)) if decode(raw) is not None)


ENDING = ".parquet"
LINE = "record"
"""The column with the line."""
_MEMORY = "256MB"
_ROWS = 20_480  # of a row group: what is in memory at once
_LONGEST = 16 << 20  # bytes of a line


def write(path: str, log: str, lines: Iterable[bytes], columns: Mapping[str, str]) -> None:
    """Writes lines of the log `log` to `path`, whole or not at all; `columns`: SQL types by key of the records.

    A value that has not its column's type is null there. The lines lie beside `path` meanwhile, because DuckDB keeps
    all that comes through a pipe in memory. Raises AhpError.
    """
    shape, folder = jsontext.encode(dict(columns)), os.path.dirname(path)
    with _database(f"cannot write {path}") as opened, _whole(path) as part, NamedTemporaryFile(dir=folder) as copy:
        for line in lines:
            copy.write(jsontext.encode({"line": line.decode()}).encode() + b"\n")
        copy.flush()
        opened.execute(  # COPY takes no parameters for these
            f"COPY (SELECT {_quoted(log)} AS log,"  # noqa: S608
            f" unnest(CASE WHEN json_valid(line) THEN json_transform(line::JSON, {_quoted(shape)}) END),"
            f" line AS {LINE}"
            f" FROM read_json([{_quoted(copy.name)}], format = 'newline_delimited', maximum_object_size = {_LONGEST},"
            " columns = {line: 'VARCHAR'}))"
            f" TO {_quoted(part)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROWS})"
        )
        os.chmod(part, 0o600)


def lines(path: str) -> Iterator[list[bytes]]:
    """The lines of a file that `write` wrote, many at once, each with the name of its log as an export has it.

    A file of another program has none. Raises AhpError when it cannot be read.
    """
    with _database(f"cannot read {path}") as opened:
        described = opened.execute("DESCRIBE SELECT * FROM read_parquet(?)", [path]).fetchall()
        if not {("log", "VARCHAR"), (LINE, "VARCHAR")} <= {column[:2] for column in described}:
            return
        query = f"SELECT log, {LINE} FROM read_parquet(?) WHERE log IS NOT NULL AND {LINE} IS NOT NULL"  # noqa: S608
        found = opened.execute(query, [path])
        while rows := found.fetchmany(4096):
            yield [exported(line.encode(), log) for log, line in rows]


@contextlib.contextmanager
def _database(failed: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory, which draws nothing over our output and fetches nothing from elsewhere. Raises AhpError."""
    try:
        import duckdb
    except ImportError:
        raise AhpError(f"Parquet needs DuckDB: {installed.command('insight')}") from None
    with duckdb.connect() as connection:
        connection.execute("SET autoinstall_known_extensions = false; SET enable_progress_bar = false")
        # One thread keeps the order and takes a fraction of the memory.
        connection.execute(f"SET threads = 1; SET memory_limit = '{_MEMORY}'")
        try:
            yield connection
        except duckdb.Error as error:
            # The first line; advice to people who write SQL follows it.
            raise AhpError(f"{failed}: {one_line(str(error).partition(chr(10))[0], 300)}") from None


def _quoted(text: str) -> str:
    """A text of SQL."""
    return "'" + text.replace("'", "''") + "'"

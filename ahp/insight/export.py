"""The records of a log for other programs: JSON lines, CSV, Parquet."""

from __future__ import annotations

import contextlib
import csv
import io
import os
from collections.abc import Iterator, Mapping

from ahp.insight import parquet, reading
from ahp.insight.otlp import COLUMNS, exported, private
from ahp.journal import segments
from ahp.journal.decoding import decode
from ahp.journal.rotation import genesis_of
from ahp.system import clock, jsontext
from ahp.system.errors import AhpError
from ahp.system.terminal import Seen, unseen

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def log_name(folder: str) -> str:
    """What the log in `folder` is called outside: the id of its genesis, "" where there is none. Raises AhpError."""
    return next(filter(None, map(genesis_of, segments.listed(folder))), "")


def text(folder: str, form: str, since: float | None = None, seen: Seen = unseen) -> Iterator[bytes]:
    """The log in `folder` as `jsonl` or `csv`, in parts; records since then (seconds). Raises AhpError."""
    log = log_name(folder)
    found = _since(folder, since, seen)
    if form == "csv":
        return _csv(log, found)
    return (exported(raw, log) + b"\n" for raw, _ in found)


def to_file(folder: str, form: str, path: str, since: float | None = None, seen: Seen = unseen) -> None:
    """Writes what `text` gives to `path`, whole or not at all. Raises AhpError."""
    part = path + ".part"
    try:
        with open(part, "wb", opener=private) as file:
            for data in text(folder, form, since, seen):
                file.write(data)
        os.replace(part, path)
    except OSError as error:
        raise AhpError(f"cannot write {path}: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):  # of which the writing has told
            os.unlink(part)


def to_parquet(folder: str, path: str, since: float | None = None, seen: Seen = unseen) -> None:
    """Writes the log in `folder` to the Parquet file `path`, with the lines as they are in the log. Raises AhpError."""
    parquet.write(path, log_name(folder), (raw for raw, _ in _since(folder, since, seen)), COLUMNS)


def _since(folder: str, since: float | None, seen: Seen) -> Iterator[tuple[bytes, dict[str, object]]]:
    """The lines that hold a record, with it; in the log's own time, which never runs back."""
    begun = since is None
    for lines in reading.blocks(folder, since, seen):
        for raw in lines:
            record = decode(raw)
            if record is None:
                continue
            begun = begun or (clock.seconds(record.get("timestamp")) or 0.0) >= (since or 0.0)
            if begun:
                yield raw, record


def _csv(log: str, found: Iterator[tuple[bytes, dict[str, object]]]) -> Iterator[bytes]:
    out = io.StringIO(newline="")
    write = csv.writer(out).writerow
    write(("log", *COLUMNS))
    for _, record in found:
        write([log, *[_cell(record, name) for name in COLUMNS]])
        if out.tell() > 1 << 16:
            yield out.getvalue().encode("utf-8", "backslashreplace")
            out.seek(0)
            out.truncate()
    yield out.getvalue().encode("utf-8", "backslashreplace")


def _cell(record: Mapping[str, object], name: str) -> object:
    """A value as a spreadsheet may see it: a name that begins like a formula would be run there, so it gets a quote."""
    value = record.get(name)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value if value.startswith(_FORMULA) else value
    if value is None or isinstance(value, int | float):
        return value
    try:
        return jsontext.encode(value)
    except ValueError:  # nested more deeply than anything that ahp writes
        return None

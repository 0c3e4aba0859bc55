"""Records as Parquet, written and read by DuckDB (extra `insight`): columns to ask, and each line as it was logged."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ahp.insight.otlp import private
from ahp.protocol.text import one_line
from ahp.system import installed, jsontext
from ahp.system.errors import AhpError

if TYPE_CHECKING:
    import duckdb

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
    part, copy = path + ".part", path + ".lines"
    opened = _opened()
    from duckdb import Error

    shape = jsontext.encode(dict(columns))
    try:
        with open(copy, "wb", opener=private) as file:
            for line in lines:
                file.write(jsontext.encode({"line": line.decode()}).encode() + b"\n")
        opened.execute(  # COPY takes no parameters for these
            f"COPY (SELECT {_quoted(log)} AS log,"  # noqa: S608
            f" unnest(CASE WHEN json_valid(line) THEN json_transform(line::JSON, {_quoted(shape)}) END),"
            f" line AS {LINE}"
            f" FROM read_json([{_quoted(copy)}], format = 'newline_delimited', maximum_object_size = {_LONGEST},"
            " columns = {line: 'VARCHAR'}))"
            f" TO {_quoted(part)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROWS})"
        )
        os.chmod(part, 0o600)
        os.replace(part, path)
    except Error as error:
        raise AhpError(f"cannot write {path}: {_said(error)}") from None
    except OSError as error:
        raise AhpError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        opened.close()
        for left in (part, copy):
            with contextlib.suppress(OSError):  # of which the writing has told
                os.unlink(left)


def lines(path: str) -> Iterator[list[bytes]]:
    """The lines of a file that `write` wrote, many at once, each with the name of its log as an export has it.

    A file of another program has none. Raises AhpError when it cannot be read.
    """
    from ahp.insight.otlp import exported

    opened = _opened()
    from duckdb import Error

    try:
        described = opened.execute("DESCRIBE SELECT * FROM read_parquet(?)", [path]).fetchall()
        if not {("log", "VARCHAR"), (LINE, "VARCHAR")} <= {column[:2] for column in described}:
            return
        query = f"SELECT log, {LINE} FROM read_parquet(?) WHERE log IS NOT NULL AND {LINE} IS NOT NULL"  # noqa: S608
        found = opened.execute(query, [path])
        while rows := found.fetchmany(4096):
            yield [exported(line.encode(), log) for log, line in rows]
    except Error as error:
        raise AhpError(f"cannot read {path}: {_said(error)}") from None
    finally:
        opened.close()


def _opened() -> duckdb.DuckDBPyConnection:
    """A database in memory, which draws nothing over our output and fetches nothing from elsewhere."""
    try:
        import duckdb
    except ImportError:
        raise AhpError(f"Parquet needs DuckDB: {installed.command('insight')}") from None
    connection = duckdb.connect()
    connection.execute("SET autoinstall_known_extensions = false; SET enable_progress_bar = false")
    # One thread keeps the order and takes a fraction of the memory.
    connection.execute(f"SET threads = 1; SET memory_limit = '{_MEMORY}'")
    return connection


def _quoted(text: str) -> str:
    """A text of SQL."""
    return "'" + text.replace("'", "''") + "'"


def _said(error: Exception) -> str:
    """The first line of what DuckDB says; advice to people who write SQL follows it."""
    return one_line(str(error).partition("\n")[0], 300)

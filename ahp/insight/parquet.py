"""Records as Parquet, written and read by DuckDB (extra `insight`): columns to ask, and each line as it was logged."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from ahp.system import jsontext
from ahp.system.errors import AhpError

if TYPE_CHECKING:
    import duckdb

ENDING = ".parquet"
LINE = "record"
"""The column with the line."""
_ROWS = 20_480  # of a row group: what is in memory at once, ten times this below its least
_LONGEST = 16 << 20  # bytes of a line


def write(path: str, log: str, lines: Iterable[bytes], columns: Mapping[str, str]) -> None:
    """Writes lines of the log `log` to `path`, whole or not at all; `columns`: SQL types by key of the records.

    The lines go through a pipe, so that any log fits in memory. A value that has not its column's type is null there.
    Raises AhpError.
    """
    part = path + ".part"
    try:
        _copy(part, log, lines, columns)
        os.replace(part, path)
    except OSError as error:
        raise AhpError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        if os.path.exists(part):
            os.unlink(part)


def _copy(path: str, log: str, lines: Iterable[bytes], columns: Mapping[str, str]) -> None:
    database = _database()
    from duckdb import Error

    reader, writer = os.pipe()
    failed: list[BaseException] = []

    def feed() -> None:
        try:
            with os.fdopen(writer, "wb") as pipe:
                for line in lines:
                    pipe.write(jsontext.encode({"line": line.decode()}).encode() + b"\n")
        except BrokenPipeError:
            pass  # the database has given up and says why
        except BaseException as error:  # noqa: BLE001  # raised where the file is written
            failed.append(error)

    feeder = threading.Thread(target=feed)
    feeder.start()
    shape = jsontext.encode(dict(columns))
    try:
        database.execute(  # COPY takes no parameters for these
            f"COPY (SELECT {_quoted(log)} AS log,"  # noqa: S608
            f" unnest(CASE WHEN json_valid(line) THEN json_transform(line::JSON, {_quoted(shape)}) END),"
            f" line AS {LINE}"
            f" FROM read_json('/dev/fd/{reader}', format = 'newline_delimited', maximum_object_size = {_LONGEST},"
            " columns = {line: 'VARCHAR'}))"
            f" TO {_quoted(path)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {_ROWS})"
        )
    except Error as error:
        failed.append(AhpError(f"cannot write {path}: {error}"))
    finally:
        os.close(reader)
        feeder.join()
        database.close()
    if failed:
        raise failed[0]


def lines(path: str) -> Iterator[list[bytes]]:
    """The lines of a file that `write` wrote, many at once, each with the name of its log as an export has it.

    Raises AhpError when it cannot be read or is another one's.
    """
    from ahp.insight.lines import exported

    database = _database()
    from duckdb import Error

    try:
        found = database.execute(f"SELECT log, {LINE} FROM read_parquet(?)", [path])  # noqa: S608
        while rows := found.fetchmany(4096):
            yield [exported(line.encode(), log) for log, line in rows]
    except Error as error:
        raise AhpError(f"cannot read {path}: {error}") from None
    finally:
        database.close()


def _database() -> duckdb.DuckDBPyConnection:
    try:
        import duckdb
    except ImportError:
        raise AhpError("Parquet needs DuckDB: pip install 'ahp-engine[insight]'") from None
    connection = duckdb.connect()
    # One thread keeps the order and takes a fraction of the memory; nothing is fetched, nothing drawn over our output.
    connection.execute("SET threads = 1; SET autoinstall_known_extensions = false; SET enable_progress_bar = false")
    return connection


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"

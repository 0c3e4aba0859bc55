"""DuckDB (extra `insight`), which draws nothing over our output and fetches nothing from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def connect() -> DuckDBPyConnection:
    """A database in memory. Raises ImportError."""
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET autoinstall_known_extensions = false; SET enable_progress_bar = false")
    return connection


def quoted(text: str) -> str:
    """A text of SQL."""
    return "'" + text.replace("'", "''") + "'"

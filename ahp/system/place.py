"""Where something stands in a text; apart from what reads YAML, so that who only names a place loads no parser."""

from typing import NamedTuple


class Place(NamedTuple):
    """Where something stands: file as the user knows it, line and column from 1."""

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

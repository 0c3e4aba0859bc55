"""Lines of a long log as records."""

from __future__ import annotations

from collections.abc import Callable

from ahp.system import jsontext


def _plainly(raw: bytes) -> object:
    return jsontext.decode(raw.decode())


_loads: Callable[[bytes], object]
try:  # the extra `insight`, with which a long log is read in two thirds of the time
    from orjson import loads as _loads
except ImportError:
    _loads = _plainly


def decode(raw: bytes) -> dict[str, object] | None:
    """The record in a line; None for a torn line and anything else that is no JSON object."""
    try:
        value = _loads(raw)
    except ValueError:  # as orjson calls lone surrogates, and file names may hold them
        try:
            value = _plainly(raw)
        except ValueError:
            return None
    return value if isinstance(value, dict) else None

"""What a tool returned, as the text that a model reads."""

import json
from collections.abc import AsyncIterator, Iterator
from enum import Enum
from typing import Any

from pydantic_core import to_json

from ahp.system.deadline import awaited


def result_text(value: Any, seconds: float, name: str) -> str:
    """The text of what the tool `name` returned: a text as it is, values as JSON, what is awaitable within `seconds`.

    Raises TypeError for what gives its items one by one: nothing of it has happened yet, or may ever end. Timeout.
    """
    value = awaited(value, seconds, name)
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        return str.__str__(value)
    if value is None:
        return "(done; it returned nothing)"
    if isinstance(value, bytes | bytearray | memoryview):
        return _of_bytes(bytes(value))
    if isinstance(value, Iterator | AsyncIterator):
        raise TypeError(f"{name} returned a {type(value).__name__}, of which nothing has run; it has to return a list")
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    try:
        text = to_json(value, fallback=str, inf_nan_mode="constants", bytes_mode="base64").decode()
    except ValueError:  # it holds itself
        return str(value)
    # What JSON has only a text for (a date, a path) is that text.
    return str(json.loads(text)) if text.startswith('"') else text


def _of_bytes(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    return f"({len(data)} bytes that are no text)" if "\0" in text else text

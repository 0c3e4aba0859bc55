"""Placeholder for the value ranges; see below."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ahp.conditions.errors import Place
from ahp.conditions.schema import Type

START = Place()
def constant(plan: list[Any], types: Mapping[str, Type]) -> bool | None:
    return plan[1] if plan[0] == "const" else None

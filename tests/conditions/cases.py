"""The sample cases, and the facts they are asked of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ahp.conditions.evaluate import MISSING, Bound, Undecided, build
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import check

DATA = Path(__file__).resolve().parent.parent / "data" / "cases"
ENTRIES = json.loads((DATA / "fact_schema.json").read_text())
SCHEMA = Schema(ENTRIES)
FACTS = json.loads((DATA / "fact_sets.json").read_text())


def load(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


def flat(facts: Mapping[str, Any], schema: Schema = SCHEMA) -> dict[str, Any]:
    """Nested namespaces as values by path, MISSING where one is absent."""
    found = {}
    for path in schema.facts:
        value: Any = facts
        for name in path.split("."):
            value = value.get(name, MISSING) if isinstance(value, dict) else MISSING
        found[path] = value
    return found


def run(text: str, facts: Mapping[str, Any] | str = "A", schema: Schema = SCHEMA, **options: Any) -> Any:
    """The value of a condition, or the kind of its Undecided, or "bound"."""
    values = flat(FACTS[facts] if isinstance(facts, str) else facts, schema)
    plan = json.loads(json.dumps(check(text, schema, **options).plan))
    condition = build(plan, {path: index for index, path in enumerate(values)})
    try:
        return condition(list(values.values()))
    except Undecided as undecided:
        return undecided.kind
    except Bound:
        return "bound"

"""What is known of a plan before there are facts; `test_properties` tries it on random ones."""

from __future__ import annotations

import pytest

from ahp.conditions.guards import folded, infer, span
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import check, check_value

INF = float("inf")
SCHEMA = Schema(
    {
        "a.n": {"type": "int", "min": 1, "max": 5},
        "a.f": {"type": "float", "nullable": True},
        "a.s": "str",
        "a.l": "list[str]",
        "a.m": "map",
        "a.r": {"type": "list[record]", "fields": {"n": {"type": "int", "min": 2, "max": 3}}},
    }
)
TYPES = {path: fact.type for path, fact in SCHEMA.facts.items()}


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("a.n", "int", (1, 5)),
        ("a.n + a.n", "int", (2, 10)),
        ("a.n - a.n", "int", (-4, 4)),
        ("-a.n * a.n", "int", (-25, -1)),
        ("a.n / 2", "float", (-INF, INF)),
        ("a.n % 3", "int", (0, 3)),
        ("a.n % (a.n - 3)", "int", (-INF, INF)),
        ("a.n + 0.5", "float", (1.5, 5.5)),
        ("min(a.n, 3, 4)", "int", (1, 3)),
        ("max(a.n, a.m.k)", "number", (1, INF)),
        ("abs(a.f)", "float", (0, INF)),
        ("len(a.s)", "int", (0, INF)),
        ("count(r for r in a.r)", "int", (0, INF)),
        ("sum(r.n for r in a.r)", "int", (-INF, INF)),
        ("a.n if a.n > 3 else a.f", "float or null", (-INF, INF)),
        ("default(a.f, 0)", "float", (-INF, INF)),
        ("default(a.f, null)", "float or null", (-INF, INF)),
    ],
)
def test_type_and_values(text: str, kind: str, values: tuple[float, float]) -> None:
    plan = check_value(text, SCHEMA)
    known = span(plan, TYPES)
    assert str(infer(plan, TYPES)) == kind
    assert known == values


@pytest.mark.parametrize("text", ["['a'][5] == 'a'", "limits.names[5] < 'b'", "limits.map.absent > 1"])
def test_a_literal_that_has_no_value_is_left_to_run_time(text: str) -> None:
    constants = {"limits.names": ["a"], "limits.map": {"there": 1}}
    assert check(text, SCHEMA, constants=constants).constant is None


def test_only_what_reads_nothing_is_folded() -> None:
    assert folded(check_value("2 * len('abc')", SCHEMA)) == ["const", 6]
    for text in ("a.n * 2", "['a'][5]"):
        assert folded(check_value(text, SCHEMA)) == check_value(text, SCHEMA)
    huge = check_value("a.n * limits", Schema({"a.n": "int", "limits": "int"}))
    assert span([huge[0], huge[1], ["const", 10**400]], TYPES) == (10**400, 5 * 10**400)

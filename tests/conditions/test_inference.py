"""What is known of a plan before there are facts; `test_properties` tries it on random ones."""

from __future__ import annotations

import pytest

from ahp.conditions.inference import domain, folded, infer
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import check, check_value

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
        ("a.n", "int", "x in [1, 6)"),
        ("a.n + a.n", "int", "x in [2, 11)"),
        ("a.n - a.n", "int", "x in [-4, 5)"),
        ("-a.n * a.n", "int", "x in [-25, 0)"),
        ("a.n / 2", "float", "x is a number"),
        ("a.n % 3", "int", "x in [0, 4)"),
        ("a.n % (a.n - 3)", "int", "x is a number"),
        ("a.n + 0.5", "float", "x in [1.5, 5.5]"),
        ("min(a.n, 3, 4)", "int", "x in [1, 4)"),
        ("max(a.n, a.m.k)", "number", "x >= 1"),
        ("abs(a.f)", "float", "x >= 0"),
        ("len(a.s)", "int", "x > -1"),
        ("count(r for r in a.r)", "int", "x > -1"),
        ("sum(r.n for r in a.r)", "int", "x is a number"),
        ("a.n if a.n > 3 else a.f", "float or null", "x is a number"),
        ("default(a.f, 0)", "float", "x is a number"),
        ("default(a.f, null)", "float or null", "x is a number"),
        ("a.l[0].lower()", "str", None),
        ("a.m.k", "any", None),
        ("[a.m.k, 1]", "list[any]", None),
        ("a.n > 3 and glob(a.s, '*')", "bool", "x in [False, True]"),
    ],
)
def test_type_and_values(text: str, kind: str, values: str | None) -> None:
    plan = check_value(text, SCHEMA)
    known = domain(plan, TYPES)
    assert str(infer(plan, TYPES)) == kind
    assert (known.text("x") if known is not None else None) == values


@pytest.mark.parametrize("text", ["['a'][5] == 'a'", "limits.names[5] < 'b'", "limits.map.absent > 1"])
def test_a_literal_that_has_no_value_is_left_to_run_time(text: str) -> None:
    constants = {"limits.names": ["a"], "limits.map": {"there": 1}}
    assert check(text, SCHEMA, constants=constants).constant is None


def test_only_what_reads_nothing_is_folded() -> None:
    assert folded(check_value("2 * len('abc')", SCHEMA)) == ["const", 6]
    for text in ("a.n * 2", "['a'][5]"):
        assert folded(check_value(text, SCHEMA)) == check_value(text, SCHEMA)
    huge = check_value("a.n * limits", Schema({"a.n": "int", "limits": "int"}))
    assert domain([huge[0], huge[1], ["const", 10**400]], TYPES) is not None

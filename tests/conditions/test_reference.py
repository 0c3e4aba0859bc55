"""The reference evaluator: hardened, and able to catch the production evaluator out."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ahp.conditions import globs, reference
from ahp.conditions.evaluate import MISSING, Bound, Undecided, build
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import check, check_each

SCHEMA = Schema(
    {
        "a.n": {"type": "int", "min": 0, "max": 3, "optional": True},
        "a.s": {"type": "str"},
        "a.l": {"type": "list[str]"},
        "a.m": {"type": "map"},
        "a.e": {"type": "str", "enum": ["x", "y"]},
        "a.r": {"type": "list[record]", "fields": {"p": {"type": "str"}, "n": {"type": "int"}}},
        **{f"b.n{n}": {"type": "int"} for n in range(40)},
    }
)


def test_value() -> None:
    facts = {"a.n": 2, "a.s": "x", "a.l": ["x"], "a.m": {"k": 1}}
    assert reference.value("a.n > 1 and a.s in a.l and a.m.k == 1 and a.l[0] == 'x'", facts) is True
    assert reference.value("a.s.startswith(limits.p)", facts, constants={"limits.p": ["x", "y"]}) is True
    assert reference.value("a.s in limits.p", facts, constants={"limits.p": ("x", "y")}) is True
    with pytest.raises(Undecided, match=r"missing_fact: a\.z"):
        reference.value("a.z", facts)
    for text, kind in (
        ("z", "missing_fact"),
        ("a.m", "null_operand"),
        ("a.n / 0 > 1", "zero_division"),
        ("a.l[5] == 'x'", "index"),
        ("a.n[0] == 1", "null_operand"),
        ("a.n.x == 1", "null_operand"),
        ("any(x for x in a.n)", "null_operand"),
        ("a.n.lower() == 'x'", "null_operand"),
        ("glob(a.n, '*')", "null_operand"),
        ("len(a.n) > 1", "null_operand"),
        ("not a.s", "null_operand"),
        ("a.m['z'] == 1", "missing_fact"),
        ("a.n.x.y == 1", "null_operand"),
    ):
        with pytest.raises(Undecided) as caught:
            reference.value(text, facts)
        assert caught.value.kind == kind, text
    for text in (
        "a.n * 1.5 > 1",
        "a.s.format(a.n)",
        "getattr(a.n, 'real') == 1",
        "a.s.join(a.l)",
        "(lambda: 1)()",
        "[x for x in a.l]",
    ):
        with pytest.raises((Bound, Undecided, Exception)) as error:
            reference.value(text, {**facts, "a.n": 10**400})
        assert not isinstance(error.value, (AttributeError, TypeError)), text


def test_count_of_a_literal_is_no_count_of_items() -> None:
    assert (
        reference.disagreement(check("count(false for x in a.l) < 1 and count(x for x in a.l) > 0", SCHEMA), SCHEMA)
        is None
    )


def test_facts_are_copied() -> None:
    facts = {"a.l": ["x"], "a.n": MISSING}
    reference.value("any(x == 'x' for x in a.l)", facts)
    assert facts == {"a.l": ["x"], "a.n": facts["a.n"]}


def test_explain_gives_every_part_its_value() -> None:
    found = dict(
        reference.explain(
            "has(a.n) and (a.n + 1 > 2 or not any(x == 'x' for x in a.l)) and a.s.upper() == 'X'",
            {"a.l": ["x"], "a.s": "x"},
        )
    )
    assert found["a.s.upper()"] == "X" and found["a.l"] == ["x"] and found["has(a.n)"] is False
    assert isinstance(found["a.n + 1 > 2"], Undecided) and isinstance(found["a.n"], Undecided)
    assert "x == 'x'" not in found and "a" not in found and "1" not in found
    assert reference.explain("false", {}) == []
    parts = [("has( a.n )==true", True), ("has(a.n)", True), ("a.n", 2)]
    assert reference.explain("has( a.n )==true", {"a.n": 2}) == parts
    assert reference.explain("a['l'][0] == 'x'", {"a.l": ["x"]})[1:] == [("a.l[0]", "x"), ("a.l", ["x"])]
    assert reference.explain("1 < count(x for x in a.l)", {"a.l": ["x"]})[1][0] == "count(x for x in a.l)"


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("a.n > 1", [">=", ["fact", "a.n"], ["const", 1]]),
        ("a.s == 'x'", ["!=", ["fact", "a.s"], ["const", "x"]]),
        ("glob(a.s, 'a*')", ["glob", ["fact", "a.s"], ["const", "a?"], []]),
        ("has(a.n)", ["const", True]),
        ("a.n > 1 or a.s == 'x'", [">", ["fact", "a.n"], ["const", 1]]),
        ("a.n * 2 > 3 and a.n > 0", [">", ["*", ["fact", "a.n"], ["const", 2]], ["const", 4]]),
    ],
)
def test_a_wrong_plan_is_found_out_with_both_values(text: str, plan: list[Any]) -> None:
    checked = check(text, SCHEMA)
    assert reference.disagreement(checked, SCHEMA) is None
    if plan[0] != "const":
        found = reference.disagreement(dataclasses.replace(checked, plan=plan), SCHEMA)
        assert found is not None and " here, " in found and " by the reference" in found and len(found) <= 500


def test_conditions_of_each_are_compared_too() -> None:
    each = check_each("r in a.r", SCHEMA)
    checked = check("r.n > 1 and any(r.p == x for x in a.l)", SCHEMA, item=(each.var, each.item))
    assert reference.disagreement(checked, SCHEMA) is None
    wrong = check("r.n > 2", SCHEMA, item=(each.var, each.item))
    assert reference.disagreement(dataclasses.replace(checked, plan=wrong.plan), SCHEMA) is not None


def test_fact_sets_are_few_the_same_each_time_and_at_the_boundaries() -> None:
    checked = check("a.n > 1 and a.s == 'q' and a.e == 'x' and a.m.k == 'v'", SCHEMA)
    found = reference.fact_sets([checked.plan], checked.types)
    assert found == reference.fact_sets([checked.plan], checked.types) and len(found) == 64
    values = {path: [row[path] for row in found if row[path] is not MISSING] for path in found[0]}
    assert {0, 1, 2, 3} <= set(values["a.n"]) and "q" in values["a.s"] and set(values["a.e"]) == {"x", "y"}
    assert any(row["a.n"] is MISSING for row in found)
    assert reference.fact_sets([["const", True]], {}) == [{}] * 64


def test_a_pattern_that_varies_gives_texts_too() -> None:
    types = {"a.s": SCHEMA.facts["a.s"].type}
    plan = ["glob", ["fact", "a.s"], ["fact", "limits.g"], [["*.rs"], "docs/**"]]
    found = reference.fact_sets([plan], types)
    texts = {row["a.s"] for row in found if row["a.s"] is not MISSING}
    assert all(any(map(globs.glob(one), texts)) for one in ("*.rs", "docs/**"))
    patterns = [row["limits.g"] for row in found if row["limits.g"] is not MISSING]
    assert all(one in (["*.rs"], "docs/**") for one in patterns), "no value that it never has"


def test_count_of_items_counts_those_of_a_document_that_are_true_or_false_too() -> None:
    text, schema = "count(x for x in at(a.m, '*.y')) == 3", Schema({"a.m": {"type": "map"}})
    facts = {"a.m": {"b": {"y": True}, "c": {"y": False}, "d": {"y": 1}, "e": {}}}
    assert reference.value(text, facts)
    assert build(check(text, schema).plan, {"a.m": 0})([facts["a.m"]])

"""Refinement and layers stand on these: conjuncts, and which of two conditions is the stricter."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from ahp.conditions.compare import conjuncts, namespaces, solver, stricter
from ahp.conditions.evaluate import MISSING, Undecided, build
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import check, check_each

SCHEMA = Schema(
    {
        "x.n": {"type": "int", "nullable": True, "optional": True, "min": 0, "max": 4},
        "x.f": {"type": "float", "min": 0.0, "max": 1.0},
        "x.s": {"type": "str", "optional": True, "nullable": True},
        "x.e": {"type": "str", "enum": ["a", "b", "c"]},
        "x.b": {"type": "bool"},
        "x.l": {"type": "list[str]"},
        "y.n": {"type": "int"},
        "y.m": {"type": "map"},
        "limits.max": {"type": "int"},
        "d.added": {"type": "list[record]", "fields": {"path": {"type": "str"}, "line": {"type": "int", "min": 1}}},
    }
)

PAIRS = [
    ("x.n > 2", "x.n > 3", "stronger"),
    ("x.n >= 3", "x.n > 2", "equal"),
    ("2 < x.n", "x.n > 2", "equal"),
    ("x.n > 3", "x.n > 2", "weaker"),
    ("x.f >= 0.5", "x.f > 0.5", "stronger"),
    ("not (x.n > 3)", "x.n <= 3", "equal"),
    ("not (x.n > 3 and x.b)", "x.n <= 3 or not x.b", "equal"),
    ("x.e in ['a', 'b']", "x.e == 'a'", "stronger"),
    ("x.s in ['a', 'b']", "x.s == 'a'", "stronger"),
    ("x.s == 'a' or x.s == 'b'", "x.s in ['b', 'a']", "equal"),
    ("x.b or x.n > 1", "x.n > 2", "stronger"),
    ("x.b", "x.b and x.n > 2", "stronger"),
    ("x.n > 2 and x.n < 4", "x.n == 3", "stronger"),  # on null the left is undecidable, the right false
    ("y.n > 2 and y.n < 4", "y.n == 3", "stronger"),
    ("glob(x.s, ['a*', 'b*'])", "glob(x.s, 'a*')", "stronger"),
    ("matches(x.s, 'a')", "matches(x.s, 'a')", "equal"),
    ("matches(x.s, 'a')", "matches(x.s, 'b')", "unknown"),
    ("any(f in ['a', 'b'] for f in x.l)", "any(f == 'a' for f in x.l)", "stronger"),
    ("not any(f == 'a' for f in x.l)", "all(f != 'a' for f in x.l)", "equal"),
    ("any(f == 'a' for f in x.l)", "any(f == 'a' and x.b for f in x.l)", "stronger"),
    ("x.f < y.n", "y.n > x.f", "equal"),
    ("len(x.l) == 5 or x.b", "x.l == ['a']", "unknown"),
    ("'a' in x.l or x.b", "x.l == ['a']", "unknown"),
    ("true", "x.b", "stronger"),
    ("false", "x.b", "weaker"),
    ("x.n + 1 > 2", "1 + x.n > 2", "equal"),
    ("x.n is None", "x.n == null", "equal"),
    ("x.n is None or x.n > 3", "x.n is None", "stronger"),
    ("has(x.n) and x.n > 3", "x.n > 3", "weaker"),  # undecidable no more where the fact is absent
    ("default(x.n, 0) > 2", "x.n > 2", "unknown"),
    ("x.n > 2 if x.b else x.n > 3", "x.n > 2", "unknown"),
    ("y.m.k == 'a'", "y.m.k in ['a']", "unknown"),
    ("y.m.k == 'a'", "'a' == y.m['k']", "equal"),
    ("y.m.k and y.m.k != 'a'", "y.m.k and y.m.k != 'b'", "unknown"),  # for 'b' undecidable, then false
    ("y.m.k", "y.m.k and x.b", "stronger"),
    ("y.m.k == [1]", "y.m.k == [true]", "unknown"),
]


# What a load leaves open, and the solver decides.
OPEN = [
    ("x.e in ['a', 'b']", "x.e != 'c'", "equal"),
    ("x.s != 'a'", "x.s == 'b'", "stronger"),
    ("x.b", "x.b == true", "equal"),
    ("not x.b", "x.b == false", "equal"),
    ("x.s.startswith('a')", "x.s == 'ab'", "stronger"),
    ("matches(x.s, 'a|b')", "matches(x.s, ['b', 'a'])", "equal"),
    ("matches(x.s, '(?i)(?:(?P<key>ab{2}|cd)|e[fg])')", "matches(x.s, '(?i)cd|e[fg]')", "stronger"),
    ("matches(x.s, '(?i)(?:AKIA[0-9A-Z]{16}|cd)')", "matches(x.s, '(?i)cd')", "stronger"),
    ("not matches(x.s, 'a|b')", "not matches(x.s, 'a')", "weaker"),
    ("x.f <= y.n", "x.f < y.n", "stronger"),
]


@pytest.mark.parametrize(("a", "b", "wanted"), OPEN)
def test_the_solver_decides_what_normal_forms_leave_open(a: str, b: str, wanted: str) -> None:
    pytest.importorskip("z3", reason="the extra `proofs` is not installed")
    one, other = check(a, SCHEMA), check(b, SCHEMA)
    assert stricter(one, other) == "unknown"
    assert solver().compare(one, other).verdict == wanted


@pytest.mark.parametrize(("a", "b", "wanted"), PAIRS)
def test_stricter(a: str, b: str, wanted: str) -> None:
    mirrored = {"stronger": "weaker", "weaker": "stronger"}
    assert stricter(check(a, SCHEMA), check(b, SCHEMA)) == wanted
    assert stricter(check(b, SCHEMA), check(a, SCHEMA)) == mirrored.get(wanted, wanted)


CONDITIONS = [
    "x.n > 1",
    "x.n > 2",
    "x.n >= 2",
    "x.n == 2",
    "x.n != 2",
    "x.n in [1, 2]",
    "x.n not in [1, 2]",
    "x.n is None",
    "x.n is not None",
    "x.n < 5",
    "0 < x.n < 3",
    "x.s == 'a'",
    "x.s != 'a'",
    "x.s in ['a', 'b']",
    "x.s in ['a', null]",
    "x.s not in ['a', null]",
    "has(x.n)",
    "not has(x.n)",
    "default(x.n, 3) > 2",
    "default(x.s, 'a') == 'a'",
    "x.s.startswith('a')",
    "glob(x.s, 'a*')",
    "x.b",
    "not x.b",
    "x.b == false",
    "true",
    "false",
    "x.n > 3 and x.n < 2",
    "(x.n > 1 if x.b else x.n > 2)",
    "x.n > x.n",
    "x.s > 'a'",
]


@pytest.mark.no_cover
def test_stricter_is_never_wrong_on_enumerated_facts() -> None:
    texts = CONDITIONS + [f"({a}) and {b}" for a, b in zip(CONDITIONS[::3], CONDITIONS[1::3], strict=False)]
    texts += [f"{a} or {b}" for a, b in zip(CONDITIONS[::2], CONDITIONS[3::2], strict=False)]
    grid = list(
        itertools.product([MISSING, None, 0, 1, 2, 3, 4], [MISSING, None, "a", "b", "ab", ""], [MISSING, True, False])
    )
    slots = {"x.n": 0, "x.s": 1, "x.b": 2}
    checked = [check(text, SCHEMA) for text in texts]
    table = [[_rank(build(one.plan, slots), list(row)) for row in grid] for one in checked]
    claims = 0
    for (a, above), (b, below) in itertools.product(zip(checked, table, strict=True), repeat=2):
        found = stricter(a, b)
        claims += found != "unknown"
        if found in ("stronger", "equal"):
            assert all(x >= y for x, y in zip(above, below, strict=True)), (a.text, b.text, found)
        if found in ("weaker", "equal"):
            assert all(x <= y for x, y in zip(above, below, strict=True)), (a.text, b.text, found)
    assert claims > len(texts) * 5


def _rank(condition: Any, facts: list[Any]) -> int:
    try:
        return 2 if condition(facts) else 0
    except Undecided:
        return 1


def test_too_many_steps_leave_a_pair_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (check(f"(x.b or y.n > {n}) and (not x.b or y.n > {n})", SCHEMA) for n in (1, 2))
    assert stricter(one, other) == "stronger"
    monkeypatch.setattr("ahp.conditions.compare._STEPS", 3)
    assert stricter(one, other) == "unknown"


def test_conjuncts_are_normalised() -> None:
    one = conjuncts(check("x.n >= 3 and (not x.b and 0.5 < x.f)", SCHEMA))
    assert one == conjuncts(check("not x.b and x.f > 0.5 and x.n > 2", SCHEMA)) == {"not x.b", "x.f > 0.5", "x.n > 2"}
    assert conjuncts(check("1 < y.n < 9", SCHEMA)) == {"y.n > 1", "y.n < 9"}
    assert conjuncts(check("not (x.b or y.n > 1)", SCHEMA)) == {"not x.b", "y.n < 2"}
    assert conjuncts(check("x.b or y.n > 1", SCHEMA)) == {"(x.b or y.n > 1)"}
    assert conjuncts(check("true", SCHEMA)) == {"true"}


def test_conjuncts_of_different_meaning_have_different_texts() -> None:
    texts = [
        "x.n == 2",
        "x.n > 2",
        "x.n < 2",
        "x.n != 2",
        "x.n in [1, 2, 4]",
        "x.n not in [1, 2, 4]",
        "x.n in [null, 2]",
        "x.n not in [null, 2]",
        "x.n in []",
        "x.n is None",
        "x.n is not None",
        "x.s == 'a'",
        "x.s != 'a'",
        "x.s in ['a', null]",
        "x.s not in ['a', null]",
        "x.f > 0.5",
        "x.f >= 0.5",
        "x.f < 0.5",
        "x.f <= 0.5",
        "x.f == 0.5",
        "x.f != 0.5",
        "x.f in [0.25, 0.5]",
        "not x.f in [0.25, 0.5]",
        "y.m.k == 1",
        "y.m.k == true",
        "y.m.k == '1'",
        "y.m['k.l'] == 1",
        "y.m.k.l == 1",
        "y.m.k > 1",
        "y.m.k > y.n",
        "y.m.k < y.m.l",
        "len(x.l) > 1",
        "count(true for f in x.l) > 1",
        "sum(1 for f in x.l) > 1",
        "sum(2 for f in x.l) > 1",
        "x.l[0] == 'a'",
        "x.l[1] == 'a'",
        "sum(1 for f in x.l if f == 'a') > 1",
        "-y.n > 1",
        "y.n - 1 > 1",
        "1 - y.n > 1",
        "y.n // 2 > 1",
        "y.n / 2 > 1",
        "y.n % 2 > 1",
        "min(y.n, 1) > 0",
        "max(y.n, 1) > 2",
        "abs(y.n) > 1",
        "(1 if x.b else 2) > 1",
        "'a' in x.l",
        "'a' in x.s",
        "x.s in x.l",
        "x.s.strip() == 'a'",
        "x.s.strip('x') == 'a'",
        "x.l == ['a']",
        "x.l != ['a']",
        "x.l == []",
        "default(x.b, true)",
        "x.b",
        "not x.b",
        "y.m.k in ['a']",
        "y.m.k in x.l",
        "contains(y.m, 'k')",
        "x.s > 'a'",
        "x.s >= 'a'",
    ]
    found = [conjuncts(check(text, SCHEMA)) for text in texts]
    for (a, one), (b, other) in itertools.combinations(zip(texts, found, strict=True), 2):
        assert one != other, (a, b)


def test_namespaces_are_those_of_each_conjunct() -> None:
    checked = check("x.b and y.n > limits.max and any(f == y.m.k for f in x.l)", SCHEMA)
    assert sorted(map(sorted, namespaces(checked).values())) == [["x"], ["x", "y"], ["y"]]
    constants = {"limits.max": 3}
    assert namespaces(check("y.n > limits.max", SCHEMA, constants=constants)) == {"y.n > 3": frozenset({"y"})}


def test_conditions_about_the_items_of_each_compare_too() -> None:
    each = check_each("l in d.added", SCHEMA)
    one = check("glob(l.path, ['*.py', '*.js'])", SCHEMA, item=(each.var, each.item))
    other = check("glob(l.path, '*.py')", SCHEMA, item=(each.var, each.item))
    assert stricter(one, other) == "stronger"
    never = check("l.line < 1", SCHEMA, item=(each.var, each.item))
    assert never.constant is False
    assert stricter(never, check("false", SCHEMA, item=(each.var, each.item))) != "equal"  # undecidable without a line
    assert stricter(never, check("l.path == 'a'", SCHEMA, item=(each.var, each.item))) == "unknown"

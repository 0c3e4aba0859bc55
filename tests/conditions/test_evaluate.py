"""Plans as closures: what is unknown, what breaks a bound, what is no plan."""

from __future__ import annotations

import copy
import itertools
import time
from typing import Any

import pytest

from ahp.conditions import logic
from ahp.conditions.evaluate import MISSING, Bound, PlanError, Undecided, build, build_each, set_deadline
from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import check, check_each

SCHEMA = Schema(
    {
        "a.n": {"type": "int", "nullable": True},
        "a.m": {"type": "int"},
        "a.s": {"type": "str", "nullable": True},
        "a.b": {"type": "bool", "nullable": True},
        "a.l": {"type": "list[str]", "nullable": True},
        "a.r": {"type": "list[record]", "fields": {"p": {"type": "str"}, "n": {"type": "int", "nullable": True}}},
        "a.i": {"type": "map", "nullable": True},
        "a.v": {"type": "list"},
    }
)
PATHS = [fact.path for fact in SCHEMA]
SLOTS = {path: index for index, path in enumerate(PATHS)}


def evaluate(text: str, **facts: Any) -> bool:
    return build(check(text, SCHEMA).plan, SLOTS)([facts.get(path.removeprefix("a."), MISSING) for path in PATHS])


def test_kleene_tables() -> None:
    words = {True: "a.m == 1", False: "a.m == 2", None: "a.n > 1"}
    for one, other in itertools.product(words, repeat=2):
        wanted = False if False in (one, other) else None if None in (one, other) else True
        assert _three(f"{words[one]} and {words[other]}", m=1) is wanted
        wanted = True if True in (one, other) else None if None in (one, other) else False
        assert _three(f"{words[one]} or {words[other]}", m=1) is wanted
    assert _three("not a.n > 1", m=1) is None


def _three(text: str, **facts: Any) -> bool | None:
    try:
        return evaluate(text, **facts)
    except Undecided:
        return None


UNDECIDED = [
    ("a.n > 1", {}, "missing_fact", "a.n"),
    ("a.n > 1", {"n": None}, "null_operand", "a.n"),
    ("1 < a.m < a.n", {"m": 3, "n": None}, "null_operand", "a.n"),
    ("a.m + a.n > 1", {"m": 1}, "missing_fact", "a.n"),
    ("a.m / a.n > 1", {"m": 1, "n": 0}, "zero_division", None),
    ("a.b", {}, "missing_fact", "a.b"),
    ("a.b", {"b": None}, "null_operand", "a.b"),
    ("a.i.x", {"i": {"x": 1}}, "null_operand", "a.i.x"),
    ("a.i.x", {"i": {}}, "missing_fact", "a.i.x"),
    ("a.s.startswith('a')", {"s": None}, "null_operand", "a.s"),
    ("'a'.startswith(a.s)", {}, "missing_fact", "a.s"),
    ("a.s.strip('x') == ''", {}, "missing_fact", "a.s"),
    ("'x'.strip(a.s) == ''", {}, "missing_fact", "a.s"),
    ("a.l[3] == 'x'", {"l": []}, "index", "a.l"),
    ("a.l[0] == 'x'", {}, "missing_fact", "a.l"),
    ("a.l[0] == 'x'", {"l": None}, "null_operand", "a.l"),
    ("a.i.x.y == 'x'", {"i": {"x": 1}}, "null_operand", "a.i.x"),
    ("a.i.x.y == 'x'", {}, "missing_fact", "a.i"),
    ("a.i.x[0] == 'x'", {"i": {"x": {}}}, "null_operand", "a.i.x"),
    ("glob(a.s, '*')", {}, "missing_fact", "a.s"),
    ("glob(a.s, '*')", {"s": None}, "null_operand", "a.s"),
    ("a.s in ['a', a.i.x]", {"s": "a", "i": {}}, "missing_fact", "a.i.x"),
    ("a.s in a.l", {"l": []}, "missing_fact", "a.s"),
    ("a.s is None", {}, "missing_fact", "a.s"),
    ("a.s in a.i", {"s": None, "i": {}}, "null_operand", "a.s"),
    ("a.i.x in a.i.y", {"i": {"x": 1, "y": "text"}}, "null_operand", None),
    ("a.i.x > a.i.y", {"i": {"x": 1, "y": "text"}}, "null_operand", None),
    ("a.i.x > a.i.y", {"i": {"x": [], "y": []}}, "null_operand", None),
    ("len(a.l) > 1", {"l": None}, "null_operand", "a.l"),
    ("abs(a.n) > 1", {"n": None}, "null_operand", "a.n"),
    ("a.s in [a.i.x.lower(), a.s.lower()]", {"s": None, "i": {"x": "b"}}, "null_operand", "a.s"),
    ("a.n > a.i.x", {"n": None, "i": {"x": 1}}, "null_operand", "a.n"),
    ("max(a.n, a.i.x + 1) > 1", {"n": None, "i": {"x": 1}}, "null_operand", "a.n"),
    ("min(a.m, a.n) > 1", {"m": 1}, "missing_fact", "a.n"),
    ("-a.n > 1", {"n": None}, "null_operand", "a.n"),
    ("(a.n if a.b else a.m) > 1", {"m": 1}, "missing_fact", "a.b"),
    ("(a.n if a.b else a.m) > 1", {"b": True, "m": 1}, "missing_fact", "a.n"),
    ("any(x == 'a' for x in a.l)", {}, "missing_fact", "a.l"),
    ("any(x == 'a' for x in a.l)", {"l": None}, "null_operand", "a.l"),
    ("any(x.n > 1 for x in a.r)", {"r": [{"p": "a", "n": None}]}, "null_operand", None),
    ("sum(x.n for x in a.r) > 1", {"r": [{"p": "a"}]}, "missing_fact", None),
    ("count(x.n > 1 for x in a.r) > 1", {"r": [{"p": "a"}]}, "missing_fact", None),
    ("has(a.i.x.y)", {"i": {"x": None}}, "null_operand", "a.i.x"),
    ("default(a.i.x.y, 1) == 1", {"i": {"x": None}}, "null_operand", "a.i.x"),
    ("a.l == ['a']", {}, "missing_fact", "a.l"),
    ("a.m > 1 or a.n > 1", {"m": 0}, "missing_fact", "a.n"),
]


@pytest.mark.parametrize(("text", "facts", "kind", "path"), UNDECIDED, ids=[f"{one[0]} {one[1]}" for one in UNDECIDED])
def test_undecidable_names_kind_and_fact(text: str, facts: dict[str, Any], kind: str, path: str | None) -> None:
    with pytest.raises(Undecided) as caught:
        evaluate(text, **facts)
    assert caught.value.kind == kind
    if path is not None:
        assert caught.value.path == path and path in str(caught.value)
    told = caught.value.told()
    assert "_" not in told.removeprefix(path or "") and (path or "") in told  # no word of the code


def test_presence() -> None:
    assert evaluate("has(a.n)", n=None) and not evaluate("has(a.n)") and not evaluate("has(a.i.x.y)")
    assert (
        evaluate("default(a.n, 3) == 3", n=None)
        and evaluate("default(a.n, 3) == 3")
        and evaluate("default(a.n, 3) == 4", n=4)
    )
    assert evaluate("default(a.i.x, 'no') == 'no'", i={})
    assert evaluate("a.n == null", n=None) and not evaluate("a.n == 1", n=None) and evaluate("a.n != 1", n=None)
    assert evaluate("a.s in ['x', null]", s=None)


def test_arithmetic_that_has_no_number_for_a_result_breaks_a_bound() -> None:
    for text in ("a.i.x * 9e307 - a.i.x * 9e307 < 1", "sum((a.m - x.n) * 9e307 * 9e307 for x in a.r) < 1"):
        with pytest.raises(Bound):
            evaluate(text, m=1, i={"x": 1e308}, r=[{"n": 0}, {"n": 2}])
    assert check("a.m - 9e307 * 9e307 < 5", SCHEMA).constant in (None, True)


def test_true_in_a_list_or_a_map_is_not_1() -> None:
    assert not evaluate("a.i.x == [1]", i={"x": [True]}) and evaluate("a.i.x == [1]", i={"x": [1.0]})
    assert not evaluate("a.v == [1]", v=[True]) and not evaluate("[1] == a.v", v=[[1]])
    assert not evaluate("a.i.x == a.i.y", i={"x": {"z": [True]}, "y": {"z": [1]}})
    assert evaluate("a.i.x == a.i.y", i={"x": {"z": [1]}, "y": {"z": [1]}})


def test_an_item_that_decides_wins_over_one_that_is_unknown() -> None:
    items = [{"p": "a"}, {"p": "b", "n": 5}]
    assert evaluate("any(x.n > 1 for x in a.r)", r=items) is True
    assert evaluate("all(x.n > 9 for x in a.r)", r=items) is False
    assert evaluate("any(x.n > 1 for x in a.r if x.p == 'b')", r=items) is True
    assert evaluate("all(x.n > 1 for x in a.r if x.p == 'b')", r=items) is True
    assert evaluate("any(x.n > 9 for x in a.r if x.p == 'b')", r=items) is False
    assert evaluate("all(false for x in a.l)", l=[]) and not evaluate("any(true for x in a.l)", l=[])
    assert evaluate("sum(1.5 for x in a.l) == 0 and count(x for x in a.l) == 0", l=[])


def test_each_keeps_hits_and_the_first_doubt() -> None:
    each = check_each("r in a.r", SCHEMA)
    checked = check("r.n > 1 and r.p != 'z'", SCHEMA, item=("r", each.item))
    condition = build_each(each.plan, checked.plan, "r", {"a.r": 0})
    items = [{"p": "a"}, {"p": "b", "n": 5}, {"p": "c", "n": None}]
    hits, doubt = condition([items])
    assert hits == [items[1]] and doubt is not None and (doubt.kind, doubt.path) == ("missing_fact", "r.n")
    for missing in (MISSING, None):
        with pytest.raises(Undecided) as caught:
            condition([missing])
        assert caught.value.path == "a.r"


JOINED = [
    "any(k.p == r.p and k.n in [r.n, r.n + 1] and k.n > 0 for k in a.r)",
    "any(r.p == k.p and k.n - r.n in [0, 1] and k.n > 0 for k in a.r)",
    "any(k.n == r.n for k in a.r)",
    "any(k.p == 'q' and k.n > r.n for k in a.r)",
]


@pytest.mark.parametrize("text", JOINED)
@pytest.mark.parametrize("odd", [None, {"p": "q"}, {"p": "q", "n": None}, {"p": None, "n": 3}])
def test_a_loop_that_finds_its_items_by_a_field_says_what_one_that_asks_all_says(
    text: str, odd: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    each = check_each("r in a.r", SCHEMA)
    checked = check(text, SCHEMA, item=("r", each.item))
    items: list[Any] = [{"p": "pqr"[n % 3], "n": n // 2} for n in range(40)]
    items += [odd] if odd else []
    found = build_each(each.plan, checked.plan, "r", {"a.r": 0})([items])
    monkeypatch.setattr(logic, "joins", lambda *_: [])
    plainly = build_each(each.plan, checked.plan, "r", {"a.r": 0})([items])
    assert found[0] == plainly[0]
    assert (found[1] is None) == (plainly[1] is None)


@pytest.mark.parametrize(("text", "most"), [(JOINED[0], 2), ("any(k.n == r.n + 1 for k in a.r if k.p == r.p)", 1)])
def test_of_a_long_list_only_what_can_hold_is_asked(text: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    each = check_each("r in a.r", SCHEMA)
    checked = check(text, SCHEMA, item=("r", each.item))
    condition = build_each(each.plan, checked.plan, "r", {"a.r": 0})
    asked: list[int] = []
    chunks = logic._chunks
    monkeypatch.setattr(logic, "_chunks", lambda items: asked.append(len(items)) or chunks(items))
    items = [{"p": "a", "n": n} for n in range(1000)]
    condition([items])
    assert asked[0] == 1000 and max(asked[1:]) <= most


def test_bounds_are_not_undecidable(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Bound):
        evaluate("a.m * 1.5 > 1", m=10**400)
    with pytest.raises(Bound):
        evaluate("a.m * 1.5 > 1 or a.m > 1", m=10**400)
    each = check_each("r in a.r", SCHEMA)
    over = check("r.n * 1.5 > 1", SCHEMA, item=("r", each.item))
    with pytest.raises(Bound):
        build_each(each.plan, over.plan, "r", {"a.r": 0})([[{"n": 10**400}]])
    monkeypatch.setattr(logic, "MAX_ITEMS", 2)
    for text in ("any(x == 'b' for x in a.l)", "count(x == 'b' for x in a.l) > 1", "sum(1 for x in a.l) > 1"):
        assert evaluate(text, l=["a", "a"]) is False or "sum" in text
        with pytest.raises(Bound, match="3 items"):
            evaluate(text, l=["a", "a", "a"])
    with pytest.raises(Bound):
        build_each(each.plan, over.plan, "r", {"a.r": 0})([[{"n": 1}] * 3])


def test_deadline_ends_loops() -> None:
    set_deadline(time.monotonic() - 1)
    try:
        for text in ("any(x == 'b' for x in a.l)", "count(x == 'b' for x in a.l) > 1", "sum(1 for x in a.l) > 1"):
            with pytest.raises(Bound, match="time"):
                evaluate(text, l=["a"])
    finally:
        set_deadline(float("inf"))
    assert evaluate("any(x == 'b' for x in a.l)", l=["a"] * 3000 + ["b"])


def test_a_pattern_that_was_not_checked_is_a_bound() -> None:
    schema = Schema({"a.s": {"type": "str"}, "limits.w": {"type": "str"}})
    checked = check("matches(a.s, limits.w)", schema, variants={"limits.w": ["^a"]})
    condition = build(checked.plan, {"a.s": 0, "limits.w": 1})
    assert condition(["ab", "^a"]) and condition(["ab", "^a"])
    with pytest.raises(Bound):
        condition(["ab", "^b"])
    with pytest.raises(Undecided):
        condition(["ab", MISSING])
    several = build(["matches", ["fact", "a.s"], ["const", ["^a", "^b"]], []], {"a.s": 0})
    assert several(["b"]) and not several(["c"])


@pytest.mark.parametrize(
    "plan",
    [
        None,
        1,
        [],
        {},
        "fact",
        ["fact"],
        ["fact", "unknown"],
        ["evil", 1],
        ["and", 1],
        ["and"],
        ["if", ["const", 1]],
        [["and"]],
        ["len"],
        ["startswith", ["fact", "a.s"], 1],
        ["contains", ["const", "a"], ["fact", "a.s"]],
        ["not"],
        [None],
        ["in", ["fact", "a.s"], ["const", [[]]]],
        ["any", ["const", True], "x"],
        ["<", ["const", 1]],
    ],
)
def test_what_is_no_plan_is_refused(plan: Any) -> None:
    with pytest.raises(PlanError):
        build(plan, {"a.s": 0})
    with pytest.raises(PlanError):
        build_each(plan, ["const", True], "x", {"a.s": 0})


def test_a_foreign_pattern_is_a_plan_error() -> None:
    with pytest.raises(PlanError):
        build(["glob", ["fact", "a.s"], ["const", "[a"], []], {"a.s": 0})(["x"])


def test_facts_are_never_changed() -> None:
    values = [1, 2, "a", True, ["a"], [{"p": "a", "n": 1}], {"x": [1]}]
    before = copy.deepcopy(values)
    for text in (
        "any(x.n > 0 for x in a.r)",
        "a.l == ['a'] and 'x' in a.i",
        "sum(x.n for x in a.r) + a.n > 1",
        "default(a.i.x, 1) == 1",
    ):
        build(check(text, SCHEMA).plan, SLOTS)(values)
    assert values == before


def test_of_two_nulls_the_first_is_named() -> None:
    schema = Schema({"b.x": {"type": "int", "nullable": True}, "b.y": {"type": "int", "nullable": True}})
    condition = build(check("b.x + b.y > 1", schema).plan, {"b.x": 0, "b.y": 1})
    for values, path in (([None, None], "b.x"), ([1, None], "b.y"), ([None, MISSING], "b.y")):
        with pytest.raises(Undecided) as caught:
            condition(values)
        assert caught.value.path == path

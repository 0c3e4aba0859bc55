"""What must hold of every condition, tried on random ones."""

from __future__ import annotations

import json
import string
from typing import Any

from hypothesis import assume, example, given
from hypothesis import strategies as st

from ahp.conditions import reference
from ahp.conditions.compare import conjuncts, never, normal, stricter
from ahp.conditions.evaluate import MISSING, Bound, Undecided, build, closure
from ahp.conditions.guards import infer, span
from ahp.conditions.runtime import FAULTS
from ahp.conditions.schema import type_of_value
from ahp.conditions.typecheck import Checked, ConditionError, check, check_value
from tests.conditions.strategies import SCHEMA, conditions, facts, numbers, texts
from tests.examples import examples

PATHS = sorted(SCHEMA.facts)
SLOTS = {path: index for index, path in enumerate(PATHS)}
RANK = {False: 0, "undecided": 1, True: 2}


def accepted(text: str) -> Checked:
    try:
        return check(text, SCHEMA)
    except ConditionError:
        assume(False)
        raise


def outcome(checked: Checked, values: dict[str, Any]) -> Any:
    try:
        return build(json.loads(json.dumps(checked.plan)), SLOTS)([values[path] for path in PATHS])
    except Undecided:
        return "undecided"
    except Bound:
        return "bound"


def by_reference(text: str, values: dict[str, Any]) -> Any:
    try:
        return reference.value(text, values)
    except Undecided:
        return "undecided"
    except Bound:
        return "bound"


@examples(400)
@given(conditions(2), facts())
def test_both_evaluators_agree(text: str, values: dict[str, Any]) -> None:
    before = {path: value if value is MISSING else json.dumps(value) for path, value in values.items()}
    assert outcome(accepted(text), values) == by_reference(text, values)
    assert before == {path: value if value is MISSING else json.dumps(value) for path, value in values.items()}


@examples(200)
@given(conditions(2))
def test_generated_facts_find_no_disagreement(text: str) -> None:
    assert reference.disagreement(accepted(text), SCHEMA) is None


@examples(200)
@given(conditions(2), facts())
def test_constant_verdicts_are_never_wrong(text: str, values: dict[str, Any]) -> None:
    checked = accepted(text)
    found = outcome(checked, values)
    if checked.constant is not None and isinstance(found, bool):
        assert found is checked.constant


@examples(400)
@given(st.one_of(numbers(2), texts(2), conditions(1)), facts())
def test_what_is_inferred_holds(text: str, values: dict[str, Any]) -> None:
    try:
        plan = check_value(text, SCHEMA)
    except ConditionError:
        assume(False)
    types = {path: fact.type for path, fact in SCHEMA.facts.items()}
    kind, (low, high) = infer(plan, types), span(plan, types)
    try:
        found = closure(plan, SLOTS)([values[path] for path in PATHS])
    except (*FAULTS, OverflowError, Bound):
        assume(False)
    if found is MISSING or (found is None and kind.nullable):
        return
    named = type_of_value(found)
    assert kind.name in ("any", named.name) or (kind.is_number and named.is_number and kind.name != "int"), kind
    if named.is_number:
        assert low <= found <= high


@examples(300)
@given(conditions(1), conditions(1), st.sampled_from(["{a}", "{a} and {b}", "{a} or {b}", "not ({a})", "{b}"]), facts())
def test_stricter_is_never_wrong(a: str, b: str, shape: str, values: dict[str, Any]) -> None:
    one, other = accepted(a), accepted(shape.format(a=f"({a})", b=f"({b})"))
    found = stricter(one, other)
    first, second = outcome(one, values), outcome(other, values)
    assume("bound" not in (first, second))
    if found == "equal":
        assert first == second
    if found == "stronger":
        assert RANK[first] >= RANK[second]
    if found == "weaker":
        assert RANK[first] <= RANK[second]
    mirrored = {"stronger": "weaker", "weaker": "stronger"}
    assert stricter(other, one) == mirrored.get(found, found)


@examples(200)
@given(conditions(2), conditions(2), facts())
def test_equal_conjuncts_mean_the_same(a: str, b: str, values: dict[str, Any]) -> None:
    one, other = accepted(a), accepted(f"{b} and {a}")
    assert conjuncts(accepted(f"({a}) and ({b})")) == conjuncts(accepted(f"({b}) and ({a})"))
    if conjuncts(one) == conjuncts(other):
        assert outcome(one, values) == outcome(other, values)


@examples(150)
@given(conditions(2))
def test_normal_form_of_a_double_negation_is_the_same(text: str) -> None:
    plan, types = accepted(text).plan, accepted(text).types
    assert normal(["not", ["not", plan]], types) == normal(plan, types)
    assert never(normal(["and", plan, ["const", False]], types))


@examples(500)
@given(st.text(max_size=80))
@example("ª.b")
@example("\x00")
@example("'\ud800'")
@example("((((((((((((((((((((((((((")
def test_random_text_raises_nothing_but_the_condition_error(text: str) -> None:
    _try(text)


_WORDS = st.sampled_from(
    [
        "n.a",
        "n.b",
        "s.a",
        "b.a",
        "l.s",
        "l.r",
        "m.m",
        "c",
        "and",
        "or",
        "not",
        "in",
        "is",
        "if",
        "else",
        "for",
        "any",
        "all",
        "count",
        "sum",
        "has",
        "default",
        "len",
        "min",
        "glob",
        "matches",
        "(",
        ")",
        "[",
        "]",
        ",",
        ".",
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "<",
        "<=",
        ">",
        ">=",
        "==",
        "!=",
        "=",
        "&",
        "|",
        "!",
        "'a'",
        '"x"',
        "0",
        "1",
        "2.5",
        "1e9",
        "None",
        "true",
        "false",
        "null",
        "r'\\d'",
        "startswith",
        "lower",
        "#",
        "\n",
        "lambda",
        ":",
        "{",
        "}",
        "@",
        "~",
        "^",
    ]
)


@examples(700)
@given(st.lists(_WORDS, max_size=25).map(" ".join))
def test_random_words_raise_nothing_but_the_condition_error(text: str) -> None:
    _try(text)


@examples(300)
@given(conditions(2), st.integers(0, 200), st.sampled_from(list(string.printable)))
def test_a_mutated_condition_raises_nothing_but_the_condition_error(text: str, at: int, char: str) -> None:
    _try(text[: at % len(text)] + char + text[at % len(text) + 1 :])


def _try(text: str) -> None:
    try:
        checked = check(text, SCHEMA)
    except ConditionError as error:
        assert error.problems and all(len(str(problem)) <= 500 for problem in error.problems)
        assert all(str(problem).isprintable() for problem in error.problems)
    else:
        assert json.loads(json.dumps(checked.plan)) == checked.plan
        assert isinstance(outcome(checked, dict.fromkeys(PATHS, MISSING)), (bool, str))

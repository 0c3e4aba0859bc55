"""Values and truths in the words of a solver (Z3), as `ahp.conditions.translate` makes them of conditions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import z3

from ahp.conditions.schema import ANY, Type

KINDS = ("null", "bool", "number", "str", "list", "map")  # what a map's value may be

Formula = Any  # True, False or an expression of the solver


def all_of(*parts: Formula) -> Formula:
    """Formulas joined by `and`."""
    kept = [one for one in parts if one is not True]
    if any(one is False for one in kept):
        return False
    return z3.And(*kept) if len(kept) > 1 else kept[0] if kept else True


def any_of(*parts: Formula) -> Formula:
    """Formulas joined by `or`."""
    kept = [one for one in parts if one is not False]
    if any(one is True for one in kept):
        return True
    return z3.Or(*kept) if len(kept) > 1 else kept[0] if kept else False


def negated(one: Formula) -> Formula:
    """A formula with `not` before it."""
    if isinstance(one, bool):
        return not one
    return z3.Not(one)


@dataclass(frozen=True)
class Truth:
    """When a condition is true and when it is false; it is undecided where it is neither."""

    true: Formula
    false: Formula


def decided(known: Formula, holds: Formula) -> Truth:
    """A question that is true where it `holds` and false elsewhere, as far as that is `known`."""
    return Truth(all_of(known, holds), all_of(known, negated(holds)))


@dataclass(frozen=True)
class Value:
    """What an expression yields: when it is absent, at fault, null, a bool, a number, a text, a list or a map, of which
    exactly one holds; and the term that it then is. A list's is a function that gives its items (how often, value), a
    map's is one from keys to values. Values of one `name` are the same value.
    """

    states: Mapping[str, Formula]
    terms: Mapping[str, Any]
    type: Type = ANY
    name: str = ""

    def being(self, *states: str) -> Formula:
        return any_of(*(holds for state, holds in self.states.items() if state in states))

    @property
    def there(self) -> Formula:
        """Neither absent nor at fault; null, perhaps."""
        return negated(self.being("absent", "fault"))

    @property
    def kind(self) -> str:
        """What it is where it is anything; "" where that may differ."""
        kinds = [one for one, holds in self.states.items() if holds is not False and one in KINDS[1:]]
        return kinds[0] if len(kinds) == 1 else ""

    @property
    def listed(self) -> list[tuple[Any, Value]]:
        """The items where it is a list, the values where it is a map."""
        return list(self.terms.get("list", list)())

    def typed(self, *kinds: str) -> Value:
        """The same where one of these kinds is needed: any other one is a fault."""
        states = {state: holds for state, holds in self.states.items() if state in (*kinds, "absent")}
        terms = {kind: term for kind, term in self.terms.items() if kind in kinds}
        return replace(self, states={**states, "fault": negated(any_of(*states.values()))}, terms=terms)


FAULT = Value({"fault": True}, {})


def chosen(test: Formula, one: Value, other: Value) -> Value:
    """`one` where the test holds, else `other`."""
    if isinstance(test, bool):
        return one if test else other
    states = {
        state: any_of(all_of(test, one.being(state)), all_of(negated(test), other.being(state)))
        for state in {**one.states, **other.states}
    }
    terms = {**one.terms, **other.terms}
    for kind in [kind for kind in one.terms if kind in other.terms]:
        first, second = one.terms[kind], other.terms[kind]
        if kind == "list":
            terms[kind] = lambda first=first, second=second: [
                *((z3.If(test, times, 0), item) for times, item in first()),
                *((z3.If(test, 0, times), item) for times, item in second()),
            ]
        elif kind == "map":
            terms[kind] = lambda key, first=first, second=second: chosen(test, first(key), second(key))
        else:
            terms[kind] = z3.If(test, first, second)
    return Value(states, terms, one.type if one.type == other.type else ANY)


def known_number(term: Any, known: Formula) -> Value:
    return Value({"number": known, "fault": negated(known)}, {"number": term})

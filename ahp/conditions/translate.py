"""Conditions in the words of a solver (Z3): when each is true, and when it is false.

What has no translation (arithmetic of floats, a sum) is a free variable, the same for the same expression. So
whatever the solver excludes is excluded, and whatever it finds has to be confirmed. `plain` says what such a variable
mostly is: that finds examples, and proves nothing.

A list is a few items in their order, each with the number of times that it is there: the conditions ask a few questions
about a list, and each answer stands on one item, which all others may be like.
"""

from __future__ import annotations

import gc
import itertools
import json
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from functools import partial, reduce
from typing import Any

import z3

from ahp.conditions.closures import steps_of
from ahp.conditions.compare import render
from ahp.conditions.guards import Plan, folded, infer, span, walk
from ahp.conditions.list_sizes import MOST_ITEMS, sizes_of
from ahp.conditions.regular import Patterns, Untranslated
from ahp.conditions.schema import ANY, Type
from ahp.conditions.terms import (
    FAULT,
    KINDS,
    Formula,
    Truth,
    Value,
    all_of,
    any_of,
    chosen,
    decided,
    known_number,
    negated,
)

_NO_PROOF = 3  # items of a list that would need more: enough for most examples
_LAST_DAY = 40_000  # of an example, from 1970 on
_SHORT = 250  # items of a kind that an example has at most, if it can
_STATES = {"int": "number", "float": "number", "record": "map"}  # of the types that have another name

Scope = Mapping[str, "Value"]


_AT_ONCE = 100  # translations, of some MB each, that may wait for Python to let go of them
_made = itertools.count(1)


class Translation:
    """The variables of some conditions about the same facts, and what is known of them."""

    def __init__(self, plans: list[Plan], types: Mapping[str, Type]) -> None:
        if not next(_made) % _AT_ONCE:
            gc.collect()  # they stand in circles, and Python does not know how much the solver holds for each
        self.types, self.context = types, z3.Context()
        self.patterns = Patterns(self.context)
        self.literals: list[str] = []  # texts that are written out; each stands for its place here
        self.texts: dict[int, Any] = {}  # numbers that stand for a text, by their identity for the solver
        self.asked: list[tuple[Any, Any, Formula]] = []  # a text, a language, that it is in there
        self.made_of: list[
            tuple[Any, list[tuple[Any, Any]], Callable[[list[Any]], str]]
        ] = []  # texts: (how often, term)
        self.variables: dict[str, Any] = {}
        self.known: list[Formula] = []
        self.plain: list[Formula] = []  # what an example has, if it can, the last ones with less need
        self.free: dict[str, str] = {}  # the expressions that have no translation, and why
        self.guessed: dict[str, Any] = {}  # the variables in their place
        self.facts: dict[str, Value] = {}
        self.truths: dict[tuple[Any, ...], Truth] = {}
        self.members: dict[str, dict[Any, Value]] = {}  # of each map, by its name: of a text, a term, None for its keys
        self.lists: dict[
            str, list[tuple[Any, Value]]
        ] = {}  # the items of each list, or the values of a map, by its name
        self.sizes = sizes_of(plans)
        self.short = {name for name, size in self.sizes.items() if size > MOST_ITEMS}  # not every case is translated
        self._numbers = itertools.count()

    # Variables.

    def variable(self, name: str, sort: Callable[..., Any]) -> Any:
        if name not in self.variables:
            self.variables[name] = sort(name, self.context)
        return self.variables[name]

    def fact(self, path: str) -> Value:
        if path not in self.facts:
            self.facts[path] = self.perhaps(self.made(self.types.get(path, ANY), path, path))
        return self.facts[path]

    def perhaps(self, found: Value) -> Value:
        """A value that may be absent, which an example rather has not."""
        absent = self.variable(f"{found.name} absent", z3.Bool)
        self.plain.append(negated(absent))
        return replace(chosen(absent, Value({"absent": True}, {}), found), type=found.type, name=found.name)

    def made(self, kind: Type, name: str, list_name: str = "") -> Value:
        """A new value of a type: a fact, an item of a list, a field. `list_name` is that of a list for `sizes`."""
        if kind.name == "any":
            tag = self.variable(f"{name} kind", z3.Int)
            self.known += [tag >= 0, tag < len(KINDS)]
            self.plain.append(tag != 0)
            states = {state: tag == at for at, state in enumerate(KINDS)}
        else:
            null = self.variable(f"{name} null", z3.Bool) if kind.nullable else False
            self.plain += [negated(null)] if kind.nullable else []
            states = {"null": null, _STATES.get(kind.name, kind.name): negated(null)}
        terms: dict[str, Any] = {}
        if "bool" in states:
            terms["bool"] = self.variable(f"{name} bool", z3.Bool)
        if "number" in states:
            terms["number"] = self.variable(f"{name} number", z3.Int if kind.name == "int" else z3.Real)
            self._range(terms["number"], kind.low, kind.high)
        if "str" in states:
            text = terms["str"] = self.variable(f"{name} text", z3.Int)
            if kind.enum is not None:
                self.known.append(any_of(*(self.same(text, self.constant(one).terms["str"]) for one in kind.enum)))
        if "map" in states:
            terms["map"] = partial(self._key, name, kind, list_name)
        if {"list", "map"} & states.keys():
            terms["list"] = partial(self._items, name, kind, list_name)
        return Value(states, terms, kind, name)

    def _items(self, name: str, kind: Type, list_name: str) -> list[tuple[Any, Value]]:
        """The items of the list of a name and type, made when something asks for them: a document has no end."""
        if name not in self.lists:
            size = self.sizes.get(list_name, 1)
            slots = [f"{name}[{at}]" for at in range(size if size <= MOST_ITEMS else _NO_PROOF)]
            items = [(self.variable(f"{one} times", z3.Int), self.made(kind.item or ANY, one)) for one in slots]
            self.known += [times >= 0 for times, _ in items]
            self.plain += [times <= most for most in (_SHORT, 1) for times, _ in items]
            if kind.name == "any":  # a list has what is asked of it, a map also the values of keys that are named
                self.plain.append(self.variable(f"{name} kind", z3.Int) == KINDS.index("list"))
            self.lists[name] = items
        return self.lists[name]

    def _range(self, term: Any, low: float | None, high: float | None) -> None:
        if low is not None and abs(low) != math.inf:
            self.known.append(term >= self.number(low))
        if high is not None and abs(high) != math.inf:
            self.known.append(term <= self.number(high))

    def number(self, found: float) -> Any:
        if isinstance(found, int):
            return z3.IntVal(found, self.context)
        return z3.RealVal(str(Fraction(found)), self.context)

    def _key(self, name: str, kind: Type, list_name: str, key: Any) -> Value:
        """What the map of a name and type has for a key: a text, or the term of one; for None the list of its keys."""
        own, known = self.members.setdefault(name, {}), kind.fields.get(key) if isinstance(key, str) else None
        if key is None and key not in own:
            own[key] = self.made(Type("list", Type("str")), f"keys of {name}", list_name)
        elif key not in own:
            found = known.type if known else kind.item or ANY
            made = self.made(found, f"{name}.{key}", key if isinstance(key, str) else list_name)
            self.plain += [key != other for other in own if not isinstance(key, str) and z3.is_expr(other)]
            own[key] = self.perhaps(made) if known is None or known.optional else made
        return own[key]

    def constant(self, found: Any) -> Value:
        """A value that is written out. Raises Untranslated."""
        kind, term = type(found).__name__, found
        if found is None:
            return Value({"null": True}, {})
        if isinstance(found, bool):
            term = z3.BoolVal(found, self.context)
        elif isinstance(found, str):
            self.patterns.text(found)
            self.literals += [found] if found not in self.literals else []
            term = self.number(self.literals.index(found))
        elif isinstance(found, (list, tuple)):
            kind, items = "list", [(self.number(1), self.constant(one)) for one in found]
            term = lambda: items  # noqa: E731 - a list's items are given when they are asked for
        elif isinstance(found, (int, float)) and math.isfinite(found):
            term = self.number(found)
        else:
            raise Untranslated("a map that is written out, or a number without end")
        kind = _STATES.get(kind, kind)
        return Value({kind: True}, {kind: term}, Type(type(found).__name__) if kind != "list" else ANY, repr(found))

    def within(self, found: Value, op: str, *given: str) -> Formula:
        """That an operation holds for a text with any of these patterns: a function of its number; what is in a
        language is asked later, of the texts of a model. Raises Untranslated.
        """
        language = self.patterns.either(self.patterns.language(op, one) for one in given)
        sorts, term = (z3.IntSort(self.context), z3.BoolSort(self.context)), found.terms["str"]
        inside = z3.Function(f"in {language.get_id()}", *sorts)(term)
        self.kept(term)
        self.asked.append((term, language, inside))
        return inside

    def kept(self, term: Any) -> Any:
        """A term for which an example has a text: one that something asks about."""
        self.texts[term.get_id()] = term
        return term

    def same(self, one: Any, other: Any) -> Formula:
        """That two terms stand for the same text."""
        return self.kept(one) == self.kept(other)

    # Conditions.

    def truth(self, plan: Plan, scope: Scope | None = None) -> Truth:
        """A condition. `scope` are the items that the variables of loops stand for."""
        scope = scope or {}
        key = str(plan), *((var, one.name) for var, one in scope.items())
        if key not in self.truths:  # a changed condition has most parts of the former one
            self.truths[key] = self._truth(plan, scope)
        return self.truths[key]

    def _truth(self, plan: Plan, scope: Scope) -> Truth:
        op = plan[0]
        if op == "const":
            return Truth(plan[1] is True, plan[1] is not True)
        if op in ("and", "or"):
            parts = [self.truth(part, scope) for part in plan[1:]]
            true, false = [one.true for one in parts], [one.false for one in parts]
            return Truth(all_of(*true), any_of(*false)) if op == "and" else Truth(any_of(*true), all_of(*false))
        if op == "not":
            one = self.truth(plan[1], scope)
            return Truth(one.false, one.true)
        try:
            if op in QUESTIONS:
                return QUESTIONS[op](self, plan, scope)
            found = self.value(plan[1] if op == "flag" else plan, scope).typed("bool")
            return decided(found.being("bool"), found.terms.get("bool", False))
        except Untranslated as why:
            return self.guess(plan, scope, str(why))

    def guess(self, plan: Plan, scope: Scope, why: str) -> Truth:
        """Any answer to a question, in place of its translation."""
        name = self.told(plan, scope, why)
        known, holds = (self.guessed.setdefault(one, self.variable(one, z3.Bool)) for one in (f"{name}!", name))
        return decided(known, holds)

    def told(self, plan: Plan, scope: Scope, why: str) -> str:
        """The name of the variable in place of what has no translation."""
        self.free.setdefault(render(plan, self.types), why)
        items = [node[1] for node in walk(plan) if node[0] == "item" and node[1] in scope]
        return "free " + " ".join([json.dumps(plan), *dict.fromkeys(f"{item}={scope[item].name}" for item in items)])

    def value(self, plan: Plan, scope: Scope) -> Value:
        """An expression of any type. Raises Untranslated where that is a list or a map."""
        plan = folded(plan)
        op = plan[0]
        try:
            if op in ("fact", "item"):
                return scope[plan[1]] if op == "item" and plan[1] in scope else self.fact(plan[1])
            if op == "const":
                return self.constant(plan[1])
            if op in VALUES:
                return VALUES[op](self, plan, scope)
            if op in ARITHMETIC:
                return self._arithmetic(plan, scope)
            if op in QUESTIONS or op in ("and", "or", "not"):
                truth = self.truth(plan, scope)
                known = any_of(truth.true, truth.false)
                return Value({"bool": known, "fault": negated(known)}, {"bool": self.expression(truth.true)})
            raise Untranslated(f"`{op}` has no translation")
        except Untranslated as why:
            return self.taken(plan, scope, why)

    def taken(self, plan: Plan, scope: Scope, why: Untranslated) -> Value:
        """Any value of an expression's type. Raises Untranslated where that is a list or a map."""
        types = {**self.types, **{var: one.type for var, one in scope.items()}}
        kind = infer(plan, types)
        if _STATES.get(kind.name, kind.name) not in ("bool", "number", "str", "list"):
            raise why
        name = self.told(plan, scope, str(why))
        found = self.perhaps(self.made(kind, name))
        if kind.is_number:
            self._range(found.terms["number"], *span(plan, types))
        return chosen(self.variable(f"{name}!", z3.Bool), FAULT, found)

    def expression(self, found: Formula) -> Any:
        return z3.BoolVal(found, self.context) if isinstance(found, bool) else found

    def items(self, plan: Plan, scope: Scope) -> Value:
        """A list, or the keys of a map. Raises Untranslated where its items are not known."""
        found = self.value(plan, scope)
        if found.being("list", "map") is not False and not found.terms.keys() & {"list", "map"}:
            raise Untranslated("a list that is computed")
        if found.being("map") is False:
            return found.typed("list")
        keys = found.terms["map"](None)
        return chosen(found.being("map"), keys, found.typed("list"))

    def inside(self, scope: Scope, var: str, item: Value) -> Scope:
        """The scope of a loop's body for one item."""
        return {**scope, var: item if item.name else replace(item, name=f"item {next(self._numbers)}")}

    def equal(self, one: Value, other: Value) -> Formula:
        """That two values are the same. Raises Untranslated."""
        both = [kind for kind in KINDS if one.being(kind) is not False and other.being(kind) is not False]
        if "list" in both or "map" in both:
            raise Untranslated("lists or values of maps that are compared")
        return any_of(
            *(
                all_of(one.being(kind), other.being(kind), kind == "null" or asked(one.terms[kind], other.terms[kind]))
                for kind, asked in ((kind, self.same if kind == "str" else operator.eq) for kind in both)
            )
        )

    # Questions.

    def _compared(self, plan: Plan, scope: Scope) -> Truth:
        op, limit = plan[0], folded(plan[2])
        if plan[1][0] == "len" and limit[0] == "const" and (text := self.value(plan[1][1], scope)).kind == "str":
            return self._long(text.typed("str"), op, limit[1])
        one, other = self.value(plan[1], scope), self.value(plan[2], scope)
        if op in ("==", "!=", "same"):
            found = decided(all_of(one.there, other.there), self.equal(one, other))
            return Truth(found.false, found.true) if op == "!=" else found
        if one.being("str") is not False and other.being("str") is not False:
            raise Untranslated("the order of texts, or of two values of maps")
        one, other = one.typed("number"), other.typed("number")
        known = all_of(one.being("number"), other.being("number"))
        return decided(known, known is not False and ORDERS[op](one.terms["number"], other.terms["number"]))

    def _long(self, found: Value, op: str, limit: Any) -> Truth:
        """The length of a text beside a number: as a regular expression it takes far fewer steps than by arithmetic."""
        if type(limit) is not int or limit < 0:
            raise Untranslated("the length of a text beside such a number")
        long, longer = (self.within(found, "matches", f"(?s)^.{{{least}}}") for least in (limit, limit + 1))
        exact = all_of(long, negated(longer))
        holds = {"<": negated(long), "<=": negated(longer), ">": longer, ">=": long, "!=": negated(exact)}
        return decided(found.being("str"), holds.get(op, exact))

    def _contained(self, plan: Plan, scope: Scope) -> Truth:
        item, container = self.value(plan[1], scope), self.value(plan[2], scope)
        literal = plan[1][1] if plan[1][0] == "const" and isinstance(plan[1][1], str) else None
        known, holds = [], []
        if (is_list := container.being("list")) is not False:
            if "list" not in container.terms:
                raise Untranslated("a list that is computed")
            equal = [all_of(times > 0, self.equal(item, one)) for times, one in container.listed]
            known.append(all_of(item.there, is_list))
            holds.append(all_of(is_list, any_of(*equal)))
        if (is_text := container.being("str", "map")) is not False and item.being("str") is not False:
            if literal is None:
                raise Untranslated("`in` a map, or a text in a text")
            known.append(is_text)
            if (is_text := container.being("str")) is not False:
                holds.append(all_of(is_text, self.within(container, "in", literal)))
            if (is_map := container.being("map")) is not False:
                holds.append(all_of(is_map, negated(container.terms["map"](literal).being("absent"))))
        return decided(any_of(*known), any_of(*holds))

    def _pattern(self, plan: Plan, scope: Scope) -> Truth:
        op, given = plan[0], folded(plan[2])
        if given[0] != "const":
            raise Untranslated("a pattern that differs by environment, or one that is computed")
        found, holds, read = self.value(plan[1], scope).typed("str"), [], []
        for one in given[1] if isinstance(given[1], (list, tuple)) else [given[1]]:
            try:
                self.patterns.language(op, one)
                read.append(one)
            except Untranslated as why:
                holds.append(self.guess([op, plan[1], ["const", one], *plan[3:]], scope, str(why)).true)
        if "str" not in found.terms:
            return Truth(False, False)
        holds += [self.within(found, op, *read)] if read else []
        return decided(found.being("str"), any_of(*holds))

    def _any_or_all(self, plan: Plan, scope: Scope) -> Truth:
        source = self.items(plan[2], scope)
        parts = []
        for times, item in source.listed:
            one = self.truth(plan[1], self.inside(scope, plan[3], item))
            parts.append((times > 0, one if plan[0] == "any" else Truth(one.false, one.true)))
        some = all_of(source.being("list"), any_of(*(all_of(there, one.true) for there, one in parts)))
        none = all_of(source.being("list"), *(any_of(negated(there), one.false) for there, one in parts))
        return Truth(some, none) if plan[0] == "any" else Truth(none, some)

    # Values.

    def _count(self, plan: Plan, scope: Scope) -> Value:
        source = self.items(plan[2], scope)
        known, numbers = [source.being("list")], [self.number(0)]
        for times, item in source.listed:
            test = self.truth(plan[1], self.inside(scope, plan[-1], item))
            known.append(any_of(times == 0, test.true, test.false))
            numbers.append(z3.If(self.expression(test.true), times, self.number(0)))
        return known_number(z3.Sum(numbers), all_of(*known))

    def _sum(self, plan: Plan, scope: Scope) -> Value:
        """Any number, and in an example the sum."""
        parts, mostly = [self.number(0)], self.taken(plan, scope, Untranslated("`sum()`"))
        for times, item in self.items(plan[2], scope).listed:
            inside = self.inside(scope, plan[4], item)
            there = all_of(times > 0, self.truth(plan[3], inside).true)
            one = self.value(plan[1], inside).typed("number")
            if "number" in one.terms:
                parts.append(z3.If(self.expression(there), one.terms["number"], self.number(0)))
        self.plain += [mostly.terms["number"] == z3.Sum(parts), mostly.being("number")]
        return mostly

    def _index(self, plan: Plan, scope: Scope) -> Value:
        if any(node[0] == "distinct" for node in walk(plan[1])):
            raise Untranslated("the order of what is distinct")
        source, at = self.items(plan[1], scope), plan[2]
        items = source.listed if at >= 0 else source.listed[::-1]
        found = FAULT
        for place in reversed(range(len(items))):
            end = z3.Sum([times for times, _ in items[: place + 1]])
            found = chosen(end > (at if at >= 0 else -at - 1), items[place][1], found)
        return chosen(source.being("list"), found, source.typed())

    def _default(self, plan: Plan, scope: Scope) -> Value:
        one, other = self.value(plan[1], scope), self.value(plan[2], scope)
        states = {state: holds for state, holds in one.states.items() if state not in ("absent", "null")}
        return chosen(one.being("absent", "null"), other, replace(one, states=states))

    def _conditional(self, plan: Plan, scope: Scope) -> Value:
        test = self.truth(plan[1], scope)
        found = chosen(test.true, self.value(plan[2], scope), self.value(plan[3], scope))
        return chosen(any_of(test.true, test.false), found, FAULT)

    def _listed(self, plan: Plan, scope: Scope) -> Value:
        parts = [self.value(part, scope) for part in plan[1:]]
        fault, there = any_of(*(one.being("fault") for one in parts)), all_of(*(one.there for one in parts))
        states = {"fault": fault, "list": there, "absent": negated(any_of(fault, there))}
        return Value(states, {"list": lambda: [(self.number(1), one) for one in parts]})

    def _length(self, plan: Plan, scope: Scope) -> Value:
        found = self.items(plan[1], scope)
        return known_number(z3.Sum([self.number(0), *(times for times, _ in found.listed)]), found.being("list"))

    def _member(self, plan: Plan, scope: Scope) -> Value:
        base = self.value(plan[1], scope).typed("map")
        if base.being("map") is False:
            return base
        if "map" not in base.terms:
            raise Untranslated(f"`.{plan[2]}` of what is computed")
        inner = base.terms["map"](plan[2])
        return replace(chosen(base.being("map"), inner, base.typed()), type=inner.type, name=inner.name)

    def _entry(self, plan: Plan, scope: Scope) -> Value:
        """A map's value by a key that is computed: one for each term of a key."""
        base, key = self.value(plan[1], scope).typed("map"), self.value(plan[2], scope).typed("str")
        if "map" not in base.terms or "str" not in key.terms:
            raise Untranslated("a key of what is computed")
        inner = base.terms["map"](self.kept(key.terms["str"]))
        found = chosen(base.being("map"), chosen(key.being("str"), inner, key.typed()), base.typed())
        return replace(found, type=inner.type, name=inner.name)

    def _at(self, plan: Plan, scope: Scope) -> Value:
        """What stands at a path of a document; a list from the first `*` on."""
        base, steps = self.value(plan[1], scope), steps_of(plan[2][1])
        found = [(self.number(1), base)]
        for at, step in enumerate(steps):
            if step is not None and step.isdigit():
                raise Untranslated("a place in a list of a document")
            below: list[tuple[Any, Value]] = []
            for times, one in found:
                if step is not None and one.being("map") is False:
                    continue
                if step is not None and "map" in one.terms:
                    inner = one.terms["map"](step)
                    is_so = all_of(one.being("map"), inner.there)
                    below.append((z3.If(self.expression(is_so), times, self.number(0)), inner))
                elif step is None and "list" in one.terms:
                    is_so = all_of(times > 0, one.being("list", "map"))
                    items = [(z3.If(self.expression(is_so), often, self.number(0)), item) for often, item in one.listed]
                    below += items if None not in steps[:at] else [self._below(times, *item) for item in items]
                elif one.being("list", "map") is not False:
                    raise Untranslated("a place in what is computed")
            found = below
        if None in steps:
            states: dict[str, Formula] = {"list": True}
            made = Value(states, {"list": lambda: found}, Type("list", ANY))
        elif found:
            made = chosen(found[0][0] > 0, found[0][1], Value({"absent": True}, {}))
            made = replace(made, type=found[0][1].type, name=found[0][1].name)
        else:
            made = Value({"absent": True}, {})
        return replace(chosen(base.there, made, base.typed()), type=made.type, name=made.name)

    def _below(self, times: Any, often: Any, item: Value) -> tuple[Any, Value]:
        """An item below another one. Where that stands for several, they may have any number of it."""
        whole = self.variable(f"{item.name} below", z3.Int)
        exact = z3.Implies(times == 1, whole == often)
        self.known += [whole >= 0, (whole > 0) == z3.And(times > 0, often > 0), exact]
        return whole, item

    def _split(self, plan: Plan, scope: Scope) -> Value:
        """The parts of a text: any ones, but where the other text is not in there."""
        found, other = self.value(plan[1], scope).typed("str"), folded(plan[2])
        if other[0] != "const" or not other[1] or "str" not in found.terms:
            raise Untranslated("`split()` by what is computed")
        parts = self.made(Type("list", Type("str")), self.told(plan, scope, "`split()`"), "split")
        items, whole = parts.listed, negated(self.within(found, "in", other[1]))
        all_ = z3.Sum([times for times, _ in items])
        same = [any_of(times == 0, self.same(one.terms["str"], found.terms["str"])) for times, one in items]
        self.known += [all_ > 0, any_of(negated(whole), all_of(all_ == 1, *same)), any_of(whole, all_ > 1)]
        self.known += [negated(self.within(one, "in", other[1])) for _, one in items]
        self.plain.append(whole)
        listed = [(times, one.terms["str"]) for times, one in items]
        self.made_of.append((found.terms["str"], listed, other[1].join))
        return chosen(found.being("str"), parts, found.typed())

    def _days(self, plan: Plan, scope: Scope) -> Value:
        """The days to a date, any number, but the same for the same text; in an example a whole one."""
        found = self.value(plan[1], scope).typed("str")
        if "str" not in found.terms:
            return found
        self.told(plan, scope, "`days()`")
        text, whole = self.kept(found.terms["str"]), z3.IntSort(self.context)
        number = z3.Function("days", whole, z3.RealSort(self.context))(text)
        is_date = z3.Function("is a date", whole, z3.BoolSort(self.context))(text)
        self.plain += [is_date, z3.IsInt(number), number >= 0, number < _LAST_DAY]
        self.made_of.append((text, [(self.number(1), z3.ToInt(number))], day_of))
        return chosen(found.being("str"), known_number(number, is_date), found.typed())

    def _distinct(self, plan: Plan, scope: Scope) -> Value:
        """The different texts that items give. An item that stands for many alike gives its own and any others."""
        source = self.items(plan[2], scope)
        known, made = [source.being("list")], []
        earlier: list[tuple[Formula, Any]] = []
        for times, item in source.listed:
            inside = self.inside(scope, plan[4], item)
            test, one = self.truth(plan[3], inside), self.value(plan[1], inside).typed("str")
            known.append(any_of(times == 0, test.false, all_of(test.true, one.being("str"))))
            if "str" not in one.terms:
                continue
            text, there = one.terms["str"], self.expression(all_of(times > 0, test.true, one.being("str")))
            again = any_of(*(all_of(was, self.same(text, former)) for was, former in earlier))
            many = self.variable(f"different {json.dumps(plan)} {inside[plan[4]].name}", z3.Int)
            own = z3.If(self.expression(all_of(there, negated(again))), self.number(1), self.number(0))
            self.known += [many >= own, z3.If(there, many <= times, many == 0), z3.Implies(times == 1, many == own)]
            earlier.append((there, text))
            made.append((many, one))
        found = Value({"list": True}, {"list": lambda: made}, Type("list", Type("str")))
        return chosen(source.being("list"), chosen(all_of(*known), found, FAULT), source.typed())

    def _arithmetic(self, plan: Plan, scope: Scope) -> Value:
        parts = [self.value(part, scope).typed("number") for part in plan[1:]]
        known = all_of(*(part.being("number") for part in parts))
        if known is False:
            return FAULT
        terms = [part.terms["number"] for part in parts]
        exact = all(term.is_int() for term in terms) or plan[0] in ("neg", "abs", "min", "max")
        if plan[0] == "/" or (plan[0] in ("//", "%") and not exact):
            raise Untranslated("a quotient of floats")
        if plan[0] in ("//", "%"):
            known = all_of(known, terms[1] != 0)
        found = reduce(ARITHMETIC[plan[0]], terms) if len(terms) > 1 else ARITHMETIC[plan[0]](terms[0], None)
        if exact:
            return known_number(found, known)
        mostly = self.taken(plan, scope, Untranslated("arithmetic of floats, which rounds"))
        self.plain += [mostly.terms["number"] == found, mostly.being("number") == known]
        return mostly

    def _changed_text(self, plan: Plan, scope: Scope) -> Value:
        """lower(), upper(), strip(): any text, and mostly the same one."""
        found = self.value(plan[1], scope).typed("str")
        if len(plan) > 2 or "str" not in found.terms:
            raise Untranslated(f"`{plan[0]}()` of given characters")
        changed = self.made(Type("str"), self.told(plan, scope, f"`{plan[0]}()`"))
        out, stays = _CHANGED[plan[0]]
        same, plain = self.same(found.terms["str"], changed.terms["str"]), self.within(found, "matches", stays)
        self.known += [self.within(changed, "matches", out), any_of(negated(plain), same)]
        self.plain += [any_of(plain, negated(self.within(found, "matches", out))), same]
        return replace(found, terms=changed.terms, name="")


def _null(self: Translation, plan: Plan, scope: Scope) -> Truth:
    found = self.value(plan[1], scope)
    return decided(found.there, found.being("null"))


def _has(self: Translation, plan: Plan, scope: Scope) -> Truth:
    found = self.value(plan[1], scope)
    return Truth(found.there, found.being("absent"))


# What comes out of a method, and which texts it leaves as they are.
_CHANGED = {
    "lower": ("^[^A-Z]*$", "^[ -@[-~]*$"),
    "upper": ("^[^a-z]*$", "^[ -`{-~]*$"),
    "strip": ("(?s)^([^ ](.*[^ ])?)?$", "^([!-~]([ -~]*[!-~])?)?$"),
}
ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}


def day_of(days: list[Any]) -> str:
    return (date(1970, 1, 1) + timedelta(days=sum(days))).isoformat()


def _down(one: Any, other: Any) -> Any:
    return z3.If(other > 0, one / other, -one / -other)  # Z3 rounds down for a positive divisor


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "/": lambda one, other: one / other,
    "//": _down,
    "%": lambda one, other: one - other * _down(one, other),
    "neg": lambda one, _: -one,
    "abs": lambda one, _: z3.If(one < 0, -one, one),
    "min": lambda one, other: z3.If(other < one, other, one),
    "max": lambda one, other: z3.If(other > one, other, one),
}
QUESTIONS: dict[str, Callable[[Translation, Plan, Scope], Truth]] = {
    **dict.fromkeys(["==", "!=", "same", *ORDERS], Translation._compared),
    **dict.fromkeys(["in", "within"], Translation._contained),
    **dict.fromkeys(["glob", "matches", "startswith", "endswith"], Translation._pattern),
    **dict.fromkeys(["any", "all"], Translation._any_or_all),
    "null": _null,
    "has": _has,
}
VALUES: dict[str, Callable[[Translation, Plan, Scope], Value]] = {
    **dict.fromkeys(_CHANGED, Translation._changed_text),
    **dict.fromkeys(["field", "key"], Translation._member),
    "count": Translation._count,
    "sum": Translation._sum,
    "len": Translation._length,
    "default": Translation._default,
    "if": Translation._conditional,
    "index": Translation._index,
    "entry": Translation._entry,
    "at": Translation._at,
    "split": Translation._split,
    "days": Translation._days,
    "distinct": Translation._distinct,
    "keys": lambda self, plan, scope: self.items(["as", plan[1], ["map"]], scope),
    "list": Translation._listed,
    "as": lambda self, plan, scope: self.value(plan[1], scope).typed(*plan[2]),
}

"""What a solver proves of conditions, and examples that the reference evaluator confirms (extra `proofs`).

Never at a load and never for an event that does not touch a policy. Only steps are counted, never the time, so that
every machine has the same answer; what takes too many is not claimed.
"""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import z3

from ahp.conditions import reference
from ahp.conditions.evaluate import Bound, Undecided
from ahp.conditions.guards import as_fact
from ahp.conditions.schema import Type
from ahp.conditions.terms import Formula, Truth, Value, all_of, any_of, negated
from ahp.conditions.translate import Translation, day_of
from ahp.conditions.typecheck import Checked

STEPS = 60_000  # of the solver for one question
_TEXT_STEPS = 5_000  # for one text: beside large patterns, a step takes up to 0.1 ms
_ROUNDS = 200  # of lemmas about texts
_MEMORY = 4_000  # MB that the solver takes in a process: a step may need any amount
_LONGEST = 20_000  # items of a list in an example
_FEW = 100  # parts of a text in an example
_MODELS = 16  # that are tried for an example
_FALSE, _UNKNOWN, _TRUE = 0, 1, 2

z3.set_param("memory_max_size", _MEMORY)

Facts = Mapping[str, Any]
_Asked = tuple[Any, Any, bool]  # a language, the function that says that a text is in there, whether it is


@dataclass(frozen=True)
class Answer:
    """What was found out about a question to the solver: `proven` where no facts fit it, `facts` by path where some do.

    Neither where it cannot be told. `outcomes` are those of the conditions for these facts: 2 true, 1 undecided, 0
    false.
    """

    proven: bool = False
    facts: Facts | None = None
    outcomes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """How a condition compares with a former one: stronger, equal, weaker, incomparable or unknown.

    `passes` are facts for which it is less true than the former one, `caught` those for which it is truer; outcomes
    are those of the former and the new one. `free` are the expressions that were taken for any value, and why.
    """

    verdict: str
    passes: Answer
    caught: Answer
    free: Mapping[str, str]


def compare(new: Checked, old: Checked) -> Comparison:
    """How a rule with the condition `new` compares with the same rule with the condition `old`."""
    question = _Question(old, new)
    passes = question.find(lambda both: _truer(*both), lambda ranks: ranks[0] > ranks[1])
    caught = question.find(lambda both: _truer(*both[::-1]), lambda ranks: ranks[1] > ranks[0])
    if passes.proven:
        verdict = "equal" if caught.proven else "stronger"
    elif passes.facts is None or not (caught.proven or caught.facts is not None):
        verdict = "unknown"
    else:
        verdict = "weaker" if caught.proven else "incomparable"
    return Comparison(verdict, passes, caught, question.free)


def can_hold(*conditions: Checked) -> Answer:
    """Facts for which all conditions hold."""
    return _Question(*conditions).find(
        lambda all_: [all_of(*(one.true for one in all_))], lambda ranks: min(ranks) == _TRUE
    )


def can_fail(*conditions: Checked) -> Answer:
    """Facts, none of them missing, for which none of the conditions holds."""
    return _Question(*conditions).find(
        lambda all_: [all_of(*(one.false for one in all_))], lambda ranks: max(ranks) == _FALSE
    )


def uncovered(parts: list[Checked], whole: Checked) -> Answer:
    """Facts for which `whole` is truer than each of `parts`."""

    def asked(all_: list[Truth]) -> list[Formula]:
        first, *rest = all_
        return _truer(first, Truth(any_of(*(one.true for one in rest)), all_of(*(one.false for one in rest))))

    return _Question(whole, *parts).find(asked, lambda ranks: ranks[0] > max(ranks[1:]))


def _truer(first: Truth, second: Truth) -> list[Formula]:
    """That the first is truer than the second, in the order false < undecided < true; and that it is so plainly."""
    either = any_of(all_of(first.true, negated(second.true)), all_of(negated(first.false), second.false))
    return [either, all_of(first.true, second.false)]


class _Question:
    """Conditions about the same facts, with a solver of their own: former questions could change an answer."""

    def __init__(self, *conditions: Checked) -> None:
        self.conditions = conditions
        plans = [as_fact(one.plan, one.item[0]) if one.item else one.plan for one in conditions]
        types: dict[str, Type] = {}
        for one in conditions:
            types |= one.types
        self.translation = Translation(plans, types)
        self.truths = [self.translation.truth(plan) for plan in plans]
        self.free = self.translation.free
        self.solver = Solver(self.translation)

    def find(self, asked: Callable[[list[Truth]], list[Formula]], fits: Callable[[list[int]], bool]) -> Answer:
        """Facts about which `asked` is true: formulas over the conditions' truth, the plainer last, each entailing the
        first. `fits` says the same of the outcomes by the reference evaluator, which confirms what the solver found.
        """
        first, *plainer = asked(self.truths)
        try:
            wanted = self.solver.named(first)
            said = "unsat" if first is False else self.solver.check(*wanted)
            if said == "sat":
                return self._example(fits, wanted, self.solver.named(*plainer, *self.translation.plain))
        except z3.Z3Exception:  # out of memory, between two questions
            return Answer()
        return Answer(proven=said == "unsat" and not self.translation.short)

    def _example(self, fits: Callable[[list[int]], bool], wanted: list[Any], wishes: list[Any]) -> Answer:
        """Facts that the reference evaluator confirms, the plainest first. Where it does not, a guess was wrong."""
        solver, guessed = self.solver, self.translation.guessed
        for _ in range(_MODELS):
            said = solver.check(*wanted, *wishes)
            if said == "sat":
                model = solver.formulas.model()
                facts = _facts(self.translation, model, solver.words)
                outcomes = [_rank(one, facts) for one in self.conditions] if facts is not None else []
                if facts is not None and fits(outcomes):
                    return Answer(facts=facts, outcomes=tuple(outcomes))
                wanted += solver.named(any_of(*(one != model.eval(one, True) for one in guessed.values())))
            elif not wishes:
                break
            elif said == "unsat":
                against = {one.get_id() for one in solver.formulas.unsat_core()}
                wishes.remove(next((one for one in reversed(wishes) if one.get_id() in against), wishes[-1]))
            else:  # too many steps: with fewer wishes there may be less to try
                del wishes[len(wishes) // 2 :]
        return Answer()


class Solver:
    """The solver of a translation, which knows texts as numbers. A model is asked for its texts: where there is none
    that is in these languages and in no other, that is a lemma, and the solver is asked again.
    """

    def __init__(self, translation: Translation) -> None:
        self.translation, context = translation, translation.context
        self.formulas, self.strings = (z3.SimpleSolver(ctx=context) for _ in range(2))
        self.formulas.set("rlimit", STEPS)
        self.strings.set("rlimit", _TEXT_STEPS)
        self.formulas.add(*(one for one in translation.known if one is not True))
        self.words: dict[int, str] = {}  # of the model that was found last
        self._text = z3.String("text", context)
        self._found: dict[frozenset[tuple[int, bool]], list[str]] = {}  # texts by the languages that they are in
        self._names = itertools.count()

    def named(self, *formulas: Formula) -> list[Any]:
        """Names under which these formulas can be assumed in a check."""
        found = []
        for one in formulas:
            if not isinstance(one, bool):
                found.append(z3.Bool(f"name {next(self._names)}", self.formulas.ctx))
                self.formulas.add(z3.Implies(found[-1], one))
        return found

    def check(self, *assumed: Any) -> str:
        for _ in range(_ROUNDS):
            said = str(self.formulas.check(*assumed))
            if said != "sat":
                return said
            self.words, model = {}, self.formulas.model()
            asked: dict[int, dict[int, _Asked]] = {}
            for term in self.translation.texts.values():
                asked.setdefault(model.eval(term, True).as_long(), {})
            for term, language, inside in self.translation.asked:
                found = asked[model.eval(term, True).as_long()]
                found[language.get_id()] = language, inside.decl(), z3.is_true(model.eval(inside, True))
            outcomes = {self._choose(number, list(found.values())) for number, found in asked.items()}
            if "unsat" not in outcomes:
                self._join(model, asked)
                return "unknown" if "unknown" in outcomes else "sat"
        return "unknown"

    def _join(self, model: Any, asked: dict[int, dict[int, _Asked]]) -> None:
        """Writes a text that is made of others, or of a number, where nothing that is asked of it is against that."""
        for text, items, write in self.translation.made_of:
            number = model.eval(text, True).as_long()
            counted = [(model.eval(times, True).as_long(), model.eval(part, True).as_long()) for times, part in items]
            parts = [part for times, part in counted for _ in range(min(times, _FEW))]
            whole = write(parts) if write is day_of else write([self.words.get(part, "x") for part in parts])
            is_free = number not in range(len(self.translation.literals)) and whole not in self.translation.literals
            if is_free and not self._unlike(whole, list(asked.get(number, {}).values())):
                self.words[number] = whole

    def _choose(self, number: int, asked: list[_Asked]) -> str:
        """Finds a text for a number that is in just these languages; where there is none, adds the lemma."""
        literals = self.translation.literals
        if 0 <= number < len(literals):
            return self._written_out(number, asked)
        known = self._found.setdefault(frozenset((language.get_id(), holds) for language, _, holds in asked), [])
        if new := next((one for one in known if one not in self.words.values()), None):
            self.words[number] = new
            return "sat"
        given: list[tuple[Any, Callable[[Any], Any]]] = []  # what holds of the text, and what another one breaks
        for language, function, holds in asked:
            allowed = language if holds else z3.Complement(language)  # by `Not` that takes far more steps
            given.append((z3.InRe(self._text, allowed), partial(_differs, function, holds)))
        if literals:
            places = range(len(literals))
            given.append((self._none_of(literals), lambda term: z3.Or(*(term == place for place in places))))
        names = [z3.Bool(f"given {at}", self.translation.context) for at in range(len(given))]
        self.strings.push()
        self.strings.add(*(z3.Implies(name, one) for name, (one, _) in zip(names, given, strict=True)))
        for wishes in ([self._none_of(self.words.values())], []):
            self.strings.push()
            self.strings.add(*wishes)
            if (found := str(self.strings.check(*names))) == "sat":
                text = _written(self.strings.model(), self._text)
                plain = "".join(char for char in text if " " <= char <= "~")  # Z3 likes to end in U+0000
                is_other = plain not in literals and plain not in self.words.values()
                self.words[number] = plain if is_other and not self._unlike(plain, asked) else text
                known.append(self.words[number])
            elif found == "unsat" and not wishes:
                core = {one.get_id() for one in self.strings.unsat_core()}
                broken = [breaks for name, (_, breaks) in zip(names, given, strict=True) if name.get_id() in core]
                terms = self.translation.texts.values()
                self.formulas.add(*(z3.Or(*(breaks(term) for breaks in broken)) for term in terms))
            self.strings.pop()
            if found == "sat":
                break
        self.strings.pop()
        return found

    def _written_out(self, number: int, asked: list[_Asked]) -> str:
        """Whether a text that is written out is in just these languages; adds where it is not as the model says."""
        self.words[number] = self.translation.literals[number]
        unlike = self._unlike(self.words[number], asked)
        self.formulas.add(*(function(number) == inside for function, inside in unlike))
        return "unsat" if unlike else "sat"

    def _unlike(self, text: str, asked: list[_Asked]) -> list[tuple[Any, Any]]:
        """Of which of these languages it is not so, and what is."""
        written = self.translation.patterns.text(text)
        found = [(one, z3.simplify(z3.InRe(written, one[0]))) for one in asked]
        return [(function, inside) for (_, function, holds), inside in found if z3.is_true(inside) is not holds]

    def _none_of(self, words: Iterable[str]) -> Any:
        """That a text is none of these. (By `!=` that takes far more steps.)"""
        patterns = self.translation.patterns
        return z3.InRe(self._text, z3.Complement(patterns.either(map(patterns.word, words))))


def _differs(function: Any, holds: bool, term: Any) -> Any:
    return z3.Not(function(term)) if holds else function(term)


def _written(model: Any, term: Any) -> str:
    """The text that a model has for a term."""
    found = model.eval(term, model_completion=True)
    codes = (ctypes.c_uint * z3.Z3_get_string_length(found.ctx_ref(), found.as_ast()))()
    z3.Z3_get_string_contents(found.ctx_ref(), found.as_ast(), len(codes), codes)
    return "".join(map(chr, codes))


def _rank(checked: Checked, facts: Facts) -> int:
    try:
        return _TRUE if reference.value(checked.text, facts, constants=checked.constants) else _FALSE
    except Undecided:
        return _UNKNOWN
    except Bound:
        return -1


def _facts(translation: Translation, model: Any, words: Mapping[int, str]) -> Facts | None:
    """The facts of a model by path; None where a list would be too long to show."""

    def holds(formula: Formula) -> bool:
        return formula is True or (formula is not False and bool(z3.is_true(model.eval(formula, True))))

    def present(members: Mapping[Any, Value], name: str = "") -> Facts:
        there = {key: one for key, one in members.items() if key is not None and not holds(one.being("absent"))}
        found = {
            key if isinstance(key, str) else words[model.eval(key, True).as_long()]: value(one)
            for key, one in there.items()
        }
        more = {str(at): one for at, one in enumerate(listed(translation.lists.get(name, ())))}
        keys = listed(members[None].listed) if None in members else []
        return {**dict.fromkeys(keys), **more, **found}

    def listed(items: Iterable[tuple[Any, Value]]) -> list[Any]:
        counted = [(model.eval(times, True).as_long(), item) for times, item in items]
        if sum(times for times, _ in counted) > _LONGEST:
            raise OverflowError
        return [found for times, item in counted if times for found in [value(item)] * times]

    def value(one: Value) -> Any:
        state = next(state for state, is_so in one.states.items() if holds(is_so))
        if state == "null":
            return None
        if state == "map":
            return present(translation.members.get(one.name, {}), one.name)
        if state == "list":
            return listed(translation.lists.get(one.name, ()))
        found = model.eval(one.terms[state], True)
        if state == "bool":
            return z3.is_true(found)
        if state == "str":
            return words.get(found.as_long(), "x")
        number = Fraction(str(found)) if z3.is_int_value(found) or z3.is_rational_value(found) else Fraction(0)
        return float(number) if one.type.name == "float" or number.denominator != 1 else int(number)

    try:
        return present(translation.facts)
    except OverflowError:
        return None

"""A translation that says anything else is noticed: each of its rules is changed, and conditions then go wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, wraps
from typing import Any

import pytest

from ahp.conditions.evaluate import MISSING
from ahp.conditions.guards import walk
from ahp.conditions.typecheck import Checked, check

pytest.importorskip("z3", reason="the extra `proofs` is not installed")

from ahp.conditions import proofs, regular, translate
from ahp.conditions.terms import Truth, Value, all_of, any_of, negated
from ahp.conditions.translate import Translation
from tests.conditions.proof_trials import SCHEMA, TEXTS, Drawn, agrees

# Beside what a seed draws: what is rare there. All of them have an exact translation.
MORE = [
    "-tests.failed % 2 == 0",
    "abs(tests.failed - 4) % 2 == 0",
    "min(tests.failed, files.changed_count) % 2 == 0",
    "max(tests.failed, files.changed_count) % 2 == 0",
    "tests.failed * 3 % 2 == 0",
    "(tests.failed - files.changed_count) % 2 == 0",
    "(files.insertions - 6) // 4 == -1",
    "(files.insertions - 6) % 4 == 1",
    "files.insertions // files.changed_count == 1",
    "default(tests.failed, 3) == 3",
    "default(tool.input.s, 'main') == 'main'",
    "default(coverage.current, tests.failed) > 20",
    "(tests.failed if push.is_force else files.changed_count) > 4",
    "(tests.failed if coverage.current > 50 else 7) > 4",
    "(branch.name if push.is_force else commit.subject) == 'main'",
    "branch.name in ['main', null]",
    "branch.name in [commit.subject, 'wip']",
    "branch.name in files.changed",
    "contains(tool.input, 's')",
    "tool.input.s in ['main', 'wip']",
    "tool.input.n > files.insertions",
    "tool.input.s > commit.subject",
    "tool.input.b",
    "tool.input.n is None",
    "has(tool.input.s)",
    "files.changed[0] == 'main'",
    "files.changed[-1] == 'main'",
    "len(commit.subject) > 3",
    "len(files.changed) == 2",
    "count(l.path == 'wip' for l in diff.added) == 1",
    "count(l.path == l.text for l in diff.added) > 0",
    "any(l.path == branch.name for l in diff.added)",
    "all(l.path != branch.name for l in diff.added)",
    "commit.subject == branch.name",
    "commit.subject != branch.name",
    "commit.subject <= branch.name",
    "commit.subject > 'fix'",
    "'i' in commit.subject",
    "commit.subject.startswith(['fix', 'ma'])",
    "commit.subject.endswith('.py')",
    "tests.failed >= 4 or tests.failed <= 2",
    "tests.failed >= 4",
    "tests.failed < 4",
    "tests.failed <= files.insertions",
    "commit.subject.lower() == 'wip'",
    "(tests.failed + files.insertions) % 2 == 0",
    "at(content.after['main'], 'x') == 'main'",
    "has(at(content.after['main'], 'x.y'))",
    "at(content.after[commit.subject], 'x') == 1",
    "any(u == 'main' for u in at(content.after['main'], 'x.*'))",
    "count(u for u in at(content.after['main'], 'x.*.y')) == 1",
    "count(u for u in at(content.after['main'], 'x.*.*')) == 1",
    "any(u == 'main' for u in at(content.after['main'], 'x.*.*'))",
    "'main' in at(content.after['main'], 'x.*')",
    "has(content.after[branch.name])",
    "len(owners.of[commit.subject]) == 1",
    "len(distinct(f for f in files.changed)) == 2",
    "len(distinct(f for f in files.changed if f != 'main')) == 1",
    "any(k == 'main' for k in content.after)",
    "len(keys(tool.input)) > 1",
]
PATTERNS = ["^fix", "a$", "(?i)FIX", "[^a-m]i", "[^m]a", "a.e", r"\.", r"\w\W", r"\d|\D\s", "(?:s|d)oc?"]
PATTERNS += [r"\\bexe", r"ma\\b", "(?m)^w"]
PATTERNS += ["x?(?:fix|main)/?", "^[a-z]{4}$", "a{2,3}|w+i?p*", "\\\\A[rs]"]
GLOBS = ["*.exe", "*.ex?", "src/*", "**/*.md", "[d-f]*", "[!a-e]*", "docs/", "src/**", "/main"]
MORE += [f"matches(commit.subject, '{one}')" for one in PATTERNS]
MORE += [f"glob({text}, '{one}')" for one in GLOBS for text in ("commit.subject", "branch.name")]


_BROKEN = (AttributeError, TypeError, KeyError, RecursionError, translate.z3.Z3Exception)


@cache
def _cases() -> list[tuple[Checked, list[dict[str, Any]]]]:
    drawn, found = Drawn(7), []
    for text in MORE:
        many = [drawn.facts() for _ in range(5)] + _special(drawn)
        if text.startswith(("matches", "glob")):
            many = [{"commit.subject": one, "branch.name": one} for one in TEXTS] + [many[-1]]
        found.append((check(text, SCHEMA), many))
    return found


def _special(drawn: Drawn) -> list[dict[str, Any]]:
    """Facts of which something is missing, null or of another kind."""
    base = {path: value for path, value in drawn.facts().items() if value is not MISSING}
    whole = {**Drawn(3).facts(), **base}
    maps: list[Any] = [{}, {"s": None, "n": None, "b": None}, {"s": 1, "n": "a", "b": "a"}]
    lists = [{"files.changed": ["main"], "diff.added": [{"text": "wip", "path": "wip"}]}]
    odd = [{"tool.input": one} for one in maps] + [{"files.changed": [], "diff.added": []}, *lists]
    odd += [{"branch.name": None, "tests.failed": None}, dict.fromkeys(whole, MISSING)]
    return [{**whole, **one} for one in odd]


def _wrong(ops: set[str]) -> bool:
    """Whether some condition that has one of these operations goes wrong; any where none is named."""
    for checked, many in _cases():
        if not ops or ops & {node[0] for node in walk(checked.plan)}:
            for given in many:
                try:
                    if agrees(checked, given)[0]:
                        return True
                except _BROKEN:  # a mutant that breaks down is noticed, too
                    return True
    return False


def _mutants(made: Callable[..., Any], changed: Callable[[Any], Any]) -> Callable[..., Any]:
    @wraps(made)
    def mutant(*given: Any) -> Any:
        return changed(made(*given))

    return mutant


TRUTHS: dict[str, Callable[[Truth], Truth]] = {
    "true for false": lambda found: Truth(found.false, found.true),
    "undecided is false": lambda found: Truth(found.true, negated(found.true)),
    "undecided is true": lambda found: Truth(negated(found.false), found.false),
}


def _never(state: str) -> Callable[[Value], Value]:
    """A value that is something else where it is in this state."""

    def changed(found: Value) -> Value:
        states = {**found.states}
        gone, kind = states.pop(state, False), found.kind or "str"
        return replace(found, states={**states, kind: any_of(states.get(kind, False), gone)})

    return changed


VALUES: dict[str, Callable[[Value], Value]] = {
    "never a fault": _never("fault"),
    "never absent": _never("absent"),
    "never null": _never("null"),
    "twice": lambda found: replace(found, terms={"list": lambda: [*found.listed, *found.listed]}),
    "one more": lambda found: replace(found, terms={"number": found.terms["number"] + 1}),
}
# What cannot be told: it has no such state, or the operation around it makes a fault of it as well.
QUESTIONS = [op for op in translate.QUESTIONS if op not in ("same", "within")]
RULES = [(op, name) for op in QUESTIONS for name in TRUTHS if op != "has" or name == "true for false"]
RULES += [(op, "one more") for op in ("len", "count")]
RULES += [(op, "never a fault") for op in ("len", "count", "as", "if", "index")]
RULES += [("key", "never absent"), ("if", "never null")]
RULES += [("at", "never absent"), ("entry", "never absent"), ("entry", "never a fault"), ("distinct", "twice")]


@pytest.mark.slow
def test_the_conditions_are_right_as_they_are() -> None:
    assert not _wrong(set())


@pytest.mark.slow
@pytest.mark.parametrize(("op", "name"), RULES, ids=[f"{op} {name}" for op, name in RULES])
def test_a_changed_rule_is_noticed(op: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table: dict[str, Any] = translate.QUESTIONS if name in TRUTHS else translate.VALUES
    monkeypatch.setitem(table, op, _mutants(table[op], {**TRUTHS, **VALUES}[name]))
    assert _wrong({op})


@pytest.mark.slow
@pytest.mark.parametrize("op", [op for op in translate.ARITHMETIC if op != "/"])
def test_changed_arithmetic_is_noticed(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = translate.ARITHMETIC[op]
    monkeypatch.setitem(translate.ARITHMETIC, op, lambda one, other: made(one, other) + 1)
    assert _wrong({op})


def _logic() -> Iterator[tuple[str, str, Any]]:
    """What is not in a table: an attribute, and what stands in its place."""
    yield "translate", "all_of", lambda *parts: parts[0] if parts else True
    yield "translate", "any_of", lambda *parts: parts[0] if parts else False
    yield "translate", "negated", lambda one: one
    yield "translate", "chosen", lambda test, one, other: one
    yield "Translation", "within", lambda self, found, op, *given: False
    yield "Translation", "equal", lambda self, one, other: all_of(one.being("null"), other.being("null"))
    arithmetic, typed = Translation._arithmetic, Value.typed
    yield "Translation", "_arithmetic", lambda self, plan, scope: _never("fault")(arithmetic(self, plan, scope))
    items = Translation.items
    yield "Translation", "_below", lambda self, times, often, item: (times, item)
    yield "Translation", "kept", lambda self, term: term
    yield "Translation", "items", lambda self, plan, scope: replace(items(self, plan, scope), terms={})
    yield "Value", "typed", lambda self, *kinds: _never("fault")(typed(self, *kinds))
    yield "Solver", "_choose", lambda self, number, asked: "sat"
    yield "regular", "outside", lambda ranges: list(ranges)
    yield "regular", "_folded", lambda ranges, flags: list(ranges)
    yield "regular", "_alike", lambda rests: True
    yield "Patterns", "then", lambda self, *parts: parts[0]
    yield "Patterns", "either", lambda self, parts: next(iter(parts), self.nothing)
    yield "Patterns", "chars", lambda self, ranges: self.any
    yield "regular", "_spelled", lambda one: "."
    yield "Patterns", "_place", lambda self, place, by_line, rests: rests


PLACES = {"translate": translate, "Translation": Translation, "Value": Value, "regular": regular}
PLACES |= {"Patterns": regular.Patterns, "Solver": proofs.Solver}
LOGIC = list(_logic())


@pytest.mark.slow
@pytest.mark.parametrize(("place", "name", "instead"), LOGIC, ids=[f"{one[0]}.{one[1]}" for one in LOGIC])
def test_changed_logic_is_noticed(place: str, name: str, instead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PLACES[place], name, instead)
    assert _wrong(set())


@pytest.mark.slow
@pytest.mark.parametrize("atom", ["LITERAL", "NOT_LITERAL", "ANY", "IN", "BRANCH", "MAX_REPEAT", "AT"])
def test_a_changed_part_of_a_pattern_is_noticed(atom: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = regular.Patterns._before
    monkeypatch.setattr(
        regular.Patterns,
        "_before",
        lambda self, op, given, flags, rests: rests if op == atom else made(self, op, given, flags, rests),
    )
    assert _wrong({"matches"})


def test_what_a_fact_is_known_to_be_is_part_of_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    never = check("files.changed_count + files.insertions < 0", SCHEMA)
    assert proofs.can_hold(never).proven
    monkeypatch.setattr(Translation, "_range", lambda *_: None)
    assert not proofs.can_hold(never).proven


def test_a_list_has_as_many_items_as_there_are_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [f"any({text} for l in diff.added)" for text in ("l.path == 'a'", "l.path == 'b'")]
    old, new = check(" and ".join(both), SCHEMA), check(f"{both[0]} and {both[1]} and len(diff.added) < 2", SCHEMA)
    assert not proofs.can_hold(old).proven and proofs.can_hold(new).proven
    monkeypatch.setattr(translate, "sizes_of", lambda plans: {})
    assert proofs.can_hold(old).proven


def test_a_text_may_be_another_than_those_that_are_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    other = check("commit.subject not in ['', 'a'] and commit.subject.startswith('a')", SCHEMA)
    assert not proofs.can_hold(other).proven
    monkeypatch.setattr(proofs.Solver, "_none_of", lambda self, words, plain=False: self._text == "")
    assert proofs.can_hold(other).proven

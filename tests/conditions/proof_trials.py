"""The trials of the proofs, whole: `python -m tests.conditions.proof_trials pairs|edits|translations [FILE [FROM TO]]`.

Each case has its number as seed. With FILE, every case is a line there, and a trial that was stopped goes on behind
the last one. At the end it prints the figures; exit code 1 where something is unsound.
"""

from __future__ import annotations

import ast
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from ahp.conditions import proofs, reference
from ahp.conditions.evaluate import MISSING, Bound, Undecided, build
from ahp.conditions.guards import as_fact, reads
from ahp.conditions.schema import Schema
from ahp.conditions.terms import Value, all_of, any_of, negated
from ahp.conditions.translate import Translation
from ahp.conditions.typecheck import Checked, ConditionError, check
from ahp.policy import layers
from ahp.policy.sources import TextSource
from ahp.policy.vocabulary import Vocabulary

PROJECT = Path(__file__).resolve().parent.parent.parent
PACKS = sorted(path.stem for path in (PROJECT / "ahp/policy/packs").glob("*.yaml"))
SIZES = {"pairs": 5000, "edits": 1000, "translations": 20_000}
SCHEMA = Schema(
    {
        "files.changed": {"type": "list[str]"},
        "files.changed_count": {"type": "int", "min": 0},
        "files.insertions": {"type": "int", "min": 0},
        "diff.added": {"type": "list[record]", "fields": {"text": {"type": "str"}, "path": {"type": "str"}}},
        "branch.name": {"type": "str", "nullable": True},
        "branch.kind": {"type": "str", "enum": ["main", "work", "other"]},
        "commit.subject": {"type": "str"},
        "coverage.current": {"type": "float", "optional": True, "min": 0, "max": 100},
        "tests.failed": {"type": "int", "optional": True, "nullable": True, "min": 0},
        "tool.input": {"type": "map"},
        "push.is_force": {"type": "bool"},
        "content.after": {"type": "map"},
        "owners.of": {"type": "map[list[str]]"},
    }
)
TEXTS = ["", "main", "fix/a", "src/a.py", "a.exe", "wip", "Fix: b", "docs/x.md"]
GLOBS = ["*.exe", "*.ex?", "src/**", "src/*", "**/*.py", "docs/", "[a-f]*", "!*", "a/**/b"]
PATTERNS = ["^fix", "(?i)wip", "^(feat|fix)", "a.b", "[0-9]+$", "x{2,3}", "^$", "\\\\.py$", "(?:src|docs)/"]
PLACES = ["x", "x.y", "*", "x.*", "*.y", "x.*.y", "x.*.*"]
ORDERS = ["<", "<=", ">", ">=", "==", "!="]


class Drawn:
    """Conditions and facts of SCHEMA by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, *of: Any) -> Any:
        return self.random.choice(of)

    def number(self, item: bool) -> str:
        facts = ["files.changed_count", "files.insertions", "coverage.current", "tests.failed", "tool.input.n"]
        sizes = ["len(files.changed)", "len(diff.added)", "len(commit.subject)"]
        if item:
            return self.one(*facts, *sizes, "len(l.text)")
        looped = [f"count({self.atom(True)} for l in diff.added)", "count(f for f in files.changed)"]
        looped.append("default(coverage.current, 50)")
        sums = ["files.changed_count + files.insertions", "2 * files.changed_count", "files.insertions // 3"]
        more = ["max(files.insertions, 4)", "abs(files.insertions - files.changed_count)", "files.insertions % 4"]
        return self.one(*facts, *facts, *sizes, *looped, *sums, *more)

    def text(self, item: bool) -> str:
        known = ["branch.name", "commit.subject", "branch.kind", "tool.input.s", "default(branch.name, 'main')"]
        return self.one(*(["l.text", "l.path", "l.path", "branch.name"] if item else known))

    def atom(self, item: bool = False) -> str:
        text = self.text(item)
        literal = repr(self.one("main", "work", "other") if text == "branch.kind" else self.one(*TEXTS))
        glob, pattern = self.one(*GLOBS), self.one(*PATTERNS)
        found = [
            f"{self.number(item)} {self.one(*ORDERS)} {self.random.randrange(12)}",
            f"{text} {self.one('==', '!=')} {literal}",
            f"{text} in [{literal}]",
            f"glob({text}, '{glob}')",
            f"matches({text}, '{pattern}')",
            f"{text}.{self.one('startswith', 'endswith')}({literal})",
            f"{literal} in {text}",
            self.one("push.is_force", "tool.input.b", "branch.name is None", "has(coverage.current)"),
        ]
        if not item:
            found += [
                f"{self.one('any', 'all')}(glob(f, '{glob}') for f in files.changed)",
                f"{self.one('any', 'all')}({self.atom(True)} and {self.atom(True)} for l in diff.added)",
                f"'{self.one(*TEXTS)}' in files.changed",
                f"files.changed[{self.one(0, -1)}] == '{self.one(*TEXTS)}'",
                f"commit.subject {self.one(*ORDERS)} branch.name",
                f"commit.subject.lower() == {self.one(*TEXTS)!r}",
                *self.documents(literal),
            ]
        return f"({self.one(*found)})"

    def documents(self, literal: str) -> list[str]:
        """Questions about what files say, and about what is computed of paths."""
        document = self.one("content.after['main']", "content.after[commit.subject]", "tool.input")
        place, number = f"at({document}, '{self.one(*PLACES)}')", self.random.randrange(3)
        question = self.one(f"u == {literal}", "u > 1", "u.y == true", f"{literal} in u", "has(at(u, 'y'))")
        folders = f"distinct(f.split('/')[0] for f in files.changed if f != {literal})"
        return [
            f"{self.one('any', 'all')}({question} for u in {place})",
            f"any(at(content.after[f], 'x') == {literal} for f in files.changed)",
            f"count(u for u in {place}) {self.one(*ORDERS)} {number}",
            f"has({place})",
            f"{literal} in {place}",
            f"{place} == {self.one(literal, number, 'true')}",
            f"{literal} in keys(content.after)",
            f"len({folders}) {self.one(*ORDERS)} {number}",
            f"any(g == {literal} for g in {folders})",
            f"count(o for o in owners.of[commit.subject]) {self.one(*ORDERS)} {number}",
            f"any({literal} in owners.of[f] for f in files.changed)",
        ]

    def document(self, depth: int = 3) -> Any:
        if depth == 0 or self.random.random() < 0.2:
            return self.one(None, True, False, 1, 2, *TEXTS[:4])
        below = [self.document(depth - 1) for _ in range(self.random.randrange(3))]
        return self.one(below, dict(zip(self.random.sample("xyz", len(below)), below, strict=True)))

    def condition(self, depth: int) -> str:
        if depth == 0:
            return self.atom()
        one, other = self.condition(depth - 1), self.condition(depth - 1)
        shapes = ["{one} and {other}", "{one} or {other}", "not {one}", "{one} if {other} else not {one}", "{one}"]
        return f"({self.one(*shapes).format(one=one, other=other)})"

    def accepted(self, depth: int) -> Checked:
        """A condition that the checker takes: it refuses some, for example one that never holds."""
        while True:
            try:
                return check(self.condition(depth), SCHEMA)
            except ConditionError:
                continue

    def facts(self) -> dict[str, Any]:
        text, number = lambda: self.one(*TEXTS), lambda: self.random.randrange(12)
        lines = [{"text": text(), "path": text()} for _ in range(self.random.randrange(4))]
        found = {
            "files.changed": [text() for _ in range(self.random.randrange(4))],
            "files.changed_count": number(),
            "files.insertions": number(),
            "diff.added": lines,
            "branch.name": self.one(None, *TEXTS),
            "branch.kind": self.one("main", "work", "other"),
            "commit.subject": text(),
            "coverage.current": float(number() * 9),
            "tests.failed": self.one(None, number()),
            "tool.input": {key: self.one(None, True, number(), 0.5, text(), []) for key in ("n", "s", "b")},
            "push.is_force": self.one(True, False),
            "content.after": {text(): self.document() for _ in range(3)},
            "owners.of": {text(): [text() for _ in range(self.random.randrange(3))] for _ in range(3)},
        }
        found["tool.input"].pop(self.one("n", "s", "b", ""), None)
        return {path: MISSING if self.random.random() < 0.1 else value for path, value in found.items()}


# How a condition compares with `{a}`, or with the one in front of `=>`.
RELATIONS = [
    ("{a}", "{a} and {b}", "weaker"),
    ("{a}", "{a} or {b}", "stronger"),
    ("{a} and {b}", "{b} and {a}", "equal"),
    ("{a} and ({b} or {c})", "{a} and {b} or {a} and {c}", "equal"),
    ("not ({a} or {b})", "not {a} and not {b}", "equal"),
    ("{a} or {a} and {b}", "{a}", "equal"),
    ("{a} and {b}", "{a} and {b} and {c}", "weaker"),
    ("{a} and {c}", "({a} or {b}) and {c}", "stronger"),
    ("not not {a}", "{a}", "equal"),
    ("{n} > {k}", "{n} > {k} + 3", "weaker"),
    ("{n} > {k} and {a}", "{n} >= {k} and {a}", "stronger"),
    ("{t} == {w}", "{t} in [{w}, 'other']", "stronger"),
    ("glob({t}, '*.exe')", "glob({t}, '*.ex?')", "stronger"),
    ("matches({t}, '^(feat|fix)') or {a}", "matches({t}, '^fix') or {a}", "weaker"),
    ("any({i} for l in diff.added)", "any({i} and {j} for l in diff.added)", "weaker"),
    ("not any({i} for l in diff.added)", "all(not {i} for l in diff.added)", "equal"),
]


def pair(seed: int) -> dict[str, Any]:
    """Two conditions of which one is known to be as strict as the other, compared."""
    drawn = Drawn(seed)
    before, after, known = RELATIONS[seed % len(RELATIONS)]
    while True:
        depth = drawn.random.randrange(2)
        parts = {name: drawn.condition(depth) for name in "abc"}
        parts |= {"n": drawn.number(False), "k": str(drawn.random.randrange(9)), "w": "'main'"}
        parts |= {"t": drawn.text(False), "i": drawn.atom(True), "j": drawn.atom(True)}
        try:
            old, new = check(before.format(**parts), SCHEMA), check(after.format(**parts), SCHEMA)
        except ConditionError:
            continue
        return _compared(old, new, known, [drawn.facts() for _ in range(24)])


@cache
def _rules() -> list[tuple[Checked, Schema]]:
    """The conditions of every pack and of the policies that the project shows."""
    texts = [f"extends: [{name}]" for name in PACKS]
    texts += [path.read_text() for path in sorted(PROJECT.glob("bench/policies/*.yaml"))]
    found: dict[str, tuple[Checked, Schema]] = {}
    for text in [*texts, (PROJECT / "demo/hooks.yaml").read_text(), (PROJECT / "tests/policy/design.yaml").read_text()]:
        policy = layers.load(TextSource(text))
        words = Vocabulary(policy.raw)
        for rule in policy.rules:
            if rule.condition.reads:
                found.setdefault(rule.condition.text, (rule.condition, words.schema(rule.trigger)))
    return [found[text] for text in sorted(found)]


def _edits(tree: ast.expr) -> Iterator[Callable[[], None]]:
    """What people do to a condition, each by itself."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            for value in (node.value + 1, node.value * 2 + 1, max(node.value - 1, 0)):
                yield lambda node=node, value=value: setattr(node, "value", value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
            others = [node.value + "x", node.value[:-1] + "?", node.value.replace("*", "**"), node.value.lower()]
            for value in (*others, node.value.replace("(?i)", ""), node.value.lstrip("^"), node.value.split("|")[0]):
                if value != node.value:
                    yield lambda node=node, value=value: setattr(node, "value", value)
        elif isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1:
            yield lambda node=node: node.elts.pop()
            yield lambda node=node: node.elts.append(ast.Constant("more"))
        elif isinstance(node, ast.BoolOp):
            yield lambda node=node: setattr(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())
            yield lambda node=node: node.values.reverse()
            for at in range(len(node.values)):
                yield lambda node=node, at=at: node.values.pop(at) if len(node.values) > 2 else None
                yield lambda node=node, at=at: node.values.__setitem__(at, ast.UnaryOp(ast.Not(), node.values[at]))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Gt, ast.Lt, ast.Eq, ast.NotEq)):
            of_numbers = isinstance(node.ops[0], (ast.Gt, ast.Lt))
            for op in (ast.GtE(), ast.LtE(), ast.NotEq()) if of_numbers else (ast.NotEq(), ast.Eq()):
                yield lambda node=node, op=op: node.ops.__setitem__(0, op)


def edit(seed: int) -> dict[str, Any]:
    """A rule of a pack or of a policy that the project shows, edited as people do, compared."""
    drawn = Drawn(seed)
    while True:
        old, schema = _rules()[drawn.random.randrange(len(_rules()))]
        tree = ast.parse(old.text, mode="eval").body
        edits = list(_edits(tree))
        if not edits:
            continue
        drawn.one(*edits)()
        text = ast.unparse(tree)
        if drawn.random.random() < 0.1:
            text = f"({text}) {drawn.one('and', 'or')} actor.kind != 'human'"
        try:
            new = check(text, schema, item=old.item, constants=old.constants)
        except (ConditionError, ValueError):
            continue
        if new.plan != old.plan:
            return _compared(old, new, "", [])


def _compared(old: Checked, new: Checked, known: str, facts: list[dict[str, Any]]) -> dict[str, Any]:
    begin = time.process_time()
    found = proofs.compare(new, old)
    took = time.process_time() - begin
    plans = [as_fact(one.plan, one.item[0]) if one.item else one.plan for one in (old, new)]
    paths = sorted(reads(plans[0]) | reads(plans[1]))
    facts = [{path: one.get(path, MISSING) for path in paths} for one in facts]
    wrong = ""
    if known and found.verdict not in (known, "equal", "unknown"):
        wrong = f"known to be {known}"
    for given in [*reference.fact_sets(plans, {**old.types, **new.types}, 64), *facts]:
        was, now = (_by_production(plan, paths, given) for plan in plans)
        is_so = {"equal": was == now, "stronger": now >= was, "weaker": now <= was}.get(found.verdict, True)
        if not is_so and -1 not in (was, now):
            wrong = f"{was} became {now} with {given}"
    for answer, passes in ((found.passes, True), (found.caught, False)):
        if answer.facts is not None:
            ranks = [by_reference(one, answer.facts) for one in (old, new)]
            if tuple(ranks) != answer.outcomes or (ranks[0] > ranks[1]) is not passes or ranks[0] == ranks[1]:
                wrong = f"not confirmed: {answer}"
    told = {"old": old.text, "new": new.text, "verdict": found.verdict, "seconds": round(took, 4), "wrong": wrong}
    shown = all(one.proven or one.facts is not None for one in (found.passes, found.caught))
    return told | {"shown": shown, "free": dict(found.free)}


def _by_production(plan: Any, paths: list[str], given: dict[str, Any]) -> int:
    try:
        return 2 if build(plan, {path: at for at, path in enumerate(paths)})([given[path] for path in paths]) else 0
    except Undecided:
        return 1
    except Bound:
        return -1


def by_reference(checked: Checked, given: Any) -> int:
    """2 for true, 1 for undecided, 0 for false, -1 beyond a bound."""
    try:
        return 2 if reference.value(checked.text, given, constants=checked.constants) else 0
    except Undecided:
        return 1
    except Bound:
        return -1


def translation(seed: int) -> dict[str, Any]:
    """A condition and facts: what the translation says beside both evaluators."""
    drawn = Drawn(seed)
    checked, given = drawn.accepted(drawn.random.randrange(3)), drawn.facts()
    begin = time.process_time()
    wrong, exact = agrees(checked, given)
    took = round(time.process_time() - begin, 4)
    return {"old": checked.text, "verdict": "exact" if exact else "allowed", "seconds": took, "wrong": wrong}


def agrees(checked: Checked, given: dict[str, Any]) -> tuple[str, bool]:
    """With the facts fixed, the solver never excludes the evaluators' outcome, and excludes all others where the whole
    condition has a translation: what is wrong with that, and whether it is so.
    """
    paths = sorted(checked.reads)
    said = by_reference(checked, given)
    if said != _by_production(checked.plan, paths, {path: given[path] for path in paths}):
        return "the evaluators disagree", False
    translated = Translation([checked.plan], checked.types)
    truth = translated.truth(checked.plan)
    fixed = [_fixed(translated, one, given[path]) for path, one in list(translated.facts.items())]
    if None in fixed or said == -1:
        return "", False  # more different items than there are questions
    wanted = {2: truth.true, 0: truth.false, 1: all_of(negated(truth.true), negated(truth.false))}[said]
    if _said(translated, all_of(*fixed, wanted)) == "unsat":
        return f"{said} is excluded", False
    if translated.free:
        return "", False
    other = _said(translated, all_of(*fixed, negated(wanted)))
    return (f"not only {said} is possible", False) if other == "sat" else ("", other == "unsat")


def _said(translation: Translation, formula: Any) -> str:
    solver = proofs.Solver(translation)
    solver.formulas.add(formula)
    return solver.check()


def _fixed(translation: Translation, one: Value, found: Any) -> Any:
    """That a variable has this value; None where it cannot: there are more different items than questions."""
    kinds = zip((bool, (int, float), str, list, dict), ("bool", "number", "str", "list", "map"), strict=True)
    kind = "null" if found is None else next((name for of, name in kinds if isinstance(found, of)), "absent")
    parts = [one.being(kind)]
    if kind == "map":
        for key, member in list(translation.members.get(one.name, {}).items()):
            parts.append(_fixed_member(translation, key, member, found))
        if one.name in translation.lists:
            parts += _fixed_items(translation, translation.lists[one.name], list(found.values()))
    elif kind == "list" and one.name in translation.lists:
        parts += _fixed_items(translation, translation.lists[one.name], found)
    elif kind in ("bool", "number", "str"):
        parts.append(one.terms[kind] == translation.constant(found).terms[kind])
    return None if None in parts else all_of(*parts)


def _fixed_member(translation: Translation, key: Any, member: Value, found: dict[str, Any]) -> Any:
    """What a map has for a key, for each text that the term of one may be, or the list of its keys."""
    if key is None:
        return _fixed(translation, member, list(found))
    if isinstance(key, str):
        return _fixed(translation, member, found.get(key, MISSING))
    texts = [translation.constant(one).terms["str"] for one in found]
    each = [_fixed(translation, member, one) for one in found.values()]
    if None in each:
        return None
    other = all_of(*(key != text for text in texts), _fixed(translation, member, MISSING))
    return any_of(other, *(all_of(key == text, one) for text, one in zip(texts, each, strict=True)))


def _fixed_items(translation: Translation, items: list[tuple[Any, Value]], found: list[Any]) -> list[Any]:
    if len(found) > len(items):
        return [None]
    parts = []
    for at, (times, item) in enumerate(items):
        parts.append(times == int(at < len(found)))
        parts += [_fixed(translation, item, found[at])] if at < len(found) else []
    return parts


TRIALS: dict[str, Callable[[int], dict[str, Any]]] = {"pairs": pair, "edits": edit, "translations": translation}


def main(name: str, file: str = "", first: str = "0", beyond: str = "") -> int:
    path = Path(file) if file else None
    lines = path.read_text().splitlines() if path is not None and path.exists() else []
    rows = [json.loads(line) for line in lines]
    for seed in range(int(first) + len(rows), int(beyond or SIZES[name])):
        rows.append(TRIALS[name](seed))
        if path is not None:
            with path.open("a") as out:
                out.write(json.dumps(rows[-1]) + "\n")
    took = sorted(row["seconds"] for row in rows)
    wrong = [row for row in rows if row["wrong"]]
    print(len(rows), "cases,", len({(row["old"], row.get("new")) for row in rows}), "different")
    print("verdicts:", dict(Counter(row["verdict"] for row in rows)))
    print("decided:", round(100 * sum(row["verdict"] != "unknown" for row in rows) / len(rows), 2), "%")
    print("seconds of CPU:", {at: took[min(int(len(took) * at / 100), len(took) - 1)] for at in (50, 95, 99, 100)})
    print("mean:", round(sum(took) / len(took), 4), "wrong:", len(wrong), *wrong[:5], sep="\n  ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

"""Facts that a condition is tried on: deterministic, made from its own constants and the schema's bounds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ahp.conditions import regexes
from ahp.conditions.evaluate import MISSING
from ahp.conditions.guards import Plan, walk
from ahp.conditions.language import OPERATIONS
from ahp.conditions.schema import ANY, Type

MAX_SAMPLES = 64
_SEED = 2654435761  # Knuth's multiplicative hash: spreads combinations without a random module


def fact_sets(plans: list[Plan], types: Mapping[str, Type], limit: int = MAX_SAMPLES) -> list[dict[str, Any]]:
    """At most `limit` sets of values by fact path for the facts that `plans` read; MISSING stands for an absent one.

    Each value of a fact appears once with everything else at its first value, then combinations fill the rest.
    """
    read = sorted({node[1] for plan in plans for node in walk(plan) if node[0] == "fact"})
    literals = _literals(plans)
    keys = sorted({str(node[2]) for plan in plans for node in walk(plan) if node[0] in ("key", "field")})
    choices = {path: [*_values(types.get(path, ANY), literals, keys), MISSING] for path in read}
    choices |= {path: [*patterns, MISSING] for path, patterns in _patterns(plans).items()}
    found: list[dict[str, Any]] = [{path: values[0] for path, values in choices.items()}]
    for path, values in choices.items():
        found.extend({**found[0], path: value} for value in values[1:])
    if len(found) > limit // 2:
        step = len(found) / (limit // 2)
        found = [found[int(index * step)] for index in range(limit // 2)]
    while choices and len(found) < limit:
        found.append(
            {
                path: values[_pick(len(found), place, len(values))]
                for place, (path, values) in enumerate(choices.items())
            }
        )
    return found


def _patterns(plans: list[Plan]) -> dict[str, list[Any]]:
    """By the path of each limit that is a pattern and differs by environment: its values, all it ever has."""
    asked = [node for plan in plans for node in walk(plan) if "pattern" in OPERATIONS[node[0]].takes]
    return {node[2][1]: list(node[3]) for node in asked if node[2][0] == "fact"}


def _pick(row: int, place: int, length: int) -> int:
    return (((row * 31 + place * 17 + 7) * _SEED) >> 9) % length


def _literals(plans: list[Plan]) -> list[Any]:
    """The constants of the plans, and texts that their patterns match; those first that not all of them have."""
    found: list[Any] = []
    for plan in plans:
        for node in walk(plan):
            if node[0] == "const":
                found.extend(node[1] if isinstance(node[1], list) else [node[1]])
            elif "pattern" in OPERATIONS[node[0]].takes:
                found.extend(_matching(node))
    often = Counter(map(repr, found))
    return sorted(found, key=lambda one: often[repr(one)])


def _matching(node: Plan) -> Iterator[str]:
    """Texts that a pattern may match: wild cards replaced by plain letters."""
    pattern = node[2][1] if node[2][0] == "const" else node[3]
    for one in pattern if isinstance(pattern, list) else [pattern]:
        for text in one if isinstance(one, list) else [one]:
            if node[0] == "matches":
                for part in alternatives(str(text)):
                    yield from regexes.examples(part)
            yield str(text).replace("**", "a/b").replace("*", "ab").replace("?", "c").strip("^$")


def _values(kind: Type, literals: list[Any], keys: list[str]) -> list[Any]:
    """Values of a type, the plainest first: boundaries, what the condition names, null where it may be."""
    if kind.is_number:
        found: list[Any] = _numbers(kind, literals)
    elif kind.name == "bool":
        found = [True, False]
    elif kind.name == "str":
        found = _texts(kind, literals)
    elif kind.name == "list":
        inner = [one for one in _values(kind.item or ANY, literals, keys) if one is not None][:12]
        found = [inner[:1], [], *([one] for one in inner[1:]), inner, inner[::-1]]
    elif kind.name == "record":
        found = _records(kind, literals, keys)
    else:
        found = _maps(literals, keys) if kind.name == "map" else _mixed(literals)
    return [*found, None] if kind.nullable else found


def _records(kind: Type, literals: list[Any], keys: list[str]) -> list[Any]:
    """Records in which every value of every field appears (up to a length), against different values of the others."""
    columns = {name: _values(fact.type, literals, keys) for name, fact in kind.fields.items()}
    rows = min(24, max((len(column) for column in columns.values()), default=1))
    return [
        {name: column[(row + place * (row // 3)) % len(column)] for place, (name, column) in enumerate(columns.items())}
        for row in range(rows)
    ]


def _at(values: list[Any], row: int) -> Any:
    return values[row * 5 % len(values)]


def _numbers(kind: Type, literals: list[Any]) -> list[Any]:
    numbers = [one for one in literals if isinstance(one, (int, float)) and not isinstance(one, bool)]
    whole = kind.name == "int"
    near: list[Any] = [0, 1]
    for one in (kind.low, kind.high, *numbers):
        if one is not None and abs(one) < 2**62:
            base = int(one) if whole else float(one)
            near.extend([base, base - 1, base + 1] if whole else [base, base - 0.5, base + 0.5])
    near.extend([2, 100] if whole else [0.5, 99.75])
    allowed = (one for one in near if (kind.low is None or one >= kind.low) and (kind.high is None or one <= kind.high))
    return list(dict.fromkeys(allowed)) or [kind.low if kind.low is not None else kind.high]


def _texts(kind: Type, literals: list[Any]) -> list[Any]:
    if kind.enum is not None:
        return list(kind.enum)
    texts = [one for one in literals if isinstance(one, str)]
    varied = [text for one in texts for text in (one, one + "x", "x" + one, one.upper(), one[:-1])]
    return list(dict.fromkeys(["a/b.py", *varied, "", "Zoë ✓", "a\n b"]))[:40]


def _maps(literals: list[Any], keys: list[str]) -> list[Any]:
    mixed = _mixed(literals)
    rows = [{key: _at(mixed, row + place) for place, key in enumerate(keys)} for row in range(min(12, len(mixed)))]
    return [*rows, {}]


def _mixed(literals: list[Any]) -> list[Any]:
    near = [one + 1 for one in literals if isinstance(one, (int, float)) and not isinstance(one, bool)]
    seen: dict[str, Any] = {
        repr(one): one for one in [*literals, *near, 0, "a", True, None, [], ["a"], {}] if one is not MISSING
    }
    return list(seen.values())


_FLAGS = re.compile(r"\(\?[a-zA-Z-]+\)")  # RE2 takes them at the start only, for all that follows
_OPENED = re.compile(r"\((?:\?(?P<flags>[a-zA-Z-]*):|\?P?<\w+>|(?!\?))")


def alternatives(pattern: str) -> list[str]:
    """The regexes of which one matches in a text wherever `pattern` does, and only there; where it has no `|`, one.

    `(?i)(?:a|b)` gives `(?i)a` and `(?i)b`.
    """
    if "\\Q" in pattern:
        return [pattern]
    flags = found[0] if (found := _FLAGS.match(pattern)) else ""
    body, scope = pattern[len(flags) :], ""
    while (opened := _OPENED.match(body)) and _closes(body) and not (scope and opened["flags"]):
        scope, body = scope or opened["flags"] or "", body[opened.end() : -1]
    return [f"{flags}(?{scope}:{part})" if scope else flags + part for part in _split(body)]


def _closes(text: str) -> bool:
    """Whether the group that opens at the start of `text` closes at its end."""
    depth = 0
    for at, sign in _signs(text):
        depth += (sign == "(") - (sign == ")")
        if not depth and sign == ")":
            return at == len(text) - 1
    return False


def _split(text: str) -> list[str]:
    parts, start, depth = [], 0, 0
    for at, sign in _signs(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and not depth:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


def _signs(text: str) -> Iterator[tuple[int, str]]:
    """The places of `(`, `)` and `|` that stand neither for themselves nor in a class of characters."""
    at, in_class = 0, False
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            at += 1
        elif in_class:
            if text.startswith("[:", at) and (end := text.find(":]", at + 2)) > 0:
                at = end + 1
            else:
                in_class = sign != "]"
        elif sign == "[":
            in_class = True
            at += text[at + 1 : at + 2] == "^"
            at += text[at + 1 : at + 2] == "]"  # the first one is a member
        elif sign in "()|":
            yield at, sign
        at += 1

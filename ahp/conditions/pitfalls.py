"""Literals that what they are compared with never is, or hardly ever: every word is right, and the rule stays silent.

What a fact never equals is refused like a typo; what it seldom does is advice.
"""

from __future__ import annotations

import ast
from typing import Any

from ahp.conditions.checker import Checker, Typed
from ahp.conditions.diagnostics import quoted

_FOREIGN = {  # what values of a meaning never begin with: what they are instead
    "path": (("./", "/"), "paths begin at the top of the repository"),
    "branch": (("refs/heads/",), "a branch is its short name"),
}


def compared(checker: Checker, fact: Typed, literal: Typed) -> None:
    """A fact that is asked whether it is a literal, or begins or ends with it, or a list whether the literal is in."""
    means = fact.type.means or (fact.type.item.means if fact.type.item else "")
    if means not in _FOREIGN or not literal.is_const():
        return
    for value in _texts(literal):
        if _is_foreign(checker, literal, means, value):
            continue
        if "*" in value:
            what = f"{fact.text} is compared with {quoted(value)} letter by letter"
            name = fact.bare if fact.type.item is None else "x"
            checker.advise(literal.node, what, f"ask for a pattern: glob({name}, {quoted(value)})")


def equalled(checker: Checker, fact: Typed, literal: Typed) -> None:
    """A fact that is asked whether it is a literal, or a list whether the literal is in: a file is no folder."""
    compared(checker, fact, literal)
    if not literal.is_const() or "path" not in (fact.type.means, fact.type.item.means if fact.type.item else ""):
        return
    for value in _texts(literal):
        if value.endswith("/") and "*" not in value:
            what = f"the path of a file is never {quoted(value)}, a folder"
            one = f"glob({fact.bare}, {quoted(value)})"
            several = f"any(glob(x, {quoted(value)}) for x in {fact.bare})"
            checker.advise(literal.node, what, f"write {one if fact.type.item is None else several}")


def globbed(checker: Checker, fact: Typed, pattern: Typed) -> None:
    """A fact that is matched with patterns."""
    if fact.type.means not in _FOREIGN or not pattern.is_const():
        return
    for value in _texts(pattern):
        if fact.type.means == "path" and value.startswith("/"):
            continue  # a pattern's way to say: at the top
        if _is_foreign(checker, pattern, fact.type.means, value):
            continue
        if fact.type.means == "path" and value.isalpha() and value.islower():
            what = f"the pattern {quoted(value)} is for files of that name"
            checker.advise(pattern.node, what, f"for all that is in such a folder: {quoted(value + '/')}")


def measured(checker: Checker, fact: Typed, literal: Typed) -> None:
    """A number that is compared in size with a literal."""
    value = literal.plan[1] if literal.is_const() else None
    if fact.type.means == "percent" and isinstance(value, float) and 0 < value < 1:
        what = f"{fact.text} is a percentage from 0 to 100, {value:g} is less than one percent"
        checker.advise(literal.node, what, f"write {value * 100:g}")


def contained(checker: Checker, item: Typed, text: Typed) -> None:
    """A text that is asked whether it is a part of a literal text."""
    if text.is_const() and not item.is_const():
        what = f"{text.text} is one text: `in` asks whether {item.text} is a part of it"
        value = str(text.plan[1])
        several = ", ".join(quoted(one) for one in value.replace(",", " ").split()) if "," in value else quoted(value)
        mend = f"write a list: [{value}]" if not isinstance(text.node, ast.Constant) else f"write [{several}]"
        checker.advise(text.node, what, mend)


def _is_foreign(checker: Checker, literal: Typed, means: str, value: str) -> bool:
    """Whether a literal begins as no value of this meaning does, which is then refused."""
    beginnings, instead = _FOREIGN[means]
    begins = next((one for one in beginnings if value.startswith(one)), None)
    if begins is None:
        return False
    rest = value[len(begins) :]
    hint = f"{instead}: write {quoted(rest)}" if rest else instead
    checker.problems.append(checker.refuse(literal.node, "enum", f"no {means} begins with {quoted(begins)}", hint))
    return True


def _texts(literal: Typed) -> list[str]:
    given: Any = literal.plan[1]
    return [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, str)]

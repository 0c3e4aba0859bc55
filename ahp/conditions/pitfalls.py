"""Literals that what they are compared with never is, or hardly ever: every word is right, and the rule stays silent.

What begins as no value of a fact does is refused like a typo; the rest is advice.
"""

from __future__ import annotations

import ast
import datetime
import re
from typing import Any

from ahp.conditions.checker import Checker, Typed
from ahp.conditions.diagnostics import quoted

_FOREIGN = {  # what values of a meaning never begin with: what they are instead
    "path": (("./", "/"), "paths begin at the top of the repository"),
    "branch": (("refs/heads/",), "a branch is its short name"),
}

_BRACES = re.compile(r"(?<!\\)\{([^{}]*,[^{}]*)\}")
_SLASHES = re.compile(r"/(.+)/([gimsuy]+)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_YEAR = re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?")  # or a month of it: a date comes before or after that, too


def compared(checker: Checker, fact: Typed, literal: Typed) -> None:
    """A fact that is asked whether it is a literal, or begins or ends with it, or a list whether the literal is in."""
    _cased(checker, fact, literal)
    means = _means(fact)
    for value in _texts(literal) if means in _FOREIGN else ():
        if not _is_foreign(checker, literal, means, value) and "*" in value:
            what = f"{fact.text} is compared with {quoted(value)} letter by letter"
            name = fact.bare if fact.type.item is None else "x"
            checker.advise(literal.node, what, f"ask for a pattern: glob({name}, {quoted(value)})")


def equalled(checker: Checker, fact: Typed, literal: Typed) -> None:
    """A fact that is asked whether it is a literal, or a list whether the literal is in: a file is no folder."""
    compared(checker, fact, literal)
    means = _means(fact)
    for value in _texts(literal):
        if means == "path" and value.endswith("/") and "*" not in value:
            what = f"the path of a file is never {quoted(value)}, a folder"
            one = f"glob({fact.bare}, {quoted(value)})"
            several = f"any(glob(x, {quoted(value)}) for x in {fact.bare})"
            checker.advise(literal.node, what, f"write {one if fact.type.item is None else several}")
        elif means == "program" and (name := _program(value)) != value:
            what = f"{fact.text} is the name of a program alone, never {quoted(value)}"
            rest = ", and ask for its arguments beside it" if " " in value else ""
            checker.advise(literal.node, what, f"write {quoted(name)}{rest}" if name else "")
        elif means == "date":
            _dated(checker, literal, value)


def globbed(checker: Checker, fact: Typed, pattern: Typed) -> None:
    """A fact that is matched with patterns."""
    _cased(checker, fact, pattern, signs="[\\")
    means = _means(fact)
    for value in _texts(pattern):
        if hint := braced(value):
            checker.advise(pattern.node, f"in the pattern {quoted(value)} braces stand for themselves", hint)
        if means not in _FOREIGN or (means == "path" and value.startswith("/")):  # a pattern's way to say: at the top
            continue
        if not _is_foreign(checker, pattern, means, value) and means == "path" and value.isalpha() and value.islower():
            what = f"the pattern {quoted(value)} is for files of that name"
            checker.advise(pattern.node, what, f"for all that is in such a folder: {quoted(value + '/')}")


def searched(checker: Checker, pattern: Typed) -> None:
    """A regular expression that is searched for: other languages write slashes around it."""
    for value in _texts(pattern):
        if found := _SLASHES.fullmatch(value):
            mend = quoted(f"(?i){found[1]}" if "i" in found[2] else found[1])
            checker.advise(pattern.node, f"the slashes of {quoted(value)} are searched for, too", f"write {mend}")


def measured(checker: Checker, fact: Typed, literal: Typed) -> None:
    """A number or a text that is compared in size with a literal."""
    value = literal.plan[1] if literal.is_const() else None
    if fact.type.means == "date" and isinstance(value, str) and not _YEAR.fullmatch(value):
        _dated(checker, literal, value)
    if fact.type.means == "percent" and isinstance(value, float) and 0 < value < 1:
        what = f"{fact.text} is a percentage from 0 to 100, {value:g} is less than one percent"
        checker.advise(literal.node, what, f"write {value * 100:g}")


def contained(checker: Checker, item: Typed, text: Typed) -> None:
    """A text that is asked whether it is a part of a text: of a literal it was meant to be one of several."""
    _cased(checker, text, item)
    if text.is_const() and not item.is_const():
        what = f"{text.text} is one text: `in` asks whether {item.text} is a part of it"
        value = str(text.plan[1])
        several = ", ".join(quoted(one) for one in value.replace(",", " ").split()) if "," in value else quoted(value)
        mend = f"write a list: [{value}]" if not isinstance(text.node, ast.Constant) else f"write [{several}]"
        checker.advise(text.node, what, mend)


def braced(pattern: str) -> str:
    """What to write where a glob has alternatives in braces, as the shell reads them; "" where it has none."""
    parts = _BRACES.split(pattern)
    if len(parts) == 1:
        return ""
    several = [quoted(parts[0] + one + parts[2]) for one in parts[1].split(",")] if len(parts) == 3 else ["PATTERN, …"]
    return f"write a list: [{', '.join(several)}]"


def _cased(checker: Checker, fact: Typed, literal: Typed, signs: str = "") -> None:
    """A text in one case that is asked about letters of the other, in the condition itself: a limit may be read twice,
    in its own case, too. `signs` are those behind which letters are not what they seem.
    """
    how = str(fact.plan[0])
    if how not in ("lower", "upper") or not isinstance(literal.node, (ast.Constant, ast.List, ast.Tuple)):
        return
    for value in _texts(literal):
        cased = value.lower() if how == "lower" else value.upper()
        if cased != value and set(signs).isdisjoint(value):
            checker.advise(
                literal.node, f"{fact.text} never has the letters of {quoted(value)}", f"write {quoted(cased)}"
            )


def _program(value: str) -> str:
    """The base name of the program that a text with a path or arguments begins with."""
    words = value.split()
    return words[0].rpartition("/")[2] if words else value


def _dated(checker: Checker, literal: Typed, value: str) -> None:
    try:
        is_day = bool(_DAY.fullmatch(value) and datetime.date.fromisoformat(value))
    except ValueError:
        is_day = False
    if not is_day:
        checker.advise(literal.node, f"no day is {quoted(value)}", "a date is written as '2026-02-09'")


def _means(fact: Typed) -> str:
    return fact.type.means or (fact.type.item.means if fact.type.item else "")


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
    """The texts of a literal; none of anything else."""
    given: Any = literal.plan[1] if literal.is_const() else []
    return [one for one in (given if isinstance(given, list) else [given]) if isinstance(one, str)]

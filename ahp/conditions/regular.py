"""Texts, globs and RE2 patterns in the words of a solver (Z3), whose regular expressions are about whole texts.

A place in a pattern (`^`, `$`, `\\b`) asks for the characters before and behind it. So an expression is built from its
end: what may follow is kept for each kind of character before it, and a place narrows that.
"""

from __future__ import annotations

import ctypes
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import z3

from ahp.conditions import globs

Ranges = Sequence[tuple[int, int]]
Language = Any  # a regular expression of the solver
Rests = Mapping[str, Language]

MOST_PARTS = 800  # of a pattern, each as often as it is repeated: one step of the solver may visit them all
_MOST_TOGETHER = 2_000  # of all patterns of a question
_LAST = 0x2FFFF  # the last character that the solver knows
# The classes of RE2, which are ASCII's.
_WORD = ((48, 57), (65, 90), (95, 95), (97, 122))
_CLASSES = {
    "CATEGORY_DIGIT": ((48, 57),),
    "CATEGORY_WORD": _WORD,
    "CATEGORY_SPACE": ((9, 10), (12, 13), (32, 32)),
}
_OUTSIDE = {
    "CATEGORY_NOT_DIGIT": "CATEGORY_DIGIT",
    "CATEGORY_NOT_WORD": "CATEGORY_WORD",
    "CATEGORY_NOT_SPACE": "CATEGORY_SPACE",
}
# What holds at a place, by the kinds of the characters before and behind it; "" is the end of the text.
_PLACES: Mapping[tuple[str, bool], Callable[[str, str], bool]] = {
    ("AT_BEGINNING", False): lambda before, behind: before == "",
    ("AT_BEGINNING", True): lambda before, behind: before in ("", "line feed"),
    ("AT_BEGINNING_STRING", False): lambda before, behind: before == "",
    ("AT_END", False): lambda before, behind: behind == "",
    ("AT_END", True): lambda before, behind: behind in ("", "line feed"),
    ("AT_BOUNDARY", False): lambda before, behind: (before == "word") is not (behind == "word"),
    ("AT_NON_BOUNDARY", False): lambda before, behind: (before == "word") is (behind == "word"),
}
_FOLDS = {"k": 0x212A, "s": 0x17F}  # letters beyond ASCII that RE2 takes for these where case is ignored
# What Python reads otherwise than RE2: `{,3}` is plain text there, `[:alpha:]` a class.
_READ_OTHERWISE = re.compile(r"\{,|\[:\^?\w+:\]")


class Untranslated(Exception):
    """A part of a condition that has no translation; the text says which and why."""


def outside(ranges: Ranges) -> list[tuple[int, int]]:
    """The characters that are in none of these ranges of code points."""
    found, at = [], 0
    for low, high in sorted(ranges):
        if low > at:
            found.append((at, low - 1))
        at = max(at, high + 1)
    return [*found, (at, _LAST)] if at <= _LAST else found


_KINDS: Mapping[str, Ranges] = {"word": _WORD, "line feed": [(10, 10)], "other": outside([*_WORD, (10, 10)])}


def size(tree: Any) -> int:
    """The characters and classes of an expression, each as often as it is repeated."""
    found = 0
    for named, given in tree:
        op = str(named)
        if op in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inner = given
            found += (least + 1 if str(most) == "MAXREPEAT" else most) * size(inner)
        elif op in ("BRANCH", "SUBPATTERN"):
            found += sum(map(size, given[1] if op == "BRANCH" else [given[3]]))
        else:
            found += len(given) if op == "IN" else 1
    return found


def of_glob(pattern: str) -> str:
    """The regular expression of the paths that a glob matches (`ahp.conditions.globs`)."""
    found, separated = "^", False
    for segment in globs.segments(pattern):
        found += "/" if separated else ""
        separated = segment != "**"
        pieces = ("".join(map(_spelled, piece)) for piece in globs.pieces(segment))
        found += "[^/]*".join(pieces) if separated else "(?:[^/]*/)*"
    return f"{found}$"


def _spelled(one: Any) -> str:
    """A character of a glob: itself, any, or a class; never the one that separates."""
    if isinstance(one, str) and one != "/":
        return re.escape(one)
    negated, members = (False, []) if one == "/" else one or (True, [])
    ranges = [(ord(low), ord(high)) for low, high in members]
    others = outside([*(ranges if negated else outside(ranges)), (47, 47)])
    return "[^" + "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in outside(others)) + "]"


# What an operation asks of a text, as a regular expression that is searched for.
_AS_REGEX: Mapping[str, Callable[[str], str]] = {
    "glob": of_glob,
    "matches": str,
    "startswith": lambda text: f"^{re.escape(text)}",
    "endswith": lambda text: f"{re.escape(text)}$",
    "in": re.escape,
}


class Patterns:
    """Texts and regular expressions for the questions of one context of the solver."""

    def __init__(self, context: Any) -> None:
        self.context, sort = context, z3.ReSort(z3.StringSort(context))
        self.any, self.nothing = z3.AllChar(sort), z3.Empty(sort)
        # Not `Full` alone: Z3 would make a suffix of what stands behind it, which takes 50 times as many steps.
        self.all = z3.Option(z3.Concat(self.any, z3.Full(sort)))
        self.empty = self.word("")
        self._kinds = {kind: self.chars(ranges) for kind, ranges in _KINDS.items()}
        self._known: dict[tuple[str, str], Language] = {}
        self._parts = 0

    def text(self, found: str) -> Any:
        """A text that is written out. Raises Untranslated."""
        if any(ord(char) > _LAST for char in found):
            raise Untranslated(f"a character beyond U+{_LAST:X}")
        codes = (ctypes.c_uint * len(found))(*map(ord, found))
        return z3.SeqRef(z3.Z3_mk_u32string(self.context.ref(), len(found), codes), self.context)

    def word(self, found: str) -> Language:
        """This text alone. Raises Untranslated."""
        return z3.Re(self.text(found))

    def chars(self, ranges: Ranges) -> Language:
        """The texts of one character of these ranges. Raises Untranslated."""
        joined = outside(outside(ranges))  # each range more is one more case of each step
        ends = [(self.text(chr(low)), self.text(chr(high))) for low, high in joined]
        return self.either(z3.Range(low, high) for low, high in ends)

    def either(self, parts: Iterable[Language]) -> Language:
        """The texts of any of these languages."""
        found = [one for one in parts if not one.eq(self.nothing)]
        return reduce(z3.Union, found) if found else self.nothing

    def then(self, *parts: Language) -> Language:
        """A text of each, one behind the other."""
        return self.nothing if any(one.eq(self.nothing) for one in parts) else reduce(z3.Concat, parts)

    def language(self, op: str, given: str) -> Language:
        """The texts for which an operation holds with a pattern or text. Raises Untranslated."""
        if (op, given) not in self._known:
            self._known[op, given] = self.search(_AS_REGEX[op](given))
        return self._known[op, given]

    def search(self, pattern: str) -> Language:
        """The texts in which RE2 finds an expression. Raises Untranslated for what is no language here."""
        if otherwise := _READ_OTHERWISE.search(pattern):
            raise Untranslated(f"`{otherwise[0]}` in a pattern")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)  # sets of characters that may mean more some day
                tree = _tree(pattern)
        except (re.error, OverflowError, RecursionError) as error:  # RE2 has accepted it
            raise Untranslated(f"a pattern of RE2 that Python does not read: {error}") from None
        self._parts += (parts := size(tree))
        if parts > MOST_PARTS or self._parts > _MOST_TOGETHER:
            self._parts -= parts
            more = f"a pattern of more than {MOST_PARTS}" if parts > MOST_PARTS else f"patterns of {_MOST_TOGETHER:,}"
            raise Untranslated(f"{more} parts")
        found = self._sequence(tree, tree.state.flags, dict.fromkeys(["", *_KINDS], self.all))
        if _alike(found):
            return self.then(self.all, found[""])
        return self.either([found[""], *(self.then(self.all, self._kinds[kind], found[kind]) for kind in _KINDS)])

    def _sequence(self, tree: Any, flags: int, rests: Rests) -> Rests:
        """What an expression and then `rests` match, by the kind of the character before."""
        for op, given in reversed(tree):
            rests = self._before(str(op), given, flags, rests)
        return rests

    def _before(self, op: str, given: Any, flags: int, rests: Rests) -> Rests:
        if op == "AT":
            return self._place(str(given), bool(flags & re.MULTILINE), rests)
        if op == "SUBPATTERN":
            return self._sequence(given[3], (flags | given[1]) & ~given[2], rests)
        if op == "BRANCH" and (not _alike(rests) or "AT_" in repr(given)):
            parts = [self._sequence(one, flags, rests) for one in given[1]]
            return {kind: self.either(one[kind] for one in parts) for kind in rests}
        found = self._atom(op, given, flags)
        if _alike(rests):
            return dict.fromkeys(rests, self.then(found, rests[""]))
        ends = [(z3.Intersect(found, self.then(self.all, chars)), kind) for kind, chars in self._kinds.items()]
        behind = self.either(self.then(end, rests[kind]) for end, kind in ends)
        nothing = z3.Intersect(found, self.empty)
        return {kind: z3.Union(behind, self.then(nothing, rest)) for kind, rest in rests.items()}

    def _place(self, place: str, by_line: bool, rests: Rests) -> Rests:
        by_line &= place in ("AT_BEGINNING", "AT_END")
        if (place, by_line) not in _PLACES:
            raise Untranslated(f"{place.lower()} in a pattern")
        holds = _PLACES[place, by_line]
        ahead = {"": self.empty} | {kind: self.then(chars, self.all) for kind, chars in self._kinds.items()}
        found = {}
        for before, rest in rests.items():
            allowed = [behind for behind in ahead if holds(before, behind)]
            one = self.either(ahead[behind] for behind in allowed)
            if len(allowed) < len(ahead):
                rest = z3.Intersect(one, rest) if allowed and not rest.eq(self.all) else one
            found[before] = rest
        return found

    def _atom(self, op: str, given: Any, flags: int) -> Language:
        """The texts that an expression without a place matches. Raises Untranslated."""
        if op == "LITERAL":
            return self.chars(_folded([(given, given)], flags))
        if op == "NOT_LITERAL":
            return self.chars(outside(_folded([(given, given)], flags)))
        if op == "ANY":
            return self.any if flags & re.DOTALL else self.chars(outside([(10, 10)]))
        if op == "IN":
            return self.chars(_members(given, flags))
        if op == "BRANCH":
            return self.either(self._whole(one, flags) for one in given[1])
        if op == "SUBPATTERN":
            return self._whole(given[3], (flags | given[1]) & ~given[2])
        if op in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, tree = given
            one = self._whole(tree, flags)
            if str(most) == "MAXREPEAT":
                return self.then(z3.Loop(one, least, least), z3.Star(one)) if least else z3.Star(one)
            return z3.Loop(one, least, most) if most else self.empty
        raise Untranslated(f"{op.lower()} in a part of a pattern")

    def _whole(self, tree: Any, flags: int) -> Language:
        return self.then(self.empty, *(self._atom(str(op), given, flags) for op, given in tree))


def _tree(pattern: str) -> Any:
    """Python's syntax tree of an expression. Raises re.error and the like, Untranslated where it has another one."""
    try:
        from re import _parser  # type: ignore[attr-defined]

        return _parser.parse(pattern)
    except (ImportError, AttributeError, TypeError) as error:
        raise Untranslated(f"this Python reads patterns otherwise: {error}") from None


def _alike(rests: Rests) -> bool:
    """Whether the character before makes no difference."""
    return all(one.eq(rests[""]) for one in rests.values())


def _members(given: list[tuple[Any, Any]], flags: int) -> list[tuple[int, int]]:
    """A class of characters."""
    found: list[tuple[int, int]] = []
    for named, value in given:
        op = str(named)
        if op == "CATEGORY" and str(value) in _OUTSIDE:
            found += outside(_folded(_CLASSES[_OUTSIDE[str(value)]], flags))
        elif op == "CATEGORY":
            found += _folded(_CLASSES[str(value)], flags)
        elif op != "NEGATE":
            low, high = value if op == "RANGE" else (value, value)
            found += _folded([(low, _LAST if high == sys.maxunicode else high)], flags)
    return outside(found) if str(given[0][0]) == "NEGATE" else found


def _folded(ranges: Ranges, flags: int) -> list[tuple[int, int]]:
    """The characters in either case where case is ignored."""
    found = list(ranges)
    if flags & re.IGNORECASE:
        if any(high > 127 for _, high in ranges):
            raise Untranslated("`(?i)` with letters beyond ASCII")
        for code in range(97, 123):
            if any(low <= code <= high or low <= code - 32 <= high for low, high in ranges):
                found += [(one, one) for one in (code, code - 32, _FOLDS.get(chr(code), code))]
    return found

"""The expression of `find`: by which names and paths a file reaches each of its actions (find(1))."""

from itertools import pairwise, product

from ahp.agents.shell.marks import Marks
from ahp.system.plain import Plain

MOST = 32
"""Alternatives that are told apart."""

# What one file that is reached has: its names and its paths, as patterns, and whether something narrows it down that
# is none of them.
Test = tuple[tuple[str, ...], tuple[str, ...], bool]
Tests = tuple[Test, ...]
_EVERY: Tests = (((), (), False),)
_NAMES = frozenset(("-name", "-iname"))
_PATHS = frozenset(("-path", "-ipath", "-wholename", "-iwholename"))
_REGEXES = frozenset(("-regex", "-iregex"))
_OR = frozenset(("-o", "-or", ","))
_NOT = frozenset(("!", "-not"))
_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_WRITES = frozenset(("-fprint", "-fprint0", "-fprintf", "-fls"))
_PRINTS = frozenset(("-print", "-print0", "-printf", "-ls"))
_KINDS = ("l", "s", "p", "b", "c")  # links, sockets, pipes, devices
_DEEPEST = 20


class Reached(Plain):
    """An action, its words, and what reaches it."""

    __slots__ = ("action", "tests", "words")

    def __init__(self, action: str, words: list[str], tests: Tests) -> None:
        self.action, self.words, self.tests = action, words, tests

    @property
    def runs(self) -> bool:
        """Whether the words are a command."""
        return self.action in _RUNS

    @property
    def writes(self) -> bool:
        """Whether the first word is a file that is written."""
        return self.action in _WRITES

    @property
    def prints(self) -> bool:
        """Whether names are printed."""
        return self.action in _PRINTS


class Expression(Plain):
    """An expression as a whole: what makes it true (`tests`), and what reaches its actions, in order."""

    __slots__ = ("reached", "tests")

    def __init__(self, tests: Tests, reached: list[Reached]) -> None:
        self.tests, self.reached = tests, reached


def expression(words: list[str], known: Marks) -> Expression:
    """Reads what follows the roots. Of what is left out only that it narrows is kept."""
    reader = _Reader(words, known)
    tests = reader.either(_EVERY, 0)
    while reader.at < len(words):  # a `)` too much
        reader.at += 1
        tests = reader.either(tests, 0)
    return Expression(tests, reader.reached)


class _Reader:
    def __init__(self, words: list[str], known: Marks) -> None:
        self._words, self._known = words, known
        self.at = 0
        self.reached: list[Reached] = []
        # `-maxdepth 1` with `-type f`: files at the top, no folder with what is in it
        pairs = list(pairwise(words))
        shallow = ("-maxdepth", "1") in pairs or ("-maxdepth", "0") in pairs
        self._top_only = shallow and ("-type", "f") in pairs

    def either(self, given: Tests, depth: int) -> Tests:
        """Terms with `-o` between them; `given` is what reaches them."""
        found: list[Test] = []
        left_out = False
        while True:
            reached = tuple((names, paths, True) for names, paths, _ in given) if left_out else given
            tests, prunes = self._all(reached, depth)
            found += () if prunes else tests
            left_out |= prunes
            if self.at >= len(self._words) or self._words[self.at] not in _OR:
                return tuple(dict.fromkeys(found)) if len(found) <= MOST else _EVERY
            self.at += 1

    def _all(self, given: Tests, depth: int) -> tuple[Tests, bool]:
        """Terms that all hold, up to `-o` or `)`; and whether they leave out folders that may be git's or ahp's."""
        words, tests, negated, prunes = self._words, given, False, False
        while self.at < len(words) and words[self.at] not in _OR and words[self.at] != ")":
            word = words[self.at]
            self.at += 1
            if word in _NOT:
                negated = not negated
                continue
            if word == "(":
                inner = self.either(tests, depth + 1) if depth < _DEEPEST else tests
                self.at += self.at < len(words) and words[self.at] == ")"
                tests = self._without(tests, inner) if negated else inner
            elif word in _RUNS:
                end = next((place for place in range(self.at, len(words)) if words[place] in (";", "+")), len(words))
                self.reached.append(Reached(word, words[self.at : end], tests))
                self.at = end + 1
            elif word == "-delete" or word in _WRITES or word in _PRINTS:
                self.reached.append(Reached(word, words[self.at : self.at + 1], tests))
            elif word == "-prune":
                prunes = any(_is_hidden(name) for names, paths, _ in tests for name in (*names, *paths)) or prunes
            else:
                own = self._own(word)
                tests = self._without(tests, own) if negated else _both(tests, own)
            negated = False
        return tests, prunes

    def _own(self, word: str) -> Tests:
        """What a single test says."""
        if word not in _NAMES | _PATHS | _REGEXES:
            given = self._words[self.at : self.at + 1]
            narrows = word == "-empty" or (word == "-type" and given[:1] != [] and given[0] in _KINDS)
            return (((), (), narrows or (word == "-type" and self._top_only)),)
        value = self._known.pattern(self._words[self.at]) if self.at < len(self._words) else ""
        self.at += 1
        if word in _NAMES:
            return (((value,), (), False),)
        if word in _PATHS:
            return (((), (value,), False),)
        from ahp.agents.shell import find_regex  # hardly anybody uses one

        paths = find_regex.globs(value, MOST)
        return tuple(((), ("./" + path[2:] if path.startswith("?/") else path,), False) for path in paths)

    def _without(self, tests: Tests, left_out: Tests) -> Tests:
        """What is reached but for what is left out: all that is kept of this is whether it may be ahp's or git's."""
        narrows = any(_is_hidden(name) for names, paths, _ in left_out for name in (*names, *paths))
        return tuple((names, paths, is_narrowed or narrows) for names, paths, is_narrowed in tests)


def _both(one: Tests, other: Tests) -> Tests:
    if len(one) * len(other) > MOST:
        return _EVERY
    return tuple((a[0] + b[0], a[1] + b[1], a[2] or b[2]) for a, b in product(one, other))


def _is_hidden(name: str) -> bool:
    """Whether a pattern is about folders with a dot, as `.git`, `*/.git/*` and `.*`."""
    return any(part.startswith(".") and part != "." and part != ".." for part in name.split("/"))

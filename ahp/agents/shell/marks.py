"""What is not literal in a word: unknown parts and wildcards, each one character of the last private use plane.

A word stays a plain string while it is quoted, split, joined, kept in a variable or run as a script. Its last reader
still knows which parts are unknown.
"""

from ahp.system.plain import Plain
from ahp.system.regex import regex

_FIRST, _LAST = 0x100010, 0x10FFFD
_WILD = {"*": "\U00100000", "?": "\U00100001", "[": "\U00100002"}
_LITERAL = {mark: char for char, mark in _WILD.items()}
OPEN, COMMA, CLOSE = "\U00100003", "\U00100004", "\U00100005"
"""Unquoted `{`, `,` and `}` of a word before its braces are expanded."""

_WILDCARD = regex("[\U00100000-\U00100002]")
_UNKNOWN = regex("[\U00100010-\U0010fffd]")
_WILD_NAME = regex("(^|/)(?=[\U00100000-\U00100002])")
_SIGNS = regex(r"[*?[]")
_PROGRAM = regex(r"[\w@+-][\w@+.-]*")
_RESERVED = regex("[\U00100000-\U0010ffff]")
ANYTHING = "**"
"""In a path: a part that is not known."""


class Unknown(Plain):
    """A part of a word that is known only when the command runs.

    `source` is as the script has it: `$X`, `$(date)`. `origin` "outside": the environment, arguments, names of files;
    "output": what a command prints; "script": computed from the text of the script itself, so it may have been chosen
    to look harmless. `quoted`: it stands between quotes, one word, whatever it holds. `pattern` is what it is as a
    path, wildcards in it: `src/**`. `name` is given where it surely is one word without blanks, as far as it is known
    then: `/x/.venv` of a variable in the environment, `**` of a folder that a program prints.
    """

    __slots__ = ("name", "origin", "pattern", "quoted", "source")

    def __init__(
        self,
        source: str,
        origin: str = "outside",
        quoted: bool = False,
        pattern: str = ANYTHING,
        name: str = "",
    ) -> None:
        self.source, self.origin, self.quoted, self.pattern = source, origin, quoted, pattern
        self.name = name


class Marks:
    """The unknown parts of one script, nested ones included, and their characters."""

    def __init__(self) -> None:
        self._known: list[Unknown] = []
        self.opened: dict[str, tuple[str, ...]] = {}
        """The files of which a mark stands for all the text."""

    def mark(self, unknown: Unknown) -> str:
        """The character that stands for it."""
        if _FIRST + len(self._known) < _LAST:
            self._known.append(unknown)
        else:  # a script of a million unknown words: they all are the last one
            self._known[-1] = Unknown("?", "script")
        return chr(_FIRST + len(self._known) - 1)

    def of(self, text: str) -> list[Unknown]:
        """The unknown parts of a text, in order."""
        return [self._known[ord(char) - _FIRST] for char in _UNKNOWN.findall(text)]

    def shown(self, text: str) -> str:
        """The text as the script has it."""
        if text.isascii():
            return text
        text = _UNKNOWN.sub(lambda found: self._known[ord(found[0]) - _FIRST].source, text)
        return _RESERVED.sub(lambda found: _LITERAL.get(found[0], ""), text)

    def pattern(self, text: str) -> str:
        """The text as a path: wildcards of the shell stay, `**` stands for what is not known."""
        if text.isascii():
            return text
        text = _UNKNOWN.sub(lambda found: self._known[ord(found[0]) - _FIRST].pattern, text)
        return _RESERVED.sub(lambda found: _LITERAL.get(found[0], ""), text)

    def program(self, word: str) -> str:
        """The base name of the program that a word stands for; "" where only running tells.

        What is not known of the word before its last slash must be one word, or it would be other words as well.
        """
        names = [part.name for part in self.of(word)]
        if not all(names) or is_wild(word):
            return ""
        name = _UNKNOWN.sub(lambda _: names.pop(0), word).rpartition("/")[2]
        return name if _PROGRAM.fullmatch(name) else ""

    def named(self, text: str, source: str) -> str:
        """The text, its parts of unknown source called `source`."""
        if text.isascii():
            return text
        parts = self.of(text)
        return _UNKNOWN.sub(lambda found: self._again_named(found[0], source), text) if parts else text

    def are_names(self, text: str) -> bool:
        """Whether nothing but unknown lines are in the text, which may be names: it is no file's text, and no patch."""
        return is_unknown(text.replace("\n", "")) and text not in self.opened

    def nameless(self, text: str) -> str:
        """The text with no part of which it is sure that it is one word, or which files it is about."""
        self.opened.pop(text, None)
        if not any(part.name for part in self.of(text)):
            return text
        return _UNKNOWN.sub(lambda found: self._nameless(found[0]), text)

    def quoted(self, text: str, quoted: bool) -> str:
        """The text as it stands between quotes, or outside of them."""
        return _UNKNOWN.sub(lambda found: self._again(found[0], quoted), text) if not text.isascii() else text

    def _again_named(self, char: str, source: str) -> str:
        unknown = self._known[ord(char) - _FIRST]
        if unknown.source:
            return char
        return self.mark(Unknown(source, unknown.origin, unknown.quoted, unknown.pattern, unknown.name))

    def _nameless(self, char: str) -> str:
        unknown = self._known[ord(char) - _FIRST]
        return self.mark(Unknown(unknown.source, unknown.origin, unknown.quoted, unknown.pattern, ""))

    def _again(self, char: str, quoted: bool) -> str:
        unknown = self._known[ord(char) - _FIRST]
        return (
            char
            if unknown.quoted == quoted
            else self.mark(Unknown(unknown.source, unknown.origin, quoted, unknown.pattern, unknown.name))
        )

    def is_astray(self, text: str) -> bool:
        """Whether a path begins with what a command prints or the script computes: it may lead anywhere."""
        return self.pattern(text).startswith(ANYTHING) and any(part.origin != "outside" for part in self.of(text))

    def may_be_option(self, text: str) -> bool:
        """Whether an unknown part of the word may make it an option, or add one.

        A quoted value from outside is taken for the value it stands for: `git push origin "$BRANCH"`.
        """
        parts = self.of(text)
        if not parts:
            return False
        before = _UNKNOWN.split(text, maxsplit=1)[0]
        if before.startswith("--"):
            return "=" not in before or any(not part.quoted for part in parts)
        if before in ("", "-"):
            first = parts[0]
            return before == "-" or not first.quoted or first.origin == "script"
        return any(not part.quoted and part.origin != "outside" for part in parts)


def is_known(text: str) -> bool:
    """Whether no part of the text is unknown."""
    return text.isascii() or _UNKNOWN.search(text) is None


def is_unknown(text: str) -> bool:
    """Whether nothing of the text is known."""
    return bool(text) and not _UNKNOWN.sub("", text)


def is_wild(text: str) -> bool:
    """Whether the text has a wildcard of the shell in it."""
    return not text.isascii() and _WILDCARD.search(text) is not None


def is_plain(text: str) -> bool:
    """Whether the text is known to its last character, none of which the shell replaces."""
    return is_known(text) and not is_wild(text)


def dotted(text: str) -> str:
    """The text with a dot before each name in it that begins with a wildcard: the hidden names of its pattern."""
    return text if text.isascii() else _WILD_NAME.sub(lambda found: found[1] + ".", text)


def wild(text: str) -> str:
    """The text with its `*`, `?` and `[` as wildcards."""
    return _SIGNS.sub(lambda found: _WILD[found[0]], text)


def literal(text: str) -> str:
    """The text with its wildcards as plain characters: what an assignment keeps."""
    return _WILDCARD.sub(lambda found: _LITERAL[found[0]], text)


def without_marks(script: str) -> str:
    """A script from outside, in which no character is taken for a mark."""
    return _RESERVED.sub("\N{REPLACEMENT CHARACTER}", script)

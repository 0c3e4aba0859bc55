"""The lexical gate: only characters and words of the language reach Python's parser (design §5).

Python's tokenizer normalises identifiers, loads `unicodedata` for `\\N{…}`, and its parser is slow or deep on some
input. None of that is reachable from here: what passes is short, ASCII outside strings, balanced, and made of a closed
set of tokens.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from keyword import kwlist

from ahp.conditions.diagnostics import Place
from ahp.conditions.spelling import MENDED

MAX_TEXT = 4096
MAX_DEPTH = 24
MAX_NODES = 256
MAX_TOKENS = 1024
MAX_DIGITS = 20

_TWO = ("//", "<=", ">=", "==", "!=")
_ONE = "()[].,+-*/%<>"
_SPACE = " \t\r"
_WORDS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
_DIGITS = "0123456789"
_PAIRS = {")": "(", "]": "["}

_ALLOWED_KEYWORDS = frozenset(["False", "None", "True", "and", "or", "not", "in", "is", "if", "else", "for"])


class Refused(Exception):
    """A text that is not in the language; carries the kind, the place and a hint, until `check` knows the position."""

    def __init__(self, kind: str, message: str, place: Place, hint: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.place = place
        self.hint = hint


@dataclass(frozen=True)
class Token:
    """One token: kind (word, number, string, op), text, and where it begins."""

    kind: str
    text: str
    place: Place


def scan(text: str) -> list[Token]:
    """The tokens of a condition. Raises Refused for whatever cannot be part of one; never looks at meaning."""
    if len(text) > MAX_TEXT:
        raise Refused("bound", f"a condition has at most {MAX_TEXT} characters, this one {len(text)}", Place())
    scanner = _Scanner(text)
    tokens = scanner.run()
    if not tokens:
        raise Refused("syntax", "the condition is empty", Place(), "write 'true' for a rule that always holds")
    return tokens


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.line = 1
        self.start = 0
        self.open: list[tuple[str, Place]] = []
        self.tokens: list[Token] = []

    def place(self) -> Place:
        return Place(self.line, self.at - self.start)

    def run(self) -> list[Token]:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\n":
                self.newline()
            elif char in _SPACE:
                self.at += 1
            elif char == "#":
                self.comment()
            elif char in "'\"":
                self.string("")
            elif char in _WORDS:
                self.word()
            elif char in _DIGITS or (char == "." and self.text[self.at + 1 : self.at + 2].isdecimal()):
                self.number()
            else:
                self.operator(char)
            if len(self.tokens) > MAX_TOKENS:
                raise Refused("bound", f"a condition has at most {MAX_TOKENS} words and signs", self.place())
        if self.open:
            char, place = self.open[-1]
            raise Refused("syntax", f"'{char}' is never closed", place)
        return self.tokens

    def newline(self) -> None:
        self.at += 1
        self.line += 1
        self.start = self.at

    def comment(self) -> None:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        refuse_hidden(self.text[self.at : end], self.place(), "a comment")
        self.at = end

    def add(self, kind: str, begin: int, place: Place) -> None:
        self.tokens.append(Token(kind, self.text[begin : self.at], place))

    def word(self) -> None:
        begin, place = self.at, self.place()
        while self.at < len(self.text) and self.text[self.at] in _WORDS + _DIGITS:
            self.at += 1
        text = self.text[begin : self.at]
        if self.text[self.at : self.at + 1] in ("'", '"'):
            self.prefix(text, begin, place)
            return
        if text in kwlist and text not in _ALLOWED_KEYWORDS:
            raise Refused("syntax", f"'{text}' is not part of a condition", place)
        self.add("word", begin, place)

    def prefix(self, text: str, begin: int, place: Place) -> None:
        if text in _ALLOWED_KEYWORDS:
            self.add("word", begin, place)
        elif text in ("r", "R"):
            self.string(text, begin, place)
        else:
            raise Refused(
                "syntax", f"a string has no prefix '{text[:10]}'", place, "write it without; only r'…' is known"
            )

    def number(self) -> None:
        begin, place = self.at, self.place()
        allowed = _DIGITS + _WORDS + "."
        while self.at < len(self.text):
            char = self.text[self.at]
            sign = char in "+-" and self.text[self.at - 1] in "eE" and self.text[begin : begin + 2].lower() != "0x"
            if char not in allowed and not sign:
                break
            self.at += 1
        text = self.text[begin : self.at]
        if len(text) > MAX_DIGITS:
            raise Refused("bound", f"a number has at most {MAX_DIGITS} characters", place)
        try:
            value = float(text) if text[:2].lower() not in ("0x", "0b", "0o") else int(text, 0)
        except ValueError:
            raise Refused("syntax", f"'{text}' is not a number", place) from None
        if value in (float("inf"), float("-inf")):
            raise Refused("bound", f"{text} is too large a number", place)
        self.add("number", begin, place)

    def string(self, prefix: str, begin: int | None = None, place: Place | None = None) -> None:
        begin = self.at if begin is None else begin
        place = place or self.place()
        quote = self.text[self.at]
        if self.text[self.at : self.at + 3] == quote * 3:
            raise Refused("syntax", "a string stands between single ' or \"", place)
        self.at += 1
        while True:
            char = self.text[self.at : self.at + 1]
            if char in ("", "\n", "\r"):
                raise Refused("syntax", "the string is never closed", place)
            if char == "\\":
                self.escape(prefix)
            elif char == quote:
                break
            else:
                self.at += 1
        body = self.text[begin : self.at]
        self.at += 1
        refuse_hidden(body, place, "a string")
        self.add("string", begin, place)

    def escape(self, prefix: str) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following == "N" and not prefix:
            raise Refused("syntax", "\\N is not read in a string", self.place(), "write the character itself")
        if following in ("", "\n", "\r"):
            raise Refused("syntax", "the string is never closed", self.place())
        self.at += 2

    def operator(self, char: str) -> None:
        place = self.place()
        for length in (3, 2):
            piece = self.text[self.at : self.at + length]
            if len(piece) == length and piece in MENDED:
                raise Refused("syntax", f"'{piece}' is not part of a condition", place, MENDED[piece])
        if self.text[self.at : self.at + 2] in _TWO:
            self.at += 2
            self.add("op", self.at - 2, place)
            return
        if char not in _ONE:
            self.refuse(char, place)
        if char in "([":
            self.open.append((char, place))
            if len(self.open) > MAX_DEPTH:
                raise Refused("bound", f"brackets nest at most {MAX_DEPTH} deep", place)
        elif char in ")]" and (not self.open or self.open.pop()[0] != _PAIRS[char]):
            raise Refused("syntax", f"'{char}' closes nothing", place)
        self.at += 1
        self.add("op", self.at - 1, place)

    def refuse(self, char: str, place: Place) -> None:
        if char in MENDED:
            raise Refused("syntax", f"'{char}' is not part of a condition", place, MENDED[char])
        if char == "\\":
            raise Refused("syntax", "'\\' is not part of a condition", place, "a line goes on without it")
        name = unicodedata.name(char, "a character without a name")
        raise Refused(
            "syntax",
            f"U+{ord(char):04X} ({name.lower()}) is not part of a condition",
            place,
            "outside strings only ASCII is read",
        )


# What a backslash makes of letters and digits that mean something else in a regular expression.
_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\v": "\\v", **{chr(one): f"\\{one}" for one in range(1, 7)}}


def refuse_hidden(text: str, place: Place, what: str) -> None:
    """Raises Refused for the first character of `text` that does not show as itself.

    Control and format characters (bidi, zero width), line separators, surrogates, unassigned and private code points.
    Tab, newline and carriage return pass.
    """
    for char in text:
        if char < "\x7f" and (char >= " " or char in "\t\n\r"):
            continue
        if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
            message = f"{what} holds U+{ord(char):04X}, which does not show"
            hint = "a regex can name it: matches(text, '\\\\x{…}')"
            if what == "a string" and (written := _ESCAPES.get(char)):
                hint = f"'{written}' stands for it; where a regex is meant, put an r in front: r'…{written}…'"
            raise Refused("syntax", message, place, hint)

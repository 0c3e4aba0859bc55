"""The parts of a regular expression that `|` joins at its top: a list of regexes says the same.

So a kind of secret that is added to a limit is proven to make a rule stricter, and one that is taken away to make it
weaker.
"""

import re
from collections.abc import Iterator

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

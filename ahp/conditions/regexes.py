"""Regular expressions over hostile text, by RE2: in time linear in the text.  [light]"""

from ahp.conditions.globs import PatternError, bounded
from ahp.conditions.runtime import MAX_CHARS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Test = Callable[[str], bool]

MAX_REGEX_MEMORY = 2 * 1024 * 1024  # bytes of one compiled regex; RE2 refuses a larger program at once


def regex(pattern: str) -> "Test":
    """A test whether an RE2 expression matches anywhere in a text. Raises PatternError with RE2's own words.

    Text is matched as UTF-8; the bytes of an undecodable file name stand for themselves. A flag like `(?i)` must come
    first.
    """
    _, match, unanchored = _matcher(pattern, captures=False)

    def test(text: str) -> bool:  # once for each line of a change: no call that is not needed
        try:
            data = text.encode("utf-8", "surrogateescape") if len(text) <= MAX_CHARS else _encoded(text)[0]
        except UnicodeEncodeError:
            data = _encoded(text)[0]
        return match(unanchored, data, 0, len(data))[0][0] >= 0

    return test


def groups(pattern: str) -> "Callable[[str], list[str]]":
    """The groups of the first match, "" for one that takes no part; [] where there is none. Raises PatternError."""
    compiled, match, unanchored = _matcher(pattern, captures=True)
    if not compiled.NumberOfCapturingGroups():
        raise PatternError("no part of it stands in parentheses")

    def found(text: str) -> list[str]:
        data, errors = _encoded(text)
        whole, *parts = match(unanchored, data, 0, len(data))
        none = whole[0] < 0
        return [] if none else [data[begin:end].decode("utf-8", errors) if begin >= 0 else "" for begin, end in parts]

    return found


def _matcher(pattern: str, captures: bool) -> "tuple[Any, Callable[..., list[tuple[int, int]]], object]":
    """The compiled expression; what tells where in a text it and its groups match; and that it does so anywhere."""
    _flags_first(pattern)
    re2 = _load()
    options = re2.Options()
    options.max_mem = MAX_REGEX_MEMORY
    options.log_errors = False
    options.never_capture = not captures
    try:
        compiled = re2(pattern.encode("utf-8"), options)
    except UnicodeEncodeError:
        raise PatternError("the regex holds half a surrogate pair") from None
    if not compiled.ok():
        raise PatternError(compiled.error().decode("utf-8", "replace"))
    return compiled, compiled.Match, re2.Anchor.UNANCHORED


def _encoded(text: str) -> tuple[bytes, str]:
    """A text as bytes, and how they are to be decoded again."""
    if len(text) > MAX_CHARS:
        bounded(text)
    try:
        return text.encode("utf-8", "surrogateescape"), "surrogateescape"
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass"), "surrogatepass"


def _flags_first(pattern: str) -> None:
    """RE2 lets `(?i)` stand anywhere and apply from there on; Python's re does not. Only the start means the same
    to every reader.
    """
    at = pattern.find("(?", 1)
    while at > 0:
        end = at + 2
        while pattern[end : end + 1] in tuple("imsU-"):
            end += 1
        escapes = len(pattern[:at]) - len(pattern[:at].rstrip("\\"))
        if pattern[end : end + 1] == ")" and escapes % 2 == 0 and not _in_class(pattern, at):
            raise PatternError("the flag " + pattern[at : end + 1] + " must stand at the start")
        at = pattern.find("(?", at + 1)


def _in_class(pattern: str, stop: int) -> bool:
    at, inside = 0, False
    while at < stop:
        char = pattern[at]
        if char == "\\":
            at += 1
        elif not inside and char == "[":
            inside = True
            at += pattern[at + 1 : at + 2] == "^"
            at += pattern[at + 1 : at + 2] == "]"  # the first one is a member
        elif char == "]":
            inside = False
        at += 1
    return inside


def _load() -> "Any":
    """RE2's extension module without its Python wrapper, which would import codecs, functools and itertools."""
    from ahp.system import extensions

    module = extensions.load("re2._re2")
    if module is None:
        from ahp.system.errors import LostDependency

        raise LostDependency(ImportError("google-re2 brings no re2._re2", name="re2"))
    return module.RE2


def named_groups(pattern: str, text: str) -> list[str]:
    """The names of the groups of `pattern` that take part in a match, in the order in which they occur in the text.

    Of a text that is longer than `matches` reads there are none. Raises re2.error for what is no RE2 expression.
    """
    import re2

    if len(text) > MAX_CHARS:
        return []
    options = re2.Options()
    options.max_mem = MAX_REGEX_MEMORY
    options.log_errors = False
    found: dict[str, None] = {}
    for match in re2.compile(pattern.encode("utf-8"), options).finditer(text.encode("utf-8", "replace")):
        found |= dict.fromkeys(name.decode() for name, group in match.groupdict().items() if group is not None)
    return list(found)

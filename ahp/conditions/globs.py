"""Globs over hostile paths, in time linear in the path.  [light]"""

from ahp.conditions.runtime import MAX_CHARS, Bound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Test = Callable[[str], bool]


class PatternError(ValueError):
    """A glob or regular expression that cannot be compiled; the text says why."""


def glob(patterns: "str | list[str]") -> "Test":
    """A test of paths against one glob or any of several, with the meaning of .gitignore lines.

    `*` and `?` stop at `/`, `**` between slashes crosses it, `[a-z]` and `[!a-z]` are one character, `\\` takes the
    next one literally. Without a slash (a last one aside) the base name is matched, else the whole path; a leading `/`
    anchors, a last `/` means everything below. Raises PatternError for an empty pattern, a class or an escape that
    does not end.
    """
    if not isinstance(patterns, str):
        tests = [glob(pattern) for pattern in patterns]

        def any_of(text: str) -> bool:
            bounded(text)  # whatever is no text is refused, where there is no pattern, too
            return any(test(text) for test in tests)

        return any_of
    if not patterns.strip("/"):
        raise PatternError("an empty glob matches nothing")
    parts = segments(patterns)
    if parts[0] == "**" and len(parts) == 2:
        name = _segment(parts[1])
        return lambda text: name(bounded(text)[text.rfind("/") + 1 :])
    blocks = _blocks(parts)
    return lambda text: _match_blocks(blocks, bounded(text).split("/"))


def segments(pattern: str) -> "list[str]":
    """What a path has between its slashes, from its top: a pattern each, `**` for any number of them, never last."""
    found = _split(pattern)
    if len(found) == 1 and found[0] != "**":
        return ["**", *found]
    if found[-1] == "":
        found[-1:] = ["**", "*"]
        if len(found) == 3 and pattern[0] != "/":
            found[:0] = ["**"]
    elif found[-1] == "**":
        found.append("*")
    return found[1:] if found[0] == "" else found


def bounded(text: str) -> str:
    """`text`. Raises Bound when it is too long for any pattern."""
    if len(text) > MAX_CHARS:
        raise Bound("a text of " + str(len(text)) + " characters is too long for a pattern")
    return text


def _split(pattern: str) -> "list[str]":
    """The pattern's segments: a slash inside a class or behind a backslash does not separate."""
    segments, begin, at = [], 0, 0
    while at < len(pattern):
        char = pattern[at]
        if char == "/":
            segments.append(pattern[begin:at])
            begin = at + 1
        at = _class_end(pattern, at) if char == "[" else at + 2 if char == "\\" else at + 1
    if at > len(pattern):
        raise PatternError("the glob ends in a single backslash")
    segments.append(pattern[begin:])
    return segments


def _class_end(pattern: str, at: int) -> int:
    """The index after the `]` of the class that begins at `at`; a `]` right after `[` or `[!` is a member."""
    at += 2 if pattern[at + 1 : at + 2] in ("!", "^") else 1
    first = at
    while at < len(pattern):
        if pattern[at] == "]" and at > first:
            return at + 1
        at += 2 if pattern[at] == "\\" else 1
    raise PatternError("a '[' in the glob is never closed")


def _blocks(segments: "list[str]") -> "list[list[Test]]":
    """Runs of segments between `**`: the first must match at the start, the last at the end, the others leftmost in
    between.
    """
    blocks: list[list[Test]] = [[]]
    for segment in segments:
        if segment == "**":
            blocks.append([])
        else:
            blocks[-1].append(_segment(segment))
    return blocks


def _match_blocks(blocks: "list[list[Test]]", names: "list[str]") -> bool:
    first, last = blocks[0], blocks[-1]
    if len(blocks) == 1:
        return len(names) == len(first) and _at(first, names, 0)
    end = len(names) - len(last)
    if end < len(first) or not _at(first, names, 0) or not _at(last, names, end):
        return False
    at = len(first)
    for block in blocks[1:-1]:
        while at + len(block) <= end and not _at(block, names, at):
            at += 1
        at += len(block)
        if at > end:
            return False
    return True


def _at(block: "list[Test]", names: "list[str]", at: int) -> bool:
    for test in block:
        if not test(names[at]):
            return False
        at += 1
    return True


def _segment(pattern: str) -> "Test":
    """The test of one path segment. Leftmost matching of the pieces between stars is enough, so nothing is tried
    twice.
    """
    parts = pieces(pattern)
    if len(parts) == 1:
        whole = parts[0]
        if isinstance(whole, str):
            return lambda name: name == whole
        return lambda name: len(name) == len(whole) and _fits(whole, name, 0)
    first, last, middle = parts[0], parts[-1], [piece for piece in parts[1:-1] if piece]
    if isinstance(first, str) and isinstance(last, str) and not middle:
        if not first and not last:
            return lambda name: True
        least = len(first) + len(last)
        return lambda name: len(name) >= least and name.startswith(first) and name.endswith(last)

    def test(name: str) -> bool:
        end = len(name) - len(last)
        at = len(first)
        if end < at or not _fits(first, name, 0) or not _fits(last, name, end):
            return False
        for piece in middle:
            at = _find(piece, name, at, end)
            if at < 0:
                return False
            at += len(piece)
        return True

    return test


def pieces(pattern: str) -> "list[Any]":
    """What stands between the stars: a plain text, or a list of one set of characters (None: any) a position."""
    found: list[list[Any]] = [[]]
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "*":
            found.append([])
        elif char == "?":
            found[-1].append(None)
        elif char == "[":
            end = _class_end(pattern, at)
            found[-1].append(_class(pattern[at + 1 : end - 1]))
            at = end - 1
        else:
            at += char == "\\"
            found[-1].append(pattern[at])
        at += 1
    return ["".join(piece) if all(isinstance(one, str) for one in piece) else piece for piece in found]


def _class(body: str) -> "tuple[bool, list[tuple[str, str]]]":
    """A character class as (negated, ranges)."""
    negated = body[:1] in ("!", "^")
    ranges, at = [], 1 if negated else 0
    while at < len(body):
        at += body[at] == "\\"
        low = high = body[at]
        at += 1
        if body[at : at + 1] == "-" and at + 1 < len(body):
            at += 1 + (body[at + 1] == "\\")
            high = body[at]
            at += 1
            if high < low:
                raise PatternError("the range " + low + "-" + high + " in the glob is the wrong way round")
        ranges.append((low, high))
    return negated, ranges


def _fits(piece: "Any", name: str, at: int) -> bool:
    if isinstance(piece, str):
        return name.startswith(piece, at)
    for one in piece:
        char = name[at]
        if isinstance(one, str):
            if char != one:
                return False
        elif one is not None and any(low <= char <= high for low, high in one[1]) == one[0]:
            return False
        at += 1
    return True


def _find(piece: "Any", name: str, at: int, end: int) -> int:
    if isinstance(piece, str):
        return name.find(piece, at, end)
    for start in range(at, end - len(piece) + 1):
        if _fits(piece, name, start):
            return start
    return -1

"""The lines in which two texts differ, as a unified diff without context (design §6).  [light]"""

Region = tuple[int, int, int, int]
"""Lines of the old text from..to (excluded) that became lines of the new one from..to, from 0."""


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends; the empty text has none."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def regions(old: list[str], new: list[str]) -> list[Region]:
    """The regions in which the texts differ, in order.

    Lines that are unique in both and stand in one order hold the texts together (patience diff, Bram Cohen); what is
    equal before and behind them belongs to them. So it takes n log n steps for any texts, and is not always the
    shortest diff.
    """
    if not old or not new:
        return [(0, len(old), 0, len(new))] if old or new else []
    found: list[Region] = []
    at_old = at_new = _common(old, new, 0, 0)
    for old_line, new_line in [*_anchors(old, new, at_old), (len(old), len(new))]:
        if old_line < at_old or new_line < at_new:
            continue
        end_old, end_new = old_line, new_line
        while end_old > at_old and end_new > at_new and old[end_old - 1] == new[end_new - 1]:
            end_old, end_new = end_old - 1, end_new - 1
        if end_old > at_old or end_new > at_new:
            found.append((at_old, end_old, at_new, end_new))
        equal = _common(old, new, old_line, new_line)
        at_old, at_new = old_line + equal, new_line + equal
    return found


def unified(path: str, old: str, new: str) -> bytes:
    """The differences of two texts of the file `path`, as git's diff with `-U0` has them; empty where there is none."""
    before, after = lines_of(old), lines_of(new)
    parts = []
    for old_from, old_to, new_from, new_to in regions(before, after):
        removed, added = old_to - old_from, new_to - new_from
        # git names the line before, where there is none of its own.
        parts.append(
            f"@@ -{old_from + (removed > 0)},{removed} +{new_from + (added > 0)},{added} @@\n"
            + "".join([f"-{line}\n" for line in before[old_from:old_to]])
            + "".join([f"+{line}\n" for line in after[new_from:new_to]])
        )
    name = _quoted(path)
    return encoded(f'--- "a/{name}"\n+++ "b/{name}"\n' + "".join(parts)) if parts else b""


def encoded(text: str) -> bytes:
    """Text as bytes; lone surrogates stand for bytes that are not UTF-8, or are none that a file can hold."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _common(old: list[str], new: list[str], at_old: int, at_new: int) -> int:
    """How many lines are equal from there on."""
    most = min(len(old) - at_old, len(new) - at_new)
    return next((n for n in range(most) if old[at_old + n] != new[at_new + n]), most)


def _anchors(old: list[str], new: list[str], start: int) -> list[tuple[int, int]]:
    """The longest run of lines, each unique in both texts from `start` on, that stand in the same order in both."""
    from bisect import bisect_left

    in_new = _unique(new, start)
    pairs = [(at, in_new[line]) for line, at in _unique(old, start).items() if line in in_new]
    # Longest increasing subsequence by patience sorting: the last pair of each pile, and the pair before each pair.
    tops: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, at_new) in enumerate(pairs):
        low = bisect_left(tops, at_new)
        before.append(last[low - 1] if low else -1)
        tops[low : low + 1] = [at_new]
        last[low : low + 1] = [index]
    found = []
    index = last[-1] if last else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]


def _unique(lines: list[str], start: int) -> dict[str, int]:
    """The lines that occur once, in order, with their places."""
    at: dict[str, int] = {}
    for index in range(start, len(lines)):
        at[lines[index]] = -1 if lines[index] in at else index
    return {line: index for line, index in at.items() if index >= 0}


def _quoted(path: str) -> str:
    """A path as git writes it between quotes."""
    return "".join([c if c >= " " and c not in '"\\\x7f' else f"\\{ord(c):03o}" for c in path])

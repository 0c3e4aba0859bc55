"""Patches: unified diffs that are read and made, and the headers of coding agents' own.  [light]

`parse` reads what git itself wrote. `parts` reads what anybody wrote, in linear time, and says what is wrong with it.
`unified` has the lines in which two texts differ, without context (design §6).
"""

from ahp.system.errors import AhpError

NOWHERE = "/dev/null"
FILE = "diff --git "
_AGENTS = {"*** Add File": "add", "*** Update File": "update", "*** Delete File": "delete", "*** Move to": "move"}


class Hunk:
    """The lines before and after, each with a newline where it has one; `at` is the first old one, from 0, if known.

    `head` is its first line, `wrong` the first line that is none of a hunk, "" where all are.
    """

    __slots__ = ("_last", "at", "head", "new", "old", "wrong")

    def __init__(self, head: str = "", at: int | None = None) -> None:
        self.at = at
        self.old: list[str] = []
        self.new: list[str] = []
        self.head, self.wrong, self._last = head, "", "@"

    def add(self, line: str) -> None:
        """One more line, which begins with a blank, `+`, `-` or `\\`, or is empty: editors drop the blank of those."""
        sign = line[:1]
        if sign in " -":
            self.old.append(line[1:] + "\n")
        if sign in " +":
            self.new.append(line[1:] + "\n")
        if sign == "\\":  # no newline at end of file
            for side, signs in ((self.old, " -"), (self.new, " +")):
                side[-1:] = [line.removesuffix("\n") if self._last in signs else line for line in side[-1:]]
        self._last = sign


def parts(text: str) -> "list[str | Hunk]":
    """The hunks of a unified diff and the lines outside of them, in order. Never raises.

    A hunk ends where another hunk or file begins, whatever it says of its length: models miscount.
    """
    found: list[str | Hunk] = []
    lines = text.split("\n")
    while lines and not lines[-1]:
        lines.pop()
    hunk, is_open = Hunk(), False
    for at, line in enumerate(lines):
        sign = line.rstrip("\r")[:1]
        if line.startswith("@@"):
            numbers = ranges(line)
            hunk, is_open = Hunk(line, max(0, numbers[0] - 1) if numbers else None), True
            found.append(hunk)
        elif not is_open or _is_behind(lines, at):
            is_open = False
            found.append(line)
        elif sign in " +-\\":
            hunk.add(line if sign else " " + line)
        else:
            hunk.wrong = hunk.wrong or line
    return found


def _is_behind(lines: list[str], at: int) -> bool:
    """Whether a line after a hunk is not of it: another file begins, or the signature of git format-patch."""
    if lines[at] == "-- " and at == len(lines) - 2:
        return lines[-1][:1] not in (*" +-\\", "")
    marks = ("--- ", "+++ ", "@@")  # without a hunk, it is a removed line `-- x` and an added one `++ y`
    is_header = all(line.startswith(mark) for line, mark in zip(lines[at : at + 3], marks, strict=False))
    return lines[at].startswith(FILE) or (is_header and at + 2 < len(lines))


def ranges(line: str) -> tuple[int, int, int, int] | None:
    """First line and number of lines, before and after: `@@ -3,2 +4 @@ heading` → 3, 2, 4, 1; None for another line."""
    try:
        old, new = line[4:].split(" @@", 1)[0].split(" +")
        old_line, _, old_count = old.partition(",")
        new_line, _, new_count = new.partition(",")
        return int(old_line), int(old_count or 1), int(new_line), int(new_count or 1)
    except ValueError:
        return None


def name_of(line: str, *prefixes: str) -> str:
    """The name in a `---` or `+++` line that anybody wrote, without its prefix; "" for /dev/null."""
    name = line[4:].split("\t")[0].strip()
    prefix = next((one for one in prefixes if name.startswith(one)), "")
    return "" if name == NOWHERE else name[len(prefix) :]


def agents_header(line: str) -> tuple[str, str]:
    """("add", "update", "delete" or "move", path) of a header of an agent's patch; ("", …) of any other line."""
    head, colon, path = line.partition(":")
    return _AGENTS.get(head, "") if colon else "", path.strip()


def is_agents(text: str) -> bool:
    """Whether a text is a patch as Codex and others write it: `*** Begin Patch`, `*** Update File: a`."""
    lines = [line.strip() for line in text.split("\n")] if "*** " in text else []
    return any(
        line.startswith("*** Begin Patch") or agents_header(line)[0] in ("add", "update", "delete") for line in lines
    )


def parse(
    data: bytes, with_added: bool = True, with_removed: bool = True
) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """(added, removed) lines of a unified diff with git's a/ and b/ prefixes.

    Hunks are followed by their counts, never by what a line looks like: a removed line `-- x` reads `--- x` in a diff.
    Context lines are stepped over; none are asked for, but GIT_DIFF_OPTS overrules. Raises AhpError for a cut diff.
    """
    added: list[dict[str, object]] = []
    removed: list[dict[str, object]] = []
    lines = data.split(b"\n")
    old_path = new_path = ""
    at, last = 0, len(lines) - 1
    while at < last:
        line = lines[at]
        at += 1
        if line[:4] == b"@@ -":
            numbers = ranges(line.decode("latin-1"))
            if numbers is None:
                raise AhpError(f"git's diff is not understood: {line[:80]!r}")
            old, old_left, new, new_left = numbers
            while old_left or new_left:
                if at >= last:
                    raise AhpError("git's diff is cut")
                line = lines[at]
                sign = line[:1]
                at += 1
                text = line[1 : -1 if line[-1:] == b"\r" else None].decode("utf-8", "surrogateescape")
                if sign == b"+":
                    if with_added:
                        added.append({"path": new_path, "line": new, "text": text})
                    new, new_left = new + 1, new_left - 1
                elif sign == b"-":
                    if with_removed:
                        removed.append({"path": old_path, "line": old, "text": text})
                    old, old_left = old + 1, old_left - 1
                elif sign != b"\\":  # "\ No newline at end of file" belongs to the line before it
                    old, old_left, new, new_left = old + 1, old_left - 1, new + 1, new_left - 1
                if old_left < 0 or new_left < 0:
                    raise AhpError(f"git's diff is not understood: {line[:80]!r}")
        elif line[:4] == b"--- ":
            old_path = _name(line[4:])
        elif line[:4] == b"+++ ":
            new_path = _name(line[4:])
    return added, removed


def _name(text: bytes) -> str:
    """The path of a `---` or `+++` line; "" for /dev/null."""
    name = text.decode("utf-8", "surrogateescape")
    if name[:1] == '"':
        name = unquote(name)
    elif name[-1:] == "\t":  # git marks the end of a name that holds blanks
        name = name[:-1]
    return "" if name == NOWHERE else name[2:]


def unquote(text: str) -> str:
    """A path that git wrote in C quotes: `"b/\\303\\244"`; bytes that are not UTF-8 become lone surrogates."""
    import codecs

    inner = text[1 : text.rfind('"')].encode("utf-8", "surrogateescape")
    return codecs.escape_decode(inner)[0].decode("utf-8", "surrogateescape")


_MOVED = ("rename from ", "rename to ", "copy to ")


def named_files(text: str) -> list[str]:
    """The files that a patch changes, by its headers alone: an agent's (`*** Update File: F`), or a unified diff's."""
    lines = text.split("\n")
    headers = [agents_header(line.strip()) for line in lines if line.lstrip().startswith("*** ")]
    if found := [path for kind, path in headers if kind]:
        return found
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("--- ") and following.startswith("+++ "):
            found += [name for side in (line, following) if (name := name_of(side, "a/", "b/"))]
        elif line.startswith("diff --git ") and " b/" in line:  # a change of mode has no other line
            found.append(line.rpartition(" b/")[2].strip())
        else:
            found += [line[len(begin) :].strip() for begin in _MOVED if line.startswith(begin)]
    return found


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
    name = "".join([c if c >= " " and c not in '"\\\x7f' else f"\\{ord(c):03o}" for c in path])
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

"""Unified diffs as git writes them, read into lines."""

from ahp.system.errors import AhpError

_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


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
            old, old_left, new, new_left = _ranges(line)
            while old_left or new_left:
                if at >= last:
                    raise AhpError("git's diff is cut")
                line = lines[at]
                sign = line[:1]
                at += 1
                if sign == b"+":
                    if with_added:
                        added.append({"path": new_path, "line": new, "text": _text(line)})
                    new, new_left = new + 1, new_left - 1
                elif sign == b"-":
                    if with_removed:
                        removed.append({"path": old_path, "line": old, "text": _text(line)})
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


def _text(line: bytes) -> str:
    return (line[1:-1] if line[-1:] == b"\r" else line[1:]).decode("utf-8", "surrogateescape")


def _ranges(line: bytes) -> tuple[int, int, int, int]:
    """`@@ -3,2 +4 @@ heading` → 3, 2, 4, 1."""
    try:
        old, new = line[4:].split(b" @@", 1)[0].split(b" +")
        old_line, _, old_count = old.partition(b",")
        new_line, _, new_count = new.partition(b",")
        return int(old_line), int(old_count or 1), int(new_line), int(new_count or 1)
    except ValueError:
        raise AhpError(f"git's diff is not understood: {line[:80]!r}") from None


def _name(text: bytes) -> str:
    """The path of a `---` or `+++` line; "" for /dev/null."""
    name = text.decode("utf-8", "surrogateescape")
    if name[:1] == '"':
        name = unquote(name)
    elif name[-1:] == "\t":  # git marks the end of a name that holds blanks
        name = name[:-1]
    return "" if name == "/dev/null" else name[2:]


def unquote(text: str) -> str:
    """A path that git wrote in C quotes: `"b/\\303\\244"`; bytes that are not UTF-8 become lone surrogates."""
    found = bytearray()
    at, end = 1, text.rfind('"')
    while at < end:
        char = text[at]
        if char != "\\":
            found += char.encode("utf-8", "surrogateescape")
            at += 1
        elif text[at + 1] in _ESCAPES:
            found.append(_ESCAPES[text[at + 1]])
            at += 2
        else:
            found.append(int(text[at + 1 : at + 4], 8))
            at += 4
    return found.decode("utf-8", "surrogateescape")

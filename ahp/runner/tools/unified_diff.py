"""Unified diffs, as `diff -u`, git and models write them: line numbers are hints, the lines are what counts."""

import re
from dataclasses import dataclass, field

from ahp.runner.tools.line_ends import line_ends, lines_of

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
_NOWHERE = "/dev/null"
_MOST_FILES = 200
_BOM = "\ufeff"
_FILE = "diff --git "
# What is more than lines of text. A mode that is lost would make a script that does not run.
_NOT_TAKEN = (
    *("rename ", "copy ", "GIT binary patch", "Binary files ", "old mode "),
    *("new file mode 100755", "new file mode 120000", "new file mode 160000"),
)


class PatchError(ValueError):
    """A patch that cannot be read or does not fit; the text says why."""


@dataclass
class Hunk:
    """Lines that are there and what they become; `at` is the first of them, counted from 0, where the patch says it."""

    at: int | None
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass
class FilePatch:
    """The hunks of one file, and whether the patch creates or deletes it."""

    path: str
    creates: bool
    deletes: bool
    hunks: list[Hunk] = field(default_factory=list)


def parse(text: str) -> list[FilePatch]:
    """The files of a patch. Raises PatchError."""
    found: list[FilePatch] = []
    lines = text.replace("\r\n", "\n").split("\n")
    while lines and not lines[-1]:
        lines.pop()
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(_NOT_TAKEN):
            raise PatchError(f"a patch that holds {line[:40]!r} is not taken; write the file, or run a command")
        if line.startswith("@@"):
            raise PatchError(f"a hunk without the lines `--- a/PATH` and `+++ b/PATH` before it: {line[:40]!r}")
        if not (line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")):
            found += _empty_file(lines, at)
            at += 1  # what git and people write above a file
            continue
        found.append(_header(line, lines[at + 1]))
        if len(found) > _MOST_FILES:
            raise PatchError(f"more than {_MOST_FILES} files in one patch")
        at = _hunks(lines, at + 2, found[-1])
    if not found:
        raise PatchError("no file in it: a unified diff has the lines `--- a/PATH` and `+++ b/PATH` before its hunks")
    return found


def _empty_file(lines: list[str], at: int) -> list[FilePatch]:
    """The file without content that the line `at` makes or deletes: git writes neither its names nor a hunk."""
    creates, deletes = lines[at].startswith("new file mode "), lines[at].startswith("deleted file mode ")
    names = lines[at - 1].removeprefix(_FILE) if at and lines[at - 1].startswith(_FILE) else ""
    if not (creates or deletes) or not names:
        return []
    for line in lines[at + 1 :]:
        if line.startswith(("--- " if creates else "+++ ") + _NOWHERE) or line.startswith(_NOT_TAKEN):
            return []
        if line.startswith((_FILE, "@@")):
            break
    path = names[2 : len(names) // 2]
    if names != f"a/{path} b/{path}":
        raise PatchError(f"the path in {lines[at - 1][:100]!r} cannot be told; write the file instead")
    return [FilePatch(path, creates, deletes)]


def _header(old: str, new: str) -> FilePatch:
    names = [line[4:].split("\t")[0].strip() for line in (old, new)]
    if any(name.startswith('"') for name in names):
        raise PatchError("quoted paths are not read; write the path as it is")
    before, after = (
        name if name == _NOWHERE else name.removeprefix(prefix)
        for name, prefix in zip(names, ("a/", "b/"), strict=True)
    )
    if before == after == _NOWHERE or not (before and after):
        raise PatchError("a file without a path")
    if _NOWHERE not in (before, after) and before != after:
        raise PatchError(f"{before} is renamed to {after}; write the file instead")
    return FilePatch(after if before == _NOWHERE else before, before == _NOWHERE, after == _NOWHERE)


def _hunks(lines: list[str], at: int, change: FilePatch) -> int:
    """Reads the hunks of a file; where they end."""
    while at < len(lines) and lines[at].startswith("@@"):
        numbered = _HUNK.match(lines[at])
        hunk = Hunk(max(0, int(numbered[1]) - 1) if numbered else None)
        at += 1
        while at < len(lines) and not lines[at].startswith(("@@", _FILE)):
            line = lines[at]
            if line == "-- " and at == len(lines) - 2 and lines[-1][:1] not in (*" +-\\", ""):
                at = len(lines)  # the signature of git format-patch
                break
            if line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
                break
            mark, rest = (line[0], line[1:]) if line else (" ", "")  # editors drop the blank of an empty line
            if mark not in " +-\\":
                raise PatchError(f"{change.path}: a line of a hunk begins with a blank, + or -, not as {line[:40]!r}")
            if mark == "\\":  # No newline at end of file
                _without_end(hunk, lines[at - 1][:1])
            if mark in " -":
                first = not (change.hunks or hunk.old)
                hunk.old.append((rest.removeprefix(_BOM) if first else rest) + "\n")
            if mark in " +":
                hunk.new.append(rest + "\n")
            at += 1
        if not hunk.old and not hunk.new:
            raise PatchError(f"{change.path}: a hunk without lines")
        change.hunks.append(hunk)
    if not change.hunks:
        raise PatchError(f"{change.path}: no hunk")
    return at


def _without_end(hunk: Hunk, mark: str) -> None:
    for side, marks in ((hunk.old, " -"), (hunk.new, " +")):
        if side and mark in marks:
            side[-1] = side[-1].removesuffix("\n")


def applied(text: str, change: FilePatch) -> str:
    """The text after the patch: each hunk where its lines are found, nearest to where it says. Raises PatchError.

    A byte order mark, which nobody sees before the first line, stays whether the patch has it or not.
    """
    if text.startswith(_BOM):
        return _BOM + applied(text.removeprefix(_BOM), change).removeprefix(_BOM)
    ends = line_ends(text)
    lines = lines_of(text if ends == "\n" else text.replace("\r\n", "\n"))
    done: list[str] = []
    taken = 0
    for number, hunk in enumerate(change.hunks, start=1):
        old = hunk.old
        if hunk.at is None and lines and len(places := _places(lines, old, taken)) > 1:
            raise PatchError(
                f"hunk {number} fits in {len(places)} places; give its line numbers or more of its context"
            )
        at = _find(lines, old, hunk.at, taken)
        if (
            at is None and lines and not lines[-1].endswith("\n")
        ):  # the patch does not say that the last line has no end
            bare = [*old[:-1], old[-1].removesuffix("\n")] if old else old
            at = _find(lines, bare, hunk.at, taken)
        if at is None:
            raise PatchError(f"hunk {number} does not fit: its lines are not there")
        done += [*lines[taken:at], *hunk.new]
        taken = at + len(old)
    after = "".join([*done, *lines[taken:]])
    return after.replace("\n", ends) if ends != "\n" else after


def _find(lines: list[str], old: list[str], near: int | None, first: int) -> int | None:
    """Where `old` stands in `lines` from `first` on, nearest to `near`."""
    near = near or 0
    if not old:
        return max(first, min(near + 1 if near else 0, len(lines)))
    return min(_places(lines, old, first), key=lambda at: abs(at - near), default=None)


def _places(lines: list[str], old: list[str], first: int) -> list[int]:
    """Every place of `old` in `lines` from `first` on; that of no lines is anywhere."""
    places = range(first, len(lines) - len(old) + 1)
    return [at for at in places if not old or (lines[at] == old[0] and lines[at : at + len(old)] == old)]

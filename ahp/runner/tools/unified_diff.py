"""Unified diffs, as `diff -u`, git and models write them: line numbers are hints, the lines are what counts."""

from dataclasses import dataclass, field

from ahp.runner.tools.project_files import line_ends, lines_of
from ahp.system import patch

_MOST_FILES = 200
_BOM = "\ufeff"
# What is more than lines of text. A mode that is lost would make a script that does not run.
_NOT_TAKEN = (
    *("rename ", "copy ", "GIT binary patch", "Binary files ", "old mode "),
    *("new file mode 100755", "new file mode 120000", "new file mode 160000"),
)


class PatchError(ValueError):
    """A patch that cannot be read or does not fit; the text says why."""


@dataclass
class FilePatch:
    """The hunks of one file, and whether the patch creates or deletes it."""

    path: str
    creates: bool
    deletes: bool
    hunks: list[patch.Hunk] = field(default_factory=list)


def _as_unified(text: str) -> str:
    """The unified diff that OpenAI's `*** Begin Patch` stands for; any other text as it is."""
    if not text.lstrip().startswith("*** Begin Patch"):
        return text
    lines: list[str] = []
    for line in text.strip().split("\n"):
        mark, _, path = line.partition(" File: ")
        if mark in ("*** Update", "*** Add"):
            lines += [f"--- {f'a/{path}' if mark == '*** Update' else patch.NOWHERE}", f"+++ b/{path}", "@@"]
        elif mark == "*** Delete" or line.startswith("*** Move to"):
            raise PatchError(f"{line[:80]!r} is not taken; run a command")
        elif line.startswith("@@"):
            lines += ["@@"] if lines[-1:] != ["@@"] else []
        elif not line.startswith("*** "):
            lines.append(line or " ")
    return "\n".join([*lines, ""])


def parse(text: str) -> list[FilePatch]:
    """The files of a patch. Raises PatchError."""
    found: list[FilePatch] = []
    change: FilePatch | None = None  # what a hunk is about, where one may stand
    before = names = ""
    for part in [*patch.parts(_as_unified(text).replace("\r\n", "\n"), counted=False), patch.FILE]:
        if isinstance(part, patch.Hunk):
            if change is None:
                raise PatchError(
                    f"a hunk without the lines `--- a/PATH` and `+++ b/PATH` before it: {part.head[:40]!r}"
                )
            _add(part, change)
            before = ""
            continue
        if change and not change.hunks:
            raise PatchError(f"{change.path}: no hunk")
        change = None
        if part.startswith(_NOT_TAKEN):
            raise PatchError(f"a patch that holds {part[:40]!r} is not taken; write the file, or run a command")
        if part.startswith(patch.FILE):
            if names:
                raise PatchError(f"{names[:100]!r} has no lines to change; write the file, or run a command")
            names = part
        if part.startswith("+++ ") and before.startswith("--- "):
            change, names = _header(before, part), ""
            found.append(change)
        if len(found) > _MOST_FILES:
            raise PatchError(f"more than {_MOST_FILES} files in one patch")
        before = part
    if not found:
        raise PatchError("no file in it: a unified diff has the lines `--- a/PATH` and `+++ b/PATH` before its hunks")
    return found


def _header(old: str, new: str) -> FilePatch:
    names = [line[4:].split("\t")[0].strip() for line in (old, new)]
    if any(name.startswith('"') for name in names):
        raise PatchError("quoted paths are not read; write the path as it is")
    before, after = (
        name if name == patch.NOWHERE else name.removeprefix(prefix)
        for name, prefix in zip(names, ("a/", "b/"), strict=True)
    )
    if before == after == patch.NOWHERE or not (before and after):
        raise PatchError("a file without a path")
    if patch.NOWHERE not in (before, after) and before != after:
        raise PatchError(f"{before} is renamed to {after}; write the file instead")
    return FilePatch(after if before == patch.NOWHERE else before, before == patch.NOWHERE, after == patch.NOWHERE)


def _add(hunk: patch.Hunk, change: FilePatch) -> None:
    if hunk.wrong:
        raise PatchError(f"{change.path}: a line of a hunk begins with a blank, + or -, not as {hunk.wrong[:40]!r}")
    if not hunk.old and not hunk.new:
        raise PatchError(f"{change.path}: a hunk without lines")
    if hunk.old and not change.hunks:
        hunk.old[0] = hunk.old[0].removeprefix(_BOM)
    change.hunks.append(hunk)


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

"""The tools that change parts of files: search and replace, and unified patches."""

import re
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field, PrivateAttr, ValidationInfo, model_validator
from pydantic.json_schema import SkipJsonSchema

from ahp.facts.tool import Touched
from ahp.runner.tools import project_files
from ahp.runner.tools.file_tools import FileArgs, encoded, root_of, text_of, writes
from ahp.runner.tools.project_files import line_ends, lines_of
from ahp.runner.tools.tool import Arguments, FunctionTool, ToolContext
from ahp.runner.words import markup
from ahp.system import patch
from ahp.system.errors import AhpError

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
    for part in [*patch.parts(_as_unified(text).replace("\r\n", "\n")), patch.FILE]:
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


# One replacement as Cline and aider write it.
_BLOCK = re.compile(r"^[-<]{5,} SEARCH\n(.*?)^={5,}\n(.*?)^[+>]{5,} REPLACE", re.DOTALL | re.MULTILINE)


class Replacement(Arguments):
    """One text that stands for another."""

    search: str = Field(min_length=1, description="exact text, found once")
    replace: str
    all: bool = Field(False, description="replace it wherever it is found")

    @model_validator(mode="after")
    def _changes(self) -> "Replacement":
        if self.search == self.replace:
            raise ValueError("search and replace are the same: that changes nothing")
        return self


class EditArgs(FileArgs):
    _writes = True
    edits: list[Replacement] = Field(min_length=1, description="made in order")

    @model_validator(mode="before")
    @classmethod
    def _one_edit(cls, given: Any) -> Any:
        """One replacement may stand beside the path, and blocks of SEARCH and REPLACE in `diff`."""
        given = cls.own_names(given)
        if not isinstance(given, dict) or "edits" in given:
            return given
        beside = {name: given.pop(name) for name in given.keys() - cls.model_fields}
        blocks = _BLOCK.findall(str(beside.get("diff", "")))
        edits = [{"search": old, "replace": new} for old, new in blocks] or [beside] * bool(beside)
        return {**given, "edits": edits} if edits else given


def _edit(args: EditArgs, context: ToolContext) -> str:
    before = project_files.read(context.root, args.leads_to)
    text = text_of(before, args.path, exact=True)
    ends = line_ends(text)
    for number, edit in enumerate(args.edits, start=1):
        search, replace = (part.replace("\r\n", "\n").replace("\n", ends) for part in (edit.search, edit.replace))
        times = text.count(search)
        if not times:
            raise AhpError(f"edit {number}: {args.path} does not hold that text; nothing was changed. Read it again")
        if times > 1 and not edit.all:
            raise AhpError(
                f"edit {number}: {args.path} holds that text {times} times; nothing was changed. "
                'Give more of its surroundings, or "all": true'
            )
        text = text.replace(search, replace)
    data = encoded(text)
    project_files.write(context.root, args.leads_to, data)
    context.seen.follow(args.leads_to, before, data)
    return f"{args.path}: {len(args.edits)} edit{'s' if len(args.edits) > 1 else ''} made"


class PatchArgs(Arguments):
    """A unified patch. `leads_to` is where the paths in it lead, in their order."""

    patch: str = Field(min_length=1, description="unified diff of any files")
    leads_to: SkipJsonSchema[list[str]] = Field([])
    _files: list[FilePatch] = PrivateAttr(default_factory=list)

    @model_validator(mode="after")
    def _resolved(self, info: ValidationInfo) -> "PatchArgs":
        self._files = parse(markup.inside(self.patch) or self.patch)
        self.leads_to = [project_files.resolve(root_of(info), one.path, writes=True) for one in self._files]
        if len(set(self.leads_to)) != len(self.leads_to):
            raise ValueError("the patch names a file twice; put all its changes behind one pair of --- and +++")
        return self


def _patch(args: PatchArgs, context: ToolContext) -> str:
    """Every file is worked out before the first one is written: a patch that does not fit changes nothing."""
    results: list[tuple[FilePatch, str, bytes, str | None]] = []
    for change, place in zip(args._files, args.leads_to, strict=True):
        there = project_files.exists(context.root, place)
        if there == change.creates:
            raise AhpError(f"{change.path} is {'there already' if there else 'not there'}; nothing was changed")
        data = project_files.read(context.root, place) if there else b""
        before = text_of(data, change.path, exact=True)
        try:
            after = applied(before, change)
        except PatchError as error:
            raise AhpError(f"{change.path}: {error}; nothing was changed. Read it again") from None
        if change.deletes and after:
            raise AhpError(f"{change.path} holds more than the patch removes; nothing was changed")
        results.append((change, place, data, None if change.deletes else after))
    told = []
    for change, place, data, text in results:
        if text is None:
            project_files.remove(context.root, place)
        else:
            written = encoded(text)
            project_files.write(context.root, place, written)
            context.seen.follow(place, data, written)
        told.append(f"{'deleted' if text is None else 'created' if change.creates else 'changed'} {change.path}")
    return "\n".join(told)


def _patched(args: PatchArgs) -> Touched:
    return Touched(writes=dict.fromkeys([*(one.path for one in args._files), *args.leads_to]))


def edit_tools() -> list[FunctionTool]:
    """edit, apply_patch."""
    said = "Applies a unified diff (--- a/x, +++ b/x, @@)."
    return [
        FunctionTool("edit", "Replaces exact texts in a file.", EditArgs, _edit, kind="edit", touched=writes),
        FunctionTool("apply_patch", said, PatchArgs, _patch, kind="patch", touched=_patched),
    ]

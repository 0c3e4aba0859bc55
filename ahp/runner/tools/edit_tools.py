"""The tools that change parts of files: search and replace, and unified patches."""

from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, PrivateAttr, ValidationInfo, model_validator
from pydantic.json_schema import SkipJsonSchema

from ahp.facts.tool import Touched
from ahp.runner.tools import project_files
from ahp.runner.tools.file_tools import FileArgs, encoded, root_of, text_of, writes
from ahp.runner.tools.project_files import line_ends
from ahp.runner.tools.tool import FunctionTool, ToolContext
from ahp.runner.tools.unified_diff import FilePatch, PatchError, applied, parse
from ahp.runner.words import markup
from ahp.system.errors import AhpError

_SEARCH = AliasChoices("search", "old_string", "old_str", "old_text", "old", "find")
_REPLACE = AliasChoices("replace", "new_string", "new_str", "new_text", "new", "replacement")
_ALL = AliasChoices("all", "replace_all")
_FLAT = frozenset(str(name) for choices in (_SEARCH, _REPLACE, _ALL) for name in choices.choices)


class Replacement(BaseModel):
    """One text that stands for another."""

    model_config = ConfigDict(extra="forbid", validate_by_name=True)

    search: str = Field(min_length=1, validation_alias=_SEARCH, description="exact text, found once")
    replace: str = Field(validation_alias=_REPLACE)
    all: bool = Field(False, validation_alias=_ALL, description="replace it wherever it is found")

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
        """One replacement may stand beside the path."""
        if not isinstance(given, dict) or "edits" in given or not given.keys() & _FLAT:
            return given
        rest = {name: value for name, value in given.items() if name not in _FLAT}
        return {**rest, "edits": [{name: value for name, value in given.items() if name in _FLAT}]}


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


class PatchArgs(BaseModel):
    """A unified patch. `leads_to` is where the paths in it lead, in their order."""

    model_config = ConfigDict(extra="forbid", validate_by_name=True)

    patch: str = Field(
        min_length=1, validation_alias=AliasChoices("patch", "diff", "input"), description="unified diff of any files"
    )
    leads_to: SkipJsonSchema[list[str]] = []
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
    return [
        FunctionTool(
            "edit",
            "Replaces exact texts in a file.",
            EditArgs,
            _edit,
            kind="edit",
            touched=writes,
        ),
        FunctionTool(
            "apply_patch",
            "Applies a unified diff (--- a/x, +++ b/x, @@).",
            PatchArgs,
            _patch,
            kind="patch",
            touched=_patched,
        ),
    ]

"""The tools that read, list, search, write and append to files of the project."""

import os
import re
import time
from collections.abc import Callable
from typing import Any, ClassVar

import re2
from pydantic import BaseModel, Field, PrivateAttr, ValidationInfo, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from ahp.conditions.globs import glob
from ahp.facts.tool import Touched
from ahp.runner.tools import project_files
from ahp.runner.tools.project_files import line_ends, lines_of
from ahp.runner.tools.tool import Arguments, FunctionTool, ToolContext
from ahp.system.errors import AhpError

_SHOWN = 1_000  # files of a list
_HITS = 200
_SEARCH_TIME = 20.0  # s
_LINE = 300  # characters of a line that was found
_SEARCHED = 1 << 20  # bytes; what is larger is no text that somebody wrote
_ANCHORS = ("^", "$", "\\A", "\\z")  # they speak of a line's ends, which in a whole text are others
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_MOST_GLOBS = 100
_LISTED, _LONG = "the files of a folder and those below it", "for what is too long for one reply"
_BINARY = 8_000  # bytes in which a NUL tells that a file is no text


class FileArgs(Arguments):
    """Arguments about one file. `leads_to` is where its path leads, which the gate judges too and which is opened."""

    path: str = Field(min_length=1, max_length=4096, description="relative to the project")
    leads_to: SkipJsonSchema[str] = ""
    _writes: ClassVar[bool] = False

    @model_validator(mode="after")
    def _resolved(self, info: ValidationInfo) -> "FileArgs":
        self.leads_to = project_files.resolve(root_of(info), self.path, writes=self._writes)
        return self


def root_of(info: ValidationInfo) -> str:
    """The project's folder, as the tools of a run validate arguments; the current folder elsewhere."""
    return str((info.context or {}).get("root", os.curdir))


def reads(args: FileArgs) -> Touched:
    """A call that reads one file or folder."""
    return Touched(paths=(args.path, args.leads_to))


def writes(args: FileArgs) -> Touched:
    """A call that writes one file."""
    return Touched(writes=(args.path, args.leads_to))


def text_of(data: bytes, place: str, *, exact: bool = False) -> str:
    """A file's text; `exact`: to be written again. Raises AhpError for what is none."""
    if b"\0" in data[:_BINARY]:
        raise AhpError(f"{place} is no text ({len(data)} bytes)")
    text = data.decode("utf-8", "replace")
    if exact and text.encode() != data:
        raise AhpError(f"{place} is no UTF-8: a change would spoil it")
    return text


class ReadArgs(FileArgs):
    start: int = Field(1, ge=1, description="first line")
    lines: int | None = Field(None, ge=1, description="how many")

    @model_validator(mode="before")
    @classmethod
    def _range(cls, given: Any) -> Any:
        """`view_range: [2, 5]` is four lines from the second on; an end of -1 is that of the file."""
        given = cls.own_names(given)
        span = given.get("view_range") if isinstance(given, dict) else None
        if not (isinstance(span, list) and len(span) == 2 and all(isinstance(one, int) for one in span)):
            return given
        rest = {name: value for name, value in given.items() if name != "view_range"}
        return {**rest, "start": span[0], "lines": None if span[1] < 0 else span[1] - span[0] + 1}


def _read(args: ReadArgs, context: ToolContext) -> str:
    data = project_files.read(context.root, args.leads_to)
    text = text_of(data, args.path)
    context.seen.note(args.leads_to, data)
    if args.start == 1 and args.lines is None:
        return text
    found = lines_of(text)
    part = found[args.start - 1 : None if args.lines is None else args.start - 1 + args.lines]
    if not part:
        raise AhpError(f"{args.path} has only {len(found)} line{'s' * (len(found) != 1)}")
    return f"[lines {args.start} to {args.start + len(part) - 1} of {len(found)}]\n{''.join(part)}"


class FolderArgs(FileArgs):
    path: str = Field(".", min_length=1, max_length=4096, description="folder or file")
    glob: str | None = Field(None, max_length=1000, description="such as src/**/*.py")

    @field_validator("glob")
    @classmethod
    def _is_glob(cls, value: str | None) -> str | None:
        if value is not None:
            glob(_alternatives(value))
        return value


def _chosen(args: FolderArgs, root: str) -> list[str]:
    found = project_files.listed(root, args.leads_to)
    if args.glob is None:
        return found
    matches = glob(_alternatives(args.glob))
    return [name for name in found if matches(name)]


def _alternatives(pattern: str) -> list[str]:
    """The globs that one with `{a,b}` stands for. Raises ValueError for too many."""
    done, left = list[str](), [pattern]
    while left:
        one = left.pop()
        braces = _BRACES.search(one)
        if braces is None:
            done.append(one)
        else:
            left += [one[: braces.start()] + part + one[braces.end() :] for part in braces[1].split(",")]
        if len(done) + len(left) > _MOST_GLOBS:
            raise ValueError(f"it stands for more than {_MOST_GLOBS} globs; write fewer braces")
    return done


def _must_be_there(args: FolderArgs, root: str) -> None:
    if not os.path.lexists(os.path.join(root, args.leads_to)):
        raise AhpError(f"{args.path}: there is no such file or folder")


def _list(args: FolderArgs, context: ToolContext) -> str:
    found = _chosen(args, context.root)
    if not found:
        _must_be_there(args, context.root)
        return "(no files; what git ignores is left out)"
    more = [f"[… and {len(found) - _SHOWN} more of {len(found)} files; name a folder or a glob …]"]
    return "\n".join([*found[:_SHOWN], *(more if len(found) > _SHOWN else ())])


class SearchArgs(FolderArgs):
    pattern: str = Field(min_length=1, max_length=1000, description="regular expression (RE2)")
    ignore_case: bool = False
    _root: str = PrivateAttr("")
    _found: "list[tuple[str, str]] | None" = PrivateAttr(None)
    _stopped: bool = PrivateAttr(False)
    _too_large: list[str] = PrivateAttr(default_factory=list)

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            _compiled(pattern, False)
        except re2.error as error:
            said = error.args[0] if error.args else ""
            text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
            raise ValueError(f"no regular expression: {text}") from None
        return pattern

    @model_validator(mode="after")
    def _here(self, info: ValidationInfo) -> "SearchArgs":
        self._root = root_of(info)
        return self

    def found(self) -> list[tuple[str, str]]:
        """(file, `file:line: text`) of every hit, searched once: what is judged is what is told."""
        if self._found is None:
            self._found = _search(self, self._root)
        return self._found


def _compiled(pattern: str, ignore_case: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignore_case
    return re2.compile(pattern, options)


def _search(args: SearchArgs, root: str) -> list[tuple[str, str]]:
    pattern = _compiled(args.pattern, args.ignore_case)
    of_lines = any(anchor in args.pattern for anchor in _ANCHORS)
    hits: list[tuple[str, str]] = []
    until = time.monotonic() + _SEARCH_TIME
    for name in _chosen(args, root):
        if time.monotonic() > until:
            args._stopped = True
            break
        try:
            place = project_files.resolve(root, name)
            data = project_files.read(root, place)
        except (AhpError, ValueError):  # a link out of the project, a folder of another repository
            continue
        if b"\0" in data[:_BINARY]:
            continue
        if len(data) > _SEARCHED:
            args._too_large.append(name)
            continue
        text = data.decode("utf-8", "replace")
        if not of_lines and not pattern.search(text):  # much sooner told than line by line
            continue
        for number, line in enumerate(lines_of(text), start=1):
            if pattern.search(line.rstrip("\r\n")):
                hits.append((name, f"{name}:{number}: {line.strip()[:_LINE]}"))
                if len(hits) > _HITS:
                    return hits
    return hits


def _told(args: SearchArgs, context: ToolContext) -> str:
    lines = [line for _, line in args.found()]
    if not lines:
        _must_be_there(args, context.root)
    told = lines[:_HITS] or ["(nothing found; files that git ignores are not searched)"]
    if len(lines) > _HITS:
        told.append(f"[… more than {_HITS} lines; name a folder, a glob or a longer pattern …]")
    if args._stopped:
        told.append(f"[… stopped after {_SEARCH_TIME:g} s; name a folder or a glob …]")
    if args._too_large:
        more = f" and {len(args._too_large) - 5} more" if len(args._too_large) > 5 else ""
        told.append(f"[… larger than 1 MB and not searched: {', '.join(args._too_large[:5])}{more} …]")
    return "\n".join(told)


def _searched(args: SearchArgs) -> Touched:
    """A search reads the files that it tells of: those that only do not match stay unread as far as anybody sees."""
    return Touched(paths=dict.fromkeys((args.path, args.leads_to, *(name for name, _ in args.found()))))


class WriteArgs(FileArgs):
    _writes = True
    content: str


def _write(args: WriteArgs, context: ToolContext) -> str:
    data = encoded(args.content)
    if "\ufffd" in args.content and project_files.exists(context.root, args.leads_to):
        # What was read as a sign for unreadable bytes would take their place.
        text_of(project_files.read(context.root, args.leads_to), args.path, exact=True)
    context.seen.check(context.root, args.leads_to, args.path)
    there = project_files.write(context.root, args.leads_to, data)
    context.seen.note(args.leads_to, data)
    return f"{'replaced' if there else 'wrote'} {args.path}: {_size(data)}"


def _append(args: WriteArgs, context: ToolContext) -> str:
    there = project_files.exists(context.root, args.leads_to)
    before = project_files.read(context.root, args.leads_to) if there else b""
    ends = line_ends(before[:_SEARCHED].decode("utf-8", "replace"))
    data = before + encoded(args.content.replace("\r\n", "\n").replace("\n", ends) if ends != "\n" else args.content)
    project_files.write(context.root, args.leads_to, data)
    context.seen.follow(args.leads_to, before, data)
    return f"{'appended to' if there else 'wrote'} {args.path}: it has {_size(data)} now"


def encoded(text: str) -> bytes:
    """Text as a file holds it. Raises AhpError for halves of characters."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise AhpError(f"the text holds half of a character at {error.start}; write it whole") from None


def _size(data: bytes) -> str:
    lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    return f"{len(data)} byte{'s' * (len(data) != 1)}, {lines} line{'s' * (lines != 1)}"


# name, kind, what the model reads of it, its arguments, what it does, what it touches
_TOOLS: tuple[tuple[str, str, str, type[BaseModel], Callable[..., str], Callable[..., Touched]], ...] = (
    ("read_file", "read", "Reads a text file, or some of its lines.", ReadArgs, _read, reads),
    ("list_files", "list", f"Lists {_LISTED}, without what git ignores.", FolderArgs, _list, reads),
    ("search", "search", "Searches files by a regular expression, line by line.", SearchArgs, _told, _searched),
    ("write_file", "write", "Writes a file, in the place of what is there.", WriteArgs, _write, writes),
    ("append_file", "write", f"Adds to the end of a file: {_LONG}.", WriteArgs, _append, writes),
)


def file_tools() -> list[FunctionTool]:
    """read_file, list_files, search, write_file, append_file."""
    return [
        FunctionTool(name, said, args, run, kind=kind, touched=touched)
        for name, kind, said, args, run, touched in _TOOLS
    ]

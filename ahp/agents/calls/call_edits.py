"""What a tool call says it will do to files, from the shapes that clients give their arguments (design §6).  [light]

A path with a content is a write, one with an old and a new text an edit, whatever the tool is called; a patch is read
as one of Codex's or as a unified diff; a shell command by what `ahp.shell` knows of it.
"""

from ahp.agents.calls.tool_call import named_paths, patches
from ahp.facts.tool import WRITING
from ahp.system.patch import Hunk, agents_header, is_agents, name_of, parts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ahp.agents.shell.command import Command

_CONTENT = ("content", "contents", "filetext", "text", "filecontent", "newcontent")
_OLD = ("oldstring", "oldstr", "oldtext")
_NEW = ("newstring", "newstr", "newtext")
_CELL = ("newsource",)
_DEEPEST = 8  # of objects inside arguments
# Verbs of git that only look, and those that change no file, either.
_LOOKS = """
    blame cat-file check-ignore describe diff for-each-ref grep help log ls-files ls-remote ls-tree merge-base name-rev
    rev-list rev-parse shortlog show show-ref status var version whatchanged
"""
_CHANGE_NO_FILE = "add branch commit config fetch notes push reflog remote tag"
_LOOKING_VERBS = frozenset(_LOOKS.split())
_PLAIN_VERBS = frozenset((_LOOKS + _CHANGE_NO_FILE).split())
_HARMLESS = ("read", "list", "search", "fetch", "task")


class Edit:
    """One thing that happens to a file.

    `kind` is write (`new` is all it holds), append, replace (`old` by `new`, `every` one or the first), insert (`new`
    behind the line `line`), cell (`new` becomes a cell of a notebook), delete, or unknown: it is written, but not known
    how.
    """

    __slots__ = ("every", "kind", "line", "new", "old")

    def __init__(self, kind: str, new: str = "", old: str = "", every: bool = False, line: int = 0) -> None:
        self.kind, self.new, self.old, self.every, self.line = kind, new, old, every, line


class Edits:
    """What a call does to files: by path as the call names it, in order; `unknown` says why there may be more files."""

    __slots__ = ("by_path", "unknown")

    def __init__(self) -> None:
        self.by_path: dict[str, list[Edit]] = {}
        self.unknown = ""

    def add(self, path: str, edit: Edit) -> None:
        """One more edit of a file."""
        self.by_path.setdefault(path, []).append(edit)


def of(call: "Mapping[str, object]") -> Edits:
    """The edits of a call as `ahp.agents.calls.tool_call` reads it. Never raises for what it holds."""
    edits = Edits()
    name, given = str(call.get("name", "other")), call.get("input")
    given = given if isinstance(given, dict) else {}
    if name == "shell" or call.get("commands"):
        _shell(call, edits)
        return edits
    if name == "patch":
        for text in patches(given):
            patch(text, edits)
    elif name not in _HARMLESS:
        _arguments(given, "", name, edits)
        if str(call.get("native_name", "")).lower().startswith("delete"):
            edits.by_path = {path: [Edit("delete")] for path in named_paths(given)}
    writes = call.get("writes")
    told = [str(path) for path in writes] if isinstance(writes, list) else []
    if not edits.by_path and (told or (name not in _HARMLESS and named_paths(given))):
        if name in WRITING or told:
            for path in told or named_paths(given):
                edits.add(path, Edit("unknown"))
        else:
            edits.unknown = "what this tool does with the files that it names cannot be told"
    return edits


def _arguments(holder: "Mapping[str, object]", path: str, name: str, edits: Edits, depth: int = 0) -> None:
    """Reads an object of arguments, and those inside; one without a path of its own is about the path around it."""
    keys = {str(key).replace("_", "").replace("-", "").lower(): value for key, value in holder.items()}
    path = next(iter(named_paths(holder, nested=False)), path)
    if path:
        old, new = _text(keys, _OLD), _text(keys, _NEW)
        content, cell = _text(keys, _CONTENT), _text(keys, _CELL)
        line = keys.get("insertline")
        every = keys.get("replaceall") is True or keys.get("allowmultiple") is True
        inserted = _text(keys, ("inserttext", *_NEW)) if isinstance(line, int) else None
        if isinstance(line, int) and inserted is not None:
            edits.add(path, Edit("insert", inserted, line=max(line, 0)))
        elif new is not None and old is not None:
            edits.add(path, Edit("replace", new, old, every))
        elif cell is not None:
            edits.add(path, Edit("cell", cell))
        elif content is not None:
            edits.add(path, Edit("write", content))
    for value in holder.values() if depth < _DEEPEST else ():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                _arguments(item, path, name, edits, depth + 1)


def _text(keys: "Mapping[str, object]", names: tuple[str, ...]) -> "str | None":
    return next((value for name in names if isinstance(value := keys.get(name), str)), None)


# Patches


def patch(text: str, edits: Edits) -> None:
    """Reads a patch: Codex's, with `*** Update File:` lines, or a unified diff."""
    if is_agents(text):
        _agents_patch(text.split("\n"), edits)
    else:
        _unified_patch(text, edits)


def _agents_patch(lines: list[str], edits: Edits) -> None:
    path, kind = "", ""
    hunk = Hunk()
    for raw in [*lines, "*** End Patch"]:
        line = raw if kind == "update" else raw.lstrip()  # blanks before a header are none of its, but for a hunk's
        is_header = line.startswith("*** ") and not line.startswith("*** End of File")
        if is_header or (kind == "update" and line.startswith("@@")):
            if kind == "add":
                edits.add(path, Edit("write", _text_of(hunk.new)))
            else:
                _replace(path, hunk, edits)
            hunk = Hunk()
        if is_header:
            word, named = agents_header(line)
            if word == "move":
                edits.add(named, Edit("unknown"))
            if word in ("move", "delete"):
                edits.add(path if word == "move" else named, Edit("delete"))
            path, kind = named, kind if word == "move" else word
        elif (kind == "update" and line[:1] in " +-") or (kind == "add" and line.startswith("+")):
            hunk.add(line)


def _unified_patch(text: str, edits: Edits) -> None:
    old = path = ""
    for part in parts(text):
        if isinstance(part, Hunk):
            if path and not old:
                edits.add(path, Edit("append", _text_of(part.new)))
            elif old and not path and (part.old or part.new):
                edits.add(old, Edit("delete"))
            else:
                _replace(path, part, edits)
        elif part.startswith("--- "):
            old, path = name_of(part, "a/", "b/"), ""
        elif part.startswith("+++ "):
            path = name_of(part, "a/", "b/")
            if path and not old:
                edits.add(path, Edit("write"))


def _replace(path: str, hunk: Hunk, edits: Edits) -> None:
    """A hunk as the replacement of its old lines by its new ones."""
    if path and (hunk.old or hunk.new):
        edits.add(path, Edit("replace", _text_of(hunk.new), _text_of(hunk.old)))


def _text_of(lines: list[str]) -> str:
    """Whole lines: without its end, the last one might be found within another line."""
    return "".join([line.removesuffix("\n") + "\n" for line in lines])


# Shell


def _shell(call: "Mapping[str, object]", edits: Edits) -> None:
    """The files that a shell command writes; what they hold then is known of a patch of Codex's alone."""
    from ahp.agents.shell import commands

    for one in commands.read(str(call.get("command", ""))):
        given = one.stdin or next((arg for arg in one.args if arg.startswith("*** Begin Patch")), "")
        if one.program in ("apply_patch", "applypatch"):
            _patched(given, one.folder, edits)
        for path in one.writes:
            if "*" not in path and path not in edits.by_path:
                edits.add(path, Edit("unknown"))
        if not _is_plain(one) or {"program", "path"} & set(one.unresolved_at) or one.may_write:
            edits.unknown = edits.unknown or f"what `{one.program or 'this command'}` writes is known only when it runs"
        elif any("*" in path for path in one.writes):
            edits.unknown = edits.unknown or "which files its wildcards stand for is known only when it runs"


def loses_work(_: object, call: "Mapping[str, object]") -> bool:
    """Whether a shell call may take away what lies in the work tree, or what only git has: it does more than look."""
    commands = call.get("commands")
    if call.get("name") != "shell" or not isinstance(commands, list) or not call.get("command"):
        return call.get("name") == "shell" and commands is None
    return not commands or not all(map(_looks, commands))


def _looks(one: "dict[str, Any]") -> bool:
    from ahp.agents.shell.command import reads

    if one["writes"] or "program" in one["unresolved_at"] or (one["unknown"] and not one["program"]):
        return False
    if one["program"] == "git":
        return one["does_nothing"] or (one["verb"] in _LOOKING_VERBS and not one["config"])
    return one["does_nothing"] or not one["program"] or reads(one["program"], one["args"])


def _is_plain(one: "Command") -> bool:
    """Whether a command changes no file but those that it is redirected to; a bare assignment or redirect does not."""
    from ahp.agents.shell.command import reads

    return one.verb in _PLAIN_VERBS if one.program == "git" else not one.program or reads(one.program, one.args)


def _patched(text: str, folder: str, edits: Edits) -> None:
    """The edits of a patch that is applied in a folder."""
    inner = Edits()
    patch(text, inner)
    for path, found in inner.by_path.items():
        for edit in found:
            edits.add(f"{folder.rstrip('/')}/{path}" if folder else path, edit)

"""A tool call in the words of the `tool` facts (design §6): read in one place for every client.  [light]

`ahp.agents.shell` is imported only for shell calls.
"""

from ahp.agents.calls.call_paths import inside, joined, paths_of
from ahp.facts.tool import COMMANDS, WRITING, Touched, kind_of
from ahp.system import digest
from ahp.system.patch import named_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_FOLDERS = ("workdir", "cwd", "directory", "dir_path")
# An argument is a path when its name ends in one of these words: `file_path`, `absolutePath`, `output-file`, `dst`.
_PATH_WORDS = frozenset(
    {"path", "paths", "pathname", "filepath", "file", "files", "filename", "filenames", "notebook"}
    | {"directory", "dir", "folder", "source", "src", "destination", "dest", "dst", "target", "output"}
)
_FILE_URI = "file://"
_LONGEST_PATH = 4096
_DEEPEST = 8  # of objects inside arguments, such as the `edits` of one call
_PATCHES = ("patch", "patchText", "patch_text", "input", "command", "diff")
_DERIVED = ("command", "commands", "paths", "writes", "may_write", "target")
# What a backslash and a backquote of PowerShell are to a shell.
_POWERSHELL = str.maketrans("\\`", "/\\")
_TARGET = 300


def read(
    name: str,
    native_name: str,
    given: "Mapping[str, object]",
    *,
    root: str = "",
    folder: str = "",
    writes: bool = False,
    touched: "Touched | None" = None,
    checkout: str = "",
) -> "dict[str, object]":
    """The call of a tool of the kind `name` with the arguments `given`.

    The kind is one of `ahp.facts.tool.NAMES`; "" leaves it to the client's own name of the tool. A tool of which
    only the name is known is read of its words (`server_tools`); one that is given as `other` is not.

    `root` is the top of the work tree: paths inside it become relative to it. The call runs in `folder`, in the root
    where none is given. `writes` says that a tool of another kind than write, edit and patch writes the files it
    names. `touched` is what the tool itself says of the call; without it, the arguments that are named like paths
    count, also those inside lists of objects. A path that leads elsewhere through links is told twice, as written and
    as where it leads. `checkout` is the linked work tree in which the call really runs, "" for none: links are followed
    there, too. The result has every
    `tool` fact that is known before the call, and `target`, what an escalation follows: tool and paths, or programs and
    verbs. Never raises.
    """
    declared, name = name, name or kind_of(native_name)
    if touched is None and _is_read_of_its_name(name, declared, given):
        touched = _read_of_its_name(native_name, given, name, writes, root)
    elif touched is None:
        touched = _touched(name, native_name, given, writes)
    call: dict[str, object] = {"name": name, "native_name": native_name, "input": dict(given), "folder": folder}
    named = _once([*touched.paths, *touched.writes, *touched.unsure])
    paths = paths_of(named, root, folder, checkout)
    written = list(paths) if named == list(touched.writes) else paths_of(touched.writes, root, folder, checkout)
    if name == "shell" or touched.command is not None:
        call["folder"] = folder = joined(folder, next(iter(_texts(given, _FOLDERS)), ""))
        call.update(_shell(touched.command, folder, root, paths, written, checkout))
    else:
        call.update(command="", commands=[], paths=paths, writes=written, target=_short([name, *paths]))
    if touched.unsure:
        call["may_write"] = paths_of(touched.unsure, root, folder, checkout)
    return call


def _touched(name: str, native_name: str, given: "Mapping[str, object]", writes: bool) -> Touched:
    """What the names of the arguments tell of a call."""
    if name == "shell":
        command = _command(next((given[key] for key in COMMANDS if key in given), None))
        is_powershell = command and native_name.lower().endswith("powershell")
        return Touched(command=command.translate(_POWERSHELL) if command and is_powershell else command)
    named = [
        *[path for text in (patches(given) if name == "patch" else ()) for path in named_files(text)],
        *named_paths(given),
    ]
    return Touched(named, named if name in WRITING or writes else ())


def _is_read_of_its_name(name: str, declared: str, given: "Mapping[str, object]") -> bool:
    """Whether the tool is none of the client's own, or one that types into what runs already."""
    if name == "shell":
        return not any(key in given for key in COMMANDS)
    return name == "mcp" or (name == "other" and declared != "other")


def _read_of_its_name(native_name: str, given: "Mapping[str, object]", kind: str, writes: bool, root: str) -> Touched:
    """A tool of an MCP server, or one that is not known here: what its name says that it does with its arguments."""
    from ahp.agents.calls import server_tools

    command = server_tools.command_of(native_name, given)
    if kind == "shell" or (command is not None and command.startswith("git ")):
        return Touched(command=command)
    doing = "write" if writes else server_tools.does(native_name)
    named = files = named_paths(given)
    if root and not server_tools.takes_away(native_name):
        files = [path for path in named if inside(path, root) != "."]  # it works in the project
    unsure = files if doing == "unknown" and kind == "mcp" and command is None else ()
    return Touched(named, files if doing == "write" else (), command, unsure)


def changed(
    call: "Mapping[str, object]", given: "Mapping[str, object]", root: str = "", checkout: str = ""
) -> "dict[str, object]":
    """The call with other arguments, and with what follows from them read anew.

    What the client's adapter knows beyond this reader stays where the change does not touch it.
    """
    name, native_name = str(call.get("name", "other")), str(call.get("native_name", ""))
    name = "" if kind_of(native_name) == name else name
    old = call.get("input")
    writes, folder = bool(call.get("writes")), str(call.get("folder", ""))

    def reading(arguments: "Mapping[str, object]") -> "dict[str, object]":
        return read(name, native_name, arguments, root=root, folder=folder, writes=writes, checkout=checkout)

    before, after = reading(old if isinstance(old, dict) else {}), reading(given)
    kept = {**call, "input": dict(given)}
    kept.update({field: after.get(field) for field in _DERIVED if after.get(field) != before.get(field)})
    return kept


def named_paths(given: "Mapping[str, object]", nested: bool = True) -> list[str]:
    """The values of all arguments that are named like paths, in order; `nested`: also inside objects and lists."""
    found: list[str] = []
    level: list[object] = [given]
    for _ in range(_DEEPEST if nested else 1):
        below: list[object] = []
        for holder in level:
            for key, value in holder.items() if isinstance(holder, dict) else ():
                items = value if isinstance(value, list) else [value]
                texts = [item for item in items if isinstance(item, str) and 0 < len(item) <= _LONGEST_PATH]
                texts = [text.partition("\0")[0] for text in texts]  # where a path ends for the system
                if _last_word(key) in _PATH_WORDS:
                    found += [text.removeprefix(_FILE_URI) for text in texts]
                else:
                    found += [text.removeprefix(_FILE_URI) for text in texts if text.startswith(_FILE_URI)]
                below += [item for item in items if isinstance(item, dict)]
        level = below
    return found


def _last_word(key: object) -> str:
    """The last word of a name in snake_case, kebab-case or camelCase."""
    word = str(key).replace("-", "_").rstrip("_").rpartition("_")[2]
    for at in range(len(word) - 1, 0, -1):
        if word[at].isupper() and word[at - 1].islower():
            return word[at:].lower()
    return word.lower()


def _shell(
    command: "str | None",
    folder: str,
    root: str,
    paths: list[str],
    writes: list[str],
    checkout: str,
) -> "dict[str, object]":
    """What a shell call does, beside `paths` and `writes`; a command that is None is one that cannot be told."""
    from ahp.agents.shell import commands
    from ahp.agents.shell.command import unknown

    parsed = [unknown()] if command is None else commands.read(command) if command else []
    records: list[dict[str, Any]] = [one.as_fact() for one in parsed]
    for record in records:
        for name in ("paths", "writes", "may_write"):
            record[name] = paths_of(record[name], root, folder, checkout)
    return {
        "command": command or "",
        "commands": records,
        "paths": _once([*[path for one in records for path in one["paths"]], *paths]),
        "writes": _once([*[path for one in records for path in one["writes"]], *writes]),
        "target": _short(["shell", *_once([f"{one.program} {one.verb}".strip() for one in parsed])]),
    }


def _command(found: object) -> "str | None":
    """A command as text; some clients send it as a list of words."""
    if isinstance(found, list) and found and all(isinstance(word, str) for word in found):
        import shlex

        return shlex.join(found)
    return found if isinstance(found, str) else None


def patches(given: "Mapping[str, object]") -> list[str]:
    """The arguments that hold a patch, as Codex, opencode, diff and git write them."""
    return _texts(given, _PATCHES)


def _texts(given: "Mapping[str, object]", keys: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for key in keys:
        value = given.get(key)
        found += [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, str) and item]
    return found


def _once(items: list[str]) -> list[str]:
    return list(dict.fromkeys(items))


def _short(words: list[str]) -> str:
    """The words as one name of bounded length, different for different words."""
    text = " ".join([word for word in words if word])
    return text if len(text) <= _TARGET else text[:_TARGET] + " " + digest.sha256(text.encode("utf-8", "replace"))[:16]

"""A tool call in the words of the `tool` facts (design §6): read in one place for every client.

Light: `ahp.shell` is imported only for shell calls.
"""

from ahp.system import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

WRITING = ("write", "edit", "patch")  # kinds whose paths are written
_COMMANDS = ("command", "cmd", "script")
_FOLDERS = ("workdir", "cwd", "directory", "dir_path")
# What clients call the file of a call; a list of files is one, too.
_PATHS = (
    "path",
    "file_path",
    "filePath",
    "file",
    "filename",
    "absolute_path",
    "notebook_path",
    "target_file",
    "old_path",
    "new_path",
    "source",
    "destination",
    "directory",
    "dir_path",
    "paths",
    "files",
)
_PATCHES = ("patch", "patchText", "patch_text", "input", "command", "diff")
_PATCH_LINES = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "--- a/", "+++ b/")
_DERIVED = ("command", "commands", "paths", "writes", "target")
_TARGET = 300


def read(
    name: str, native_name: str, given: "Mapping[str, object]", *, root: str = "", writes: bool = False
) -> "dict[str, object]":
    """The call of a tool of the kind `name` (one of `ahp.facts.tool.NAMES`) with the arguments `given`.

    `root` is the top of the work tree, where the call runs: paths inside it become relative to it. `writes` says that
    a tool of another kind than write, edit and patch writes the files it names. The result has every `tool` fact that
    is known before the call, and `target`, what an escalation follows: tool and paths, or programs and verbs. Never
    raises.
    """
    call: dict[str, object] = {"name": name, "native_name": native_name, "input": dict(given)}
    if name == "shell":
        call.update(_shell(given, root))
        return call
    named = _patched(given) if name == "patch" else []
    paths = _once([inside(path, root) for path in [*named, *_texts(given, _PATHS)]])
    written = paths if name in WRITING or writes else []
    call.update(command="", commands=[], paths=paths, writes=list(written), target=_short([name, *paths]))
    return call


def changed(call: "Mapping[str, object]", given: "Mapping[str, object]", root: str = "") -> "dict[str, object]":
    """The call with other arguments, and with what follows from them read anew.

    What the client's adapter knows beyond this reader stays where the change does not touch it.
    """
    name, native_name = str(call.get("name", "other")), str(call.get("native_name", ""))
    old = call.get("input")
    writes = bool(call.get("writes"))
    before = read(name, native_name, old if isinstance(old, dict) else {}, root=root, writes=writes)
    after = read(name, native_name, given, root=root, writes=writes)
    kept = {**call, "input": dict(given)}
    kept.update({field: after[field] for field in _DERIVED if after[field] != before[field]})
    return kept


def inside(path: str, root: str, folder: str = "") -> str:
    """`path` without `.`, `..` and doubled slashes, relative to `root` when it lies there; `folder` is where it starts.

    By its letters alone: links are not followed.
    """
    whole = path if path.startswith("/") else "/".join([part for part in (folder, path) if part])
    if root and not whole.startswith("/"):
        whole = root + "/" + whole
    parts: list[str] = []
    for part in whole.split("/"):
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part == ".." and whole.startswith("/"):
            continue
        elif part not in ("", "."):
            parts.append(part)
    plain = ("/" if whole.startswith("/") else "") + "/".join(parts)
    if root and (plain + "/").startswith(root.rstrip("/") + "/"):
        plain = plain[len(root.rstrip("/")) + 1 :]
    return plain or "."


def _shell(given: "Mapping[str, object]", root: str) -> "dict[str, object]":
    """What a shell call does; when its command cannot be found in the arguments, one unresolved command."""
    from ahp.shell import commands, file_access
    from ahp.shell.command import Command

    found = next((given[key] for key in _COMMANDS if key in given), None)
    command = _command(found)
    parsed = [Command(unresolved=True)] if command is None else commands.read(command) if command else []
    folder = next(iter(_texts(given, _FOLDERS)), "")
    paths, writes = file_access.accesses(parsed)
    return {
        "command": command or "",
        "commands": [one.as_fact() for one in parsed],
        "paths": _once([inside(path, root, folder) for path in paths]),
        "writes": _once([inside(path, root, folder) for path in writes]),
        "target": _short(["shell", *_once([file_access.verb(one) for one in parsed])]),
    }


def _command(found: object) -> "str | None":
    """A command as text; some clients send it as a list of words."""
    if isinstance(found, list) and found and all(isinstance(word, str) for word in found):
        import shlex

        return shlex.join(found)
    return found if isinstance(found, str) else None


def _patched(given: "Mapping[str, object]") -> list[str]:
    """The files that a patch names, as Codex and git write them."""
    found = []
    for text in _texts(given, _PATCHES):
        for line in text.split("\n"):
            for begin in _PATCH_LINES:
                if line.startswith(begin):
                    found.append(line[len(begin) :].split("\t")[0].strip())
    return found


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

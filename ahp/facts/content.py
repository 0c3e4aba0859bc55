"""`content`: what files say before and after the change (design §6).

It is read from git's objects: in CI as at the commit. A path in quotes is a fact of its own:
`content.after['package.json']` reads that file, changed or not, and no other. Without, the fact is a map of the
changed files. It is asked only where the rest of a rule leaves it open.
"""

import re
from collections.abc import Callable
from typing import Any

from ahp.conditions.globs import PatternError, glob
from ahp.conditions.runtime import key_of
from ahp.facts.registry import CHANGE, EVERY_FIELD, Absent, Namespace, fact, view_of
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.system import blobs, encoding
from ahp.system.change import LINK, SUBMODULE, FileChange
from ahp.system.errors import AhpError, OutputLimit, Unknown
from ahp.system.git import GitError
from ahp.system.view import View

# Kinds of files that are read as data (`ahp.facts.formats`): their names, and the type of their one document.
_KINDS = {
    "json": (
        (
            *("*.json", "*.ipynb", "*.webmanifest", "*.sarif"),
            *("composer.lock", "Pipfile.lock", "deno.lock", "flake.lock", "Package.resolved"),
        ),
        "any",
    ),
    "yaml": (("*.yaml", "*.yml", "pubspec.lock", "bun.lock", ".clang-format", "CITATION.cff"), "any"),
    "toml": (("*.toml", "Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile"), "map"),
    "xml": (("*.xml", "*.csproj", "*.props", "*.targets"), "map"),
    "ini": (("*.ini", "*.cfg", ".editorconfig", ".gitmodules"), "map"),
    "variables": ((".env", ".env.*", "*.env"), "map[str]"),
    "hcl": (("*.tf", "*.tfvars", "*.hcl"), "map"),
    "dockerfile": (("Dockerfile", "Dockerfile.*", "*.dockerfile", "Containerfile"), "list[record]"),
}
_PARTS = {
    "": ("map", "by path, as data; several YAML documents are a list"),
    "_documents": ("map[list]", "a list of documents"),
    "_text": ("map[str]", "as text"),
    "_lines": ("map[list[str]]", "lines"),
    "_head": ("map[str]", "the first 20 lines"),
}
_types: dict[str, str] = {}
for _patterns, _type in _KINDS.values():
    _types |= dict.fromkeys(_patterns, _type)
_schema = {}
for _side in ("before", "after"):
    for _part, (_type, _doc) in _PARTS.items():
        _of_data = _types if _type == "map" else dict.fromkeys(_types, "list")
        _keys = _of_data if _part in ("", "_documents") else {"*": _type[4:-1]}
        _schema[_side + _part] = fact(_type, _doc, keys=_keys)

NAMESPACE = Namespace(
    source="the files before and after the change",
    triggers=CHANGE,
    private=EVERY_FIELD,
    late=True,
    schema=_schema,
)

Test = Callable[[str], bool]
_WORD = re.compile(r"(?:\\.|\S)+")
_HEAD = 20
_NO_FILES = {LINK: "a symbolic link, which is not followed", SUBMODULE: "a submodule"}
_LARGEST = 8 << 20  # bytes of a file that is read
_TOGETHER = 64 << 20  # bytes of all files that the rules of an event read


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`, and why some files are not in a map of them.

    Raises Absent where it is not told what changes, Unknown, GitError, AhpError.
    """
    files = Files(view_of(event))
    found: dict[str, object] = {}
    for field in sorted(fields):
        name, path = key_of(field)
        side, _, part = name.partition("_")
        if path is not None:
            found[field] = files.value(side, path, part)
            continue
        told = {one: files.value(side, one, part) for one in files.changed(side, part in ("", "documents"))}
        found[field] = {one: value for one, value in told.items() if not isinstance(value, Absent)}
        found |= {f"{name}['{one}']": value for one, value in told.items() if isinstance(value, Absent)}
    return found


class Files:
    """The files of one event, each read once."""

    def __init__(self, view: View) -> None:
        self._view = view
        entries = view.change().entries
        self._after = {entry.path: entry for entry in entries}
        self._before = {path: entry for entry in entries for path in (entry.old_path, entry.path) if path}
        self._gone = {entry.old_path for entry in entries if entry.old_path and entry.status == "R"}
        self._left = _TOGETHER
        self._data: dict[tuple[str, str], bytes | Absent] = {}
        self._texts: dict[tuple[str, str], str | Absent] = {}
        self._documents: dict[tuple[str, str], list[Any] | Absent] = {}

    def changed(self, side: str, as_data: bool) -> list[str]:
        """The changed files that are there on this side, of a kind that is read as data or of all."""
        there = [e for e in self._after.values() if (e.new_mode if side == "after" else e.old_mode)]
        found = [entry for entry in there if not as_data or kind_of(entry.path)]
        self._read_together(side, found)
        return [entry.path for entry in found]

    def value(self, side: str, path: str, part: str) -> object:
        """A part of a file, or why it is absent. Raises Unknown, GitError, AhpError."""
        if part in ("", "documents"):
            read = self._once(self._documents, side, path, self._parsed)
            return read if isinstance(read, Absent) or part else read[0] if len(read) == 1 else read
        text = self._once(self._texts, side, path, self._text)
        if isinstance(text, Absent) or part == "text":
            return text
        lines = text.split("\n")
        return "\n".join(lines[:_HEAD]) if part == "head" else lines if lines[-1] else lines[:-1]

    def _once(self, kept: dict[tuple[str, str], Any], side: str, path: str, make: Callable[[str, str], Any]) -> Any:
        if (side, path) not in kept:
            try:
                kept[side, path] = make(side, path)
            except Absent as absent:
                absent.unknowable = absent.unknowable or self._is_hidden(side, path)
                kept[side, path] = absent
        return kept[side, path]

    def _is_hidden(self, side: str, path: str) -> bool:
        """Whether the change itself brings what cannot be read: then no block becomes a warning for that."""
        entry = self._after.get(path)
        return side == "after" and entry is not None and bool(entry.new_mode) and not self._view.unsure(path)

    def _parsed(self, side: str, path: str) -> list[Any]:
        text = self._once(self._texts, side, path, self._text)
        if isinstance(text, Absent):
            raise text
        from ahp.facts import formats

        try:
            return formats.documents(kind_of(path), text.removeprefix("\ufeff"))
        except Absent as absent:
            raise Absent(f"{_named(path)} cannot be read as data: {absent.reason}", absent.command) from None
        except (ValueError, OverflowError) as error:
            raise Absent(f"{_named(path)} cannot be read as data: {one_line(error, 200)}") from None

    def _text(self, side: str, path: str) -> str:
        data = self.data(side, path)
        name = encoding.of(data)
        if not name:
            raise Absent(f"{_named(path)} is no text")
        text = data.decode("utf-8", "surrogateescape") if name == "utf-8" else encoding.decoded(data, name)
        return text.replace("\r\n", "\n")

    def rules(self, path: str, test_of: "Callable[[str], Test]" = glob) -> list[tuple[Test, list[str]]]:
        """The lines of a file of patterns, each with the words behind it: as it was before the change, of a new file as
        it is; none without one that can be read. Raises Absent for a bad pattern, Unknown, GitError, AhpError.
        """
        told = (self.value(side, path, "lines") for side in ("before", "after"))
        found: list[tuple[Test, list[str]]] = []
        for number, line in enumerate(next((lines for lines in told if isinstance(lines, list)), ()), 1):
            pattern, *words = [*_WORD.findall(line.partition(" #")[0]), "#"]
            if not pattern.startswith("#"):
                try:
                    found.append((test_of(pattern), words[:-1]))
                except PatternError as error:
                    raise Absent(f"{path}:{number}: {error}") from None
        return found

    def data(self, side: str, path: str) -> bytes:
        """The bytes of a file. Raises Absent for what is none, Unknown, GitError, AhpError."""
        data: bytes | Absent = self._once(self._data, side, path, self._bytes)
        if isinstance(data, Absent):
            raise data
        return data

    def _bytes(self, side: str, path: str) -> bytes:
        if path.startswith("/") or ".." in path.split("/"):
            raise Absent(f"{_named(path)} lies outside the repository")
        if side == "after" and (why := self._view.unsure(path)):
            raise Absent(why)
        entry = (self._after if side == "after" else self._before).get(path)
        try:
            mode = self._view.mode(path) if entry is None else entry.new_mode if side == "after" else entry.old_mode
            if mode in _NO_FILES:
                raise Absent(f"{_named(path)} is {_NO_FILES[mode]}")
            data = self._view.read(path) if entry is None else self._of(side, entry)
        except OutputLimit:
            raise _too_large(path) from None
        except Unknown as unknown:
            raise Absent(unknown.reason, unknown.command, unknowable=True) from None
        except GitError:
            raise
        except AhpError as error:  # a folder, a device, or too large a file of the work tree
            raise Absent(one_line(error, 300)) from None
        if data is None or (side == "after" and path in self._gone and entry is None):
            raise Absent(f"there is no {_named(path)} {side} the change")
        if len(data) > _LARGEST:
            raise _too_large(path)
        self._left -= len(data)
        if self._left < 0:
            raise _too_many()
        return data

    def _of(self, side: str, entry: FileChange) -> bytes | None:
        if side == "after":
            return self._view.after(entry) if entry.new_mode else None
        return self._view.before(entry) if entry.old_mode else None

    def _read_together(self, side: str, entries: list[FileChange]) -> None:
        """Asks git for many files at once."""
        sides = {e.path: (e.new_mode, e.new_oid) if side == "after" else (e.old_mode, e.old_oid) for e in entries}
        oids = {path: oid for path, (mode, oid) in sides.items() if mode not in _NO_FILES}
        stored = {path: oid for path, oid in oids.items() if oid.strip("0") and (side, path) not in self._data}
        sizes = self._view.blob_sizes(list(dict.fromkeys(stored.values())))
        wanted = []
        for path, oid in stored.items():
            size = sizes.get(oid)
            if size is None:
                continue  # asked alone it says why
            self._left -= size if size <= _LARGEST else 0
            if size > _LARGEST or self._left < 0:
                self._data[side, path] = _too_large(path) if size > _LARGEST else _too_many()
            elif not (side == "after" and self._view.unsure(path)):
                wanted.append(path)
        contents = blobs.heads(self._view.repo, list(dict.fromkeys(stored[path] for path in wanted)), _LARGEST)
        self._data.update({(side, path): contents[stored[path]] for path in wanted})


def kind_of(path: str) -> str:
    """The kind of data in files of that name, "" for none."""
    return next((kind for kind, (patterns, _) in _KINDS.items() if glob([*patterns])(path)), "")


def _too_large(path: str) -> Absent:
    return Absent(f"{_named(path)} is larger than the {_LARGEST >> 20} MiB that are read")


def _too_many() -> Absent:
    return Absent(f"the files that the rules read have over {_TOGETHER >> 20} MiB together")


def _named(path: str) -> str:
    return one_line(path, 100)

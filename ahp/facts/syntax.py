"""What stands in a source file, by its syntax: one table of tree-sitter queries for all languages, `languages.toml`.

No comment or text that only looks like a test or a statement counts as one.
"""

import importlib
import os
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from ahp.facts.registry import Absent
from ahp.protocol.text import one_line
from ahp.system import clock, extensions

_LARGEST, _SECONDS = 2 << 20, 5.0  # bytes of a file, and the time to read it; a hostile one could take hours
_CHUNK = 4096  # bytes; between two of them the time is looked at
_TEXT = 300  # characters of a node that patterns see
_SCRIPT = re.compile(rb"<script\b[^>]*>(.*?)(?:</script|\Z)", re.DOTALL)


class Language(NamedTuple):
    """A language: module and function of the grammar of files by their endings, its query, and what its nodes are."""

    name: str
    grammars: dict[str, str]
    query: str
    words: dict[str, str]


class Node(NamedTuple):
    """A captured node. `name` is what it marks, else its first line."""

    kind: str
    text: str
    name: str
    line: int
    start: int
    end: int


with open(os.path.join(os.path.dirname(__file__), "languages.toml"), "rb") as _file:
    LANGUAGES = tuple(Language(name, **told) for name, told in tomllib.load(_file).items())


def language_of(path: str) -> Language | None:
    """The language of a file, by its name."""
    return next((one for one in LANGUAGES if path.endswith((*one.grammars,))), None)


class Tree:
    """The syntax tree of a file. Raises Absent for one that is too large or slow to read, and without its grammar."""

    def __init__(self, path: str, grammar: str, data: bytes) -> None:
        if len(data) > _LARGEST:
            raise Absent(f"{one_line(path, 100)} is larger than the {_LARGEST >> 20} MiB whose syntax is read")
        self._path, self._grammar, self._data, self._end = path, grammar, data, clock.monotonic() + _SECONDS
        parser = extensions.load("tree_sitter._binding").Parser(_grammar(grammar))
        self.root = parser.parse(lambda at, _: b"" if self._is_late() else data[at : at + _CHUNK]).root_node
        self._in_time()

    def _is_late(self) -> bool:
        return clock.monotonic() > self._end

    def _in_time(self) -> None:
        if self._is_late():
            raise Absent(f"the syntax of {one_line(self._path, 100)} takes over {_SECONDS:.0f} s to read")


class Source(Tree):
    """The nodes of a source file, in a language that is known."""

    def __init__(self, path: str, data: bytes) -> None:
        language = language_of(path)
        assert language is not None
        self.language = language
        grammar = next(one for ending, one in language.grammars.items() if path.endswith(ending))
        super().__init__(path, grammar, _scripts(data) if path.endswith((".vue", ".svelte")) else data)
        self.lines = self._data.decode("utf-8", "replace").split("\n")
        self.nodes = self.captured(language.query)

    def captured(self, query: str) -> list[Node]:
        """The nodes, in order; of one that several patterns capture that with a name of its own. Raises Absent."""
        matches = extensions.load("tree_sitter._binding").QueryCursor(_query(self._grammar, query)).matches(self.root)
        first = [line[: 2 * _TEXT].strip()[:_TEXT] for line in self.lines]
        found: dict[tuple[str, int, int], Node] = {}
        for number, (_, captures) in enumerate(matches):
            if not number % 1000:
                self._in_time()
            named = [self._text(one) for one in captures.pop("name", ())]
            for kind, nodes in captures.items():
                for node in nodes:
                    key, row, text = (kind, node.start_byte, node.end_byte), node.start_point[0], self._text(node)
                    name = named[0] if named else text if kind == "definition" else first[row]
                    if named or key not in found:
                        found[key] = Node(kind, text, name, row + 1, node.start_byte, node.end_byte)
        return sorted(found.values(), key=lambda one: one.start)

    def _text(self, node: Any) -> str:
        return self._data[node.start_byte : min(node.end_byte, node.start_byte + _TEXT)].decode("utf-8", "replace")

    def rest(self, node: Node) -> str:
        """The text of a node, and what stands behind it on that line."""
        return self._data[node.start : node.start + _TEXT].partition(b"\n")[0].decode("utf-8", "replace")

    def are(self, sort: str) -> Iterator[tuple[Node, re.Match[str]]]:
        """The nodes that the words of the language call so."""
        words = self.language.words.get(sort)
        matches = re.compile(words, re.DOTALL).match if words else lambda text: None
        for node in self.nodes:
            if hit := matches(f"{node.kind}:{node.text}"):
                yield node, hit


def _scripts(data: bytes) -> bytes:
    """The scripts of a component, the rest blank; every line keeps its number."""
    kept = bytearray(re.sub(rb"[^\n]", b" ", data))
    for part in _SCRIPT.finditer(data):
        kept[part.start(1) : part.end(1)] = part[1]
    return bytes(kept)


@cache
def _grammar(grammar: str) -> Any:
    """A grammar by its module and function. Raises Absent."""
    module, _, function = grammar.partition(".")
    try:
        return extensions.load("tree_sitter._binding").Language(getattr(importlib.import_module(module), function)())
    except (ImportError, ValueError) as error:  # none, or one that tree-sitter is too old for
        package = module.replace("_", "-")
        raise Absent(f"such a file is read by {package} ({one_line(error)})", f"pip install {package}") from None


@cache
def _query(grammar: str, query: str) -> Any:
    return extensions.load("tree_sitter._binding").Query(_grammar(grammar), query)

"""YAML text to a tree that knows the place of every key and value: policies, waivers, tickets.

Reads one document of mappings, lists and scalars of YAML 1.2's core schema. Merge keys, tags, duplicate keys, keys that
are not text, several documents and invisible characters are refused: each can hide a file's meaning from its
readers. Works on events and its own stack, so that neither nesting nor aliases can exhaust anything.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import yaml

from ahp.system.errors import AhpError
from ahp.system.place import Place as Place

MAX_NODES = 300_000
MAX_DEPTH = 32
_DEEPER = f"nested deeper than {MAX_DEPTH} levels"
_TOO_DEEP = "exceeded maximum nesting depth"  # of libyaml from 0.2.6 on, which looks ahead and so may stop before us

_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_WORDS |= {w.upper(): v for w, v in _WORDS.items()} | {w.capitalize(): v for w, v in _WORDS.items()}
_YAML11_BOOLEANS = {"on", "off", "yes", "no"}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
# Line breaks to YAML but not to most editors, and what turns the reading order (Trojan Source, CVE-2021-42574).
_DECEIVING = re.compile("[\x85\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ONLY_TEXTS = "anchors, aliases and tags are not read here; write the value out"
_SHOWN = 50


class Fault(NamedTuple):
    """One fault. `kind`: `control` or `syntax` (no YAML), `tag`, `merge` or `boolean` (a key), else ""."""

    place: Place
    what: str
    kind: str = ""


class YamlError(AhpError):
    """Text that is refused. `faults` are all of them, sorted by place; `root` is the tree where one could be made."""

    def __init__(self, faults: Iterable[Fault], root: "Node | None" = None) -> None:
        self.faults, self.root = sorted(set(faults)), root
        super().__init__("\n".join(f"{fault.place}: {fault.what}" for fault in self.faults[:_SHOWN]))


@dataclass(slots=True)
class Node:
    """A value with its place: a scalar, a list of nodes, or a dict of nodes with `keys` giving each key's place.

    `start` and `end` are offsets into the text; `key_end` is the offset just past the key of a mapping's value.
    """

    value: object
    place: Place
    text_place: Place  # where the text of a scalar begins, behind an opening quote
    start: int
    end: int
    bare: bool = False  # a scalar without quotes
    flow: bool = False  # written inline, in brackets or braces
    key_end: int = 0
    keys: dict[str, Place] = field(default_factory=dict)
    size: int = 1  # nodes it expands to, aliases followed

    @property
    def line(self) -> int:
        return self.place.line

    def plain(self) -> object:
        """The value without places: dicts, lists, str, int, float, bool, None."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def at(self, path: tuple[str | int, ...]) -> "Node":
        """The node at `path`, or the deepest one above it that exists; steps that name nothing are passed over."""
        node = self
        for step in path:
            child: object = None
            if isinstance(node.value, dict):
                child = node.value.get(step)
            elif isinstance(node.value, list) and isinstance(step, int) and step < len(node.value):
                child = node.value[step]
            if isinstance(child, Node):
                node = child
        return node

    def key_place(self, path: tuple[str | int, ...]) -> Place:
        """Where the last key of `path` is written; a list item's or the whole node's place when it is no key."""
        return self.at(path[:-1]).keys.get(str(path[-1])) or self.at(path).place if path else self.place


def decode(data: bytes, name: str, limit: int) -> str:
    """The UTF-8 text of a file of at most `limit` bytes, without a byte order mark. Raises YamlError."""
    if len(data) > limit:
        raise YamlError([Fault(Place(name), f"the file has {len(data)} bytes; at most {limit} are read")])
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise YamlError([Fault(Place(name), "is not UTF-8 but UTF-16; save it as UTF-8")])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        place = Place(name, before.count(b"\n") + 1, error.start - before.rfind(b"\n"))
        what = f"byte 0x{data[error.start]:02x} is not UTF-8 text; is this a YAML file?"
        raise YamlError([Fault(place, what)]) from None


def read(text: str, name: str, *, texts: bool = False) -> Node | None:
    """The tree of the one document in `text`; None when it holds none (empty, or comments only).

    With `texts` every scalar but null stays text as it is written, and anchors and aliases are refused, too. Raises
    YamlError with every fault found, each at its place.
    """
    if bad := _CONTROL.search(text):
        what = f"control character U+{ord(bad[0]):04X}; is this a YAML file?"
        raise YamlError([Fault(_place(name, text, bad.start()), what, "control")])
    reader = _Reader(name, text, texts)
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            reader.feed(event)
    except yaml.YAMLError as error:
        # What such a character breaks is no other fault.
        raise YamlError([*reader.faults, *(reader.deceiving() or [_syntax(error, name, text)])]) from None
    if faults := [*reader.faults, *reader.deceiving()]:
        raise YamlError(faults, reader.root)
    return reader.root


def documents(text: str) -> list[Any]:
    """The plain values of every document in anybody's YAML, null for an empty one.

    Tags are passed over, merge keys and aliases followed, numbers and words are those of YAML 1.2. Raises YamlError for
    what is no YAML, for a key that is there twice, and past MAX_NODES or MAX_DEPTH.
    """
    reader = _Documents("", text, False)
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            reader.feed(event)
    except yaml.YAMLError as error:
        raise YamlError([*reader.faults, _syntax(error, "", text)]) from None
    if reader.faults:
        raise YamlError(reader.faults)
    return reader.found or [None]


class _Open:
    """A mapping or list whose end has not been read."""

    __slots__ = ("anchor", "key", "node")

    def __init__(self, node: Node, anchor: str | None) -> None:
        self.node, self.anchor = node, anchor
        self.key: tuple[str, Node] | None = None


class _Reader:
    """Turns events into nodes; collects every fault that does not stop the reading."""

    def __init__(self, name: str, text: str, texts: bool) -> None:
        self.name, self.text, self.texts = name, text, texts
        self.faults: list[Fault] = []
        self.stack: list[_Open] = []
        self.anchors: dict[str, Node | None] = {}
        self.quoted: list[tuple[int, int]] = []
        self.count = self.documents = 0
        self.root: Node | None = None

    def feed(self, event: Any) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self.fatal(self.place(event), "a second document begins here; keep one, without its `---`")
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self.begin(event)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            self.finish(event)
        elif isinstance(event, yaml.AliasEvent):
            self.alias(event)
        elif isinstance(event, yaml.ScalarEvent):
            self.scalar(event)

    def begin(self, event: Any) -> None:
        place = self.place(event)
        self.refuse(event, place)
        if len(self.stack) >= MAX_DEPTH:
            raise self.fatal(place, _DEEPER)
        value: object = {} if isinstance(event, yaml.MappingStartEvent) else []
        if event.anchor:
            self.anchors[event.anchor] = None
        node = Node(value, place, place, event.start_mark.index, 0, flow=bool(event.flow_style))
        self.stack.append(_Open(node, event.anchor))

    def finish(self, event: Any) -> None:
        closed = self.stack.pop()
        closed.node.end = event.end_mark.index
        if closed.anchor:
            self.anchors[closed.anchor] = closed.node
        self.count += 1 - closed.node.size  # what is in it was counted
        self.add(closed.node)

    def refuse(self, event: Any, place: Place) -> None:
        """Tags everywhere; where all is text, anchors too."""
        if self.texts and (event.tag or event.anchor):
            self.faults.append(Fault(place, _ONLY_TEXTS))
        elif event.tag:
            self.faults.append(Fault(place, f"{_shown(event.tag)}: YAML tags are not read; remove it", "tag"))

    def alias(self, event: Any) -> None:
        place, anchor = self.place(event), event.anchor or ""
        if self.texts:
            raise self.fatal(place, _ONLY_TEXTS)
        node = self.anchors.get(anchor)
        if node is None:
            what = "refers to itself" if anchor in self.anchors else "names no anchor"
            raise self.fatal(place, f"the alias *{anchor[:40]} {what}")
        self.add(node)

    def scalar(self, event: Any) -> None:
        place = self.place(event)
        self.refuse(event, place)
        bare = bool(event.implicit[0]) and not event.tag
        start, end = event.start_mark.index, event.end_mark.index
        if event.style in ("'", '"'):
            self.quoted.append((start, end))
        value = self.resolve(event.value, place) if bare else event.value
        node = Node(value, place, self.text_place(event, place, bare), start, end, bare)
        if event.anchor:
            self.anchors[event.anchor] = node
        self.add(node, event.value)

    def resolve(self, text: str, place: Place) -> object:
        if text in _WORDS and (not self.texts or _WORDS[text] is None):
            return _WORDS[text]
        if self.texts:
            return text
        if _INT.match(text) and len(text) < 20:
            return int(text)
        if not _FLOAT.match(text):
            return text
        if text.lstrip("+-")[:1] == "0" and text.lstrip("+-0123456789") == "":
            what = f"{text[:40]} is read as octal by some and decimal by others; quote it or drop the zero"
            self.faults.append(Fault(place, what))
        if math.isinf(float(text)):
            self.faults.append(Fault(place, f"{_shown(text)} is too large for a number"))
        return float(text)

    def text_place(self, event: Any, place: Place, bare: bool) -> Place:
        if event.style not in ("|", ">"):
            return place if bare else place._replace(column=place.column + 1)
        lines = self.text[event.start_mark.index : event.end_mark.index].split("\n")
        for number, line in enumerate(lines[1:], place.line + 1):
            if line.strip(" \r"):
                return place._replace(line=number, column=len(line) - len(line.lstrip(" ")) + 1)
        return place

    def add(self, node: Node, text: str | None = None) -> None:
        """Puts a finished node where it belongs; `text` is a scalar's, as it may be a key."""
        self.count += node.size
        if self.count > MAX_NODES:
            raise self.fatal(node.place, f"more than {MAX_NODES} values, aliases followed")
        if not self.stack:
            self.root = node if node.value is not None else None
            return
        parent = self.stack[-1]
        parent.node.size += node.size
        if isinstance(parent.node.value, list):
            parent.node.value.append(node)
        elif parent.key is None:
            parent.key = self.key(node, text), node
        else:
            (key, written), parent.key = parent.key, None
            self.put(parent.node, key, written, node)

    def put(self, mapping: Node, key: str, written: Node, node: Node) -> None:
        first = mapping.keys.get(key)
        if first is not None:
            what = f"the key {_shown(key)} is already given in line {first.line}; keep one of them"
            self.faults.append(Fault(written.place, what))
            return
        mapping.keys[key], node.key_end = written.place, written.end
        assert isinstance(mapping.value, dict)
        mapping.value[key] = node

    def key(self, node: Node, text: str | None) -> str:
        word = text if node.bare and not self.texts else ""
        if word == "<<":
            self.faults.append(Fault(node.place, "the merge key `<<` is not read; write the keys out", "merge"))
        elif word and word.lower() in _YAML11_BOOLEANS:
            what = f"the bare key `{word}` is read as true or false by most YAML readers; quote it"
            self.faults.append(Fault(node.place, what, "boolean"))
        elif not isinstance(node.value, str):
            self.faults.append(Fault(node.place, f"a key must be text, not {_kind(node.value)}; quote it"))
        return text if text is not None else str(node.value)

    def deceiving(self) -> list[Fault]:
        """Characters outside quotes that make a reader see other lines, or another order, than YAML does."""
        what = "U+{:04X} outside quotes, which hides how a line reads; remove it, or put the value in quotes"
        faults = []
        for found in _DECEIVING.finditer(self.text):
            quotes = bisect_right(self.quoted, (found.start(), len(self.text)))
            if not quotes or self.quoted[quotes - 1][1] <= found.start():
                faults.append(Fault(_place(self.name, self.text, found.start()), what.format(ord(found[0]))))
                if len(faults) == _SHOWN:
                    break
        return faults

    def place(self, event: Any) -> Place:
        return Place(self.name, event.start_mark.line + 1, event.start_mark.column + 1)

    def fatal(self, place: Place, what: str) -> YamlError:
        return YamlError([*self.faults, Fault(place, what)])


class _Documents(_Reader):
    """Reads what other programs read: several documents, tags, merge keys, keys that look like numbers."""

    def __init__(self, name: str, text: str, texts: bool) -> None:
        super().__init__(name, text, texts)
        self.found: list[Any] = []

    def feed(self, event: Any) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self.root, self.anchors = None, {}
        elif isinstance(event, yaml.DocumentEndEvent):
            self.found.append(self.root.plain() if self.root else None)
        else:
            super().feed(event)

    def refuse(self, event: Any, place: Place) -> None:
        """Nothing: a tag says how a value is meant, not what it is."""

    def resolve(self, text: str, place: Place) -> object:
        number = text.lstrip("+-")
        return text if number[:1] == "0" and number[1:].isdigit() else super().resolve(text, place)

    def key(self, node: Node, text: str | None) -> str:
        if text is None:
            raise self.fatal(node.place, "a key must be text, not a list or mapping")
        return text

    def put(self, mapping: Node, key: str, written: Node, node: Node) -> None:
        if key != "<<" or not written.bare:
            super().put(mapping, key, written, node)
            return
        assert isinstance(mapping.value, dict)
        for one in node.value if isinstance(node.value, list) else [node]:
            for name, value in one.value.items() if isinstance(one.value, dict) else ():
                if name not in mapping.keys:  # what is written there itself holds, also further down
                    mapping.value.setdefault(name, value)


def _syntax(error: yaml.YAMLError, name: str, text: str) -> Fault:
    """The fault at the place where libyaml stopped; what is never closed is at fault where it opens."""
    mark, context = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    what = str(getattr(error, "problem", "") or getattr(error, "reason", "") or "cannot be read")
    if mark is None:
        return Fault(Place(name), what[:200], "syntax")
    if what == _TOO_DEEP:
        return Fault(Place(name, mark.line + 1, mark.column + 1), _DEEPER)
    lines = text.rstrip().split("\n")
    at = context if context and mark.index >= len(text.rstrip()) else mark
    line = min(at.line, len(lines) - 1)
    tab = "; indent with spaces, not tabs" if lines[line].lstrip(" ").startswith("\t") else ""
    return Fault(Place(name, line + 1, at.column + 1), what + tab, "syntax")


def _place(name: str, text: str, at: int) -> Place:
    return Place(name, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


def _kind(value: object) -> str:
    kinds: dict[type, str] = {dict: "a mapping", list: "a list", type(None): "empty"}
    return kinds.get(type(value)) or _shown(value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"

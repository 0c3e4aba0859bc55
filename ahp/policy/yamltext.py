"""YAML text to a tree that knows the place of every key and value.

Reads the part of YAML that a policy needs: one document of mappings, lists and scalars of YAML 1.2's core schema.
Merge keys, tags, duplicate keys, keys that are not text and several documents are refused, since each of them
has hidden a policy's meaning from its readers before. Works on events and its own stack, so that neither nesting nor
aliases can exhaust anything (peers: `on` read as true; design §4).
"""

import math
import re
from dataclasses import dataclass, field

import yaml

from ahp.policy import quoting
from ahp.policy.problems import Place, PolicyError, Problem, quoted

MAX_BYTES = 1 << 20
MAX_NODES = 300_000
MAX_DEPTH = 32

_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_WORDS |= {w.upper(): v for w, v in _WORDS.items()} | {w.capitalize(): v for w, v in _WORDS.items()}
_YAML11_BOOLEANS = {"on", "off", "yes", "no"}


@dataclass(slots=True)
class Node:
    """A value with its place: a scalar, a list of nodes, or a dict of nodes with `keys` giving each key's place."""

    value: object
    place: Place
    text_place: Place  # where the text of a scalar begins, behind an opening quote
    keys: dict[str, Place] = field(default_factory=dict)
    size: int = 1  # nodes it expands to, aliases followed

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


class _Open:
    """A mapping or list whose end has not been read."""

    __slots__ = ("anchor", "key", "key_place", "node")

    def __init__(self, node: Node, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.key: str | None = None
        self.key_place = node.place


class _Builder:
    """Turns events into nodes; collects every problem that does not stop the reading."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self.name = name
        self.lines = lines
        self.problems: list[Problem] = []
        self.stack: list[_Open] = []
        self.anchors: dict[str, Node | None] = {}
        self.count = 0
        self.root: Node | None = None
        self.documents = 0

    def place(self, event: yaml.Event) -> Place:
        mark = event.start_mark
        return Place(self.name, mark.line + 1, mark.column + 1) if mark else Place(self.name)

    def fatal(self, place: Place, what: str) -> PolicyError:
        return PolicyError([*self.problems, Problem(place, what)])

    def feed(self, event: yaml.Event) -> None:
        place = self.place(event)
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self.fatal(place, "a second document begins here; a policy is one document, remove the `---`")
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            self.begin(event, place)
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            closed = self.stack.pop()
            if closed.anchor:
                self.anchors[closed.anchor] = closed.node
            self.add(closed.node)
        elif isinstance(event, yaml.AliasEvent):
            self.alias(event.anchor or "", place)
        elif isinstance(event, yaml.ScalarEvent):
            self.scalar(event, place)

    def begin(self, event: "yaml.CollectionStartEvent", place: Place) -> None:
        self.refuse_tag(event, place)
        if len(self.stack) >= MAX_DEPTH:
            raise self.fatal(place, f"nested deeper than {MAX_DEPTH} levels")
        value: object = {} if isinstance(event, yaml.MappingStartEvent) else []
        if event.anchor:
            self.anchors[event.anchor] = None
        self.stack.append(_Open(Node(value, place, place), event.anchor))

    def refuse_tag(self, event: "yaml.NodeEvent", place: Place) -> None:
        tag = getattr(event, "tag", None)
        if not tag:
            return
        mended = quoting.mend_tag(self.lines[place.line - 1], place.column)
        hint = "an unquoted `!` begins a YAML tag; write `not`" if mended else "YAML tags are not read; remove it"
        self.problems.append(Problem(place, f"{quoted(tag)}: {hint}", mended))

    def alias(self, anchor: str, place: Place) -> None:
        node = self.anchors.get(anchor)
        if node is None:
            what = "refers to itself" if anchor in self.anchors else "names no anchor"
            raise self.fatal(place, f"the alias *{anchor[:40]} {what}")
        self.add(node)

    def scalar(self, event: yaml.ScalarEvent, place: Place) -> None:
        self.refuse_tag(event, place)
        plain = event.implicit[0] and not event.tag
        node = Node(event.value, place, self.text_place(event, place, plain))
        if plain:
            node.value = self.resolve(event.value, place)
        if plain:
            self.refuse_cut(event, place)
        if event.anchor:
            self.anchors[event.anchor] = node
        self.add(node, key_text=event.value if plain else None)

    def refuse_cut(self, event: yaml.ScalarEvent, place: Place) -> None:
        end = event.end_mark
        if end is None or end.line >= len(self.lines):
            return
        mended = quoting.mend_cut(event.value, self.lines[end.line], end.column)
        if mended:
            what = "` #` begins a comment, which cuts a quoted text in two; the value needs quotes"
            self.problems.append(Problem(place, what, mended))

    def text_place(self, event: yaml.ScalarEvent, place: Place, plain: bool) -> Place:
        if event.style not in ("|", ">"):
            return place if plain else place._replace(column=place.column + 1)
        for number in range(place.line, len(self.lines)):
            indent = len(self.lines[number]) - len(self.lines[number].lstrip(" "))
            if indent < len(self.lines[number]):
                return place._replace(line=number + 1, column=indent + 1)
        return place

    def resolve(self, text: str, place: Place) -> object:
        if text in _WORDS:
            return _WORDS[text]
        if _INT.match(text) and len(text) < 20:
            return int(text)
        if _FLOAT.match(text):
            if text.lstrip("+-")[:1] == "0" and text.lstrip("+-0123456789") == "":
                what = f"{text[:40]} is read as octal by some and decimal by others; quote it or drop the zero"
                self.problems.append(Problem(place, what))
            if math.isinf(float(text)):
                self.problems.append(Problem(place, f"{quoted(text, 40)} is too large for a number"))
            return float(text)
        return text

    def add(self, node: Node, key_text: str | None = None) -> None:
        self.count += node.size
        if self.count > MAX_NODES:
            raise self.fatal(node.place, f"more than {MAX_NODES} values, aliases followed; this is no policy")
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        parent.node.size += node.size
        if isinstance(parent.node.value, list):
            parent.node.value.append(node)
        elif parent.key is None:
            parent.key, parent.key_place = self.key(node, key_text), node.place
        else:
            self.put(parent, node)

    def put(self, parent: _Open, node: Node) -> None:
        key = str(parent.key)
        parent.key = None
        first = parent.node.keys.get(key)
        if first is not None:
            what = f"the key {quoted(key)} is already given in line {first.line}; keep one of them"
            self.problems.append(Problem(parent.key_place, what))
            return
        parent.node.keys[key] = parent.key_place
        assert isinstance(parent.node.value, dict)
        parent.node.value[key] = node

    def key(self, node: Node, text: str | None) -> str:
        if text == "<<":
            what = "the merge key `<<` is not read; write the keys out, or use `extends`"
            self.problems.append(Problem(node.place, what))
        elif text is not None and text.lower() in _YAML11_BOOLEANS:
            what = f"the bare key `{text}` is read as true or false by most YAML readers"
            self.problems.append(Problem(node.place, f"{what}; for triggers write `at:`, else quote it"))
        elif not isinstance(node.value, str):
            self.problems.append(Problem(node.place, f"a key must be text, not {_kind(node.value)}; quote it"))
        return text if text is not None else str(node.value)


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    return "empty" if value is None else quoted(value)


def decode(data: bytes, name: str) -> str:
    """UTF-8 text of a policy file. Raises PolicyError for binary, oversized or otherwise encoded data."""
    if len(data) > MAX_BYTES:
        raise PolicyError([Problem(Place(name), f"the file has {len(data)} bytes; a policy has at most {MAX_BYTES}")])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        place = Place(name, before.count(b"\n") + 1, error.start - before.rfind(b"\n"))
        what = f"byte 0x{data[error.start]:02x} is not UTF-8 text; is this a YAML file?"
        raise PolicyError([Problem(place, what)]) from None
    bad = re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]", text)
    if bad:
        at = bad.start()
        place = Place(name, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))
        raise PolicyError([Problem(place, f"control character U+{ord(text[at]):04X}; is this a YAML file?")])
    return text


def parse(data: bytes, name: str) -> Node | None:
    """The tree of a policy file; None when it holds no document (empty, or comments only).

    Raises PolicyError with every problem found, each at its place.
    """
    text = decode(data, name)
    # YAML also breaks lines at these three; counting lines differently from libyaml would show the wrong line
    lines = re.split(r"\r\n|[\n\r\x85\u2028\u2029]", text)
    builder = _Builder(name, lines)
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            builder.feed(event)
    except yaml.YAMLError as error:
        raise PolicyError([*builder.problems, _syntax(error, name, lines)]) from None
    if builder.problems:
        raise PolicyError(builder.problems)
    return builder.root if builder.root is None or builder.root.value is not None else None


def _syntax(error: yaml.YAMLError, name: str, lines: list[str]) -> Problem:
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return Problem(Place(name), str(error)[:200])
    place = Place(name, min(mark.line + 1, len(lines)), mark.column + 1)
    what = str(getattr(error, "problem", "") or "cannot be read as YAML")
    # libyaml often notices one line too late, at the next key
    for number in (place.line, place.line - 1):
        mended = quoting.mend_line(lines[number - 1]) if 0 < number <= len(lines) else ""
        if mended:
            return Problem(place._replace(line=number), f"{what}; the value needs quotes", mended)
    tab = "; indent with spaces, not tabs" if lines[place.line - 1].lstrip(" ").startswith("\t") else ""
    return Problem(place, f"not YAML: {what}{tab}")

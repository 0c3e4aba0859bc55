"""Changing one thing in a JSON file of somebody else: what stands beside it stays as it is written, comments too.

Read is JSON with `//` and `/* */` comments and trailing commas, as editors and coding agents take it.
"""

import json
from typing import NamedTuple

from ahp.system.errors import AhpError


class NotJson(AhpError):
    """The text is not JSON."""


class Node(NamedTuple):
    """A value in the text: from `start` to `end` (excluded); `value` is what it holds."""

    start: int
    end: int
    value: object
    members: "dict[str, Node]"
    """Of an object, by key."""
    items: "list[Node]"
    """Of an array."""
    at: int = -1
    """Where the key of a member stands, or the item itself."""


def parse(text: str) -> Node:
    """The tree of a text. Raises NotJson with line and column."""
    reader = _Reader(text)
    try:
        node = reader.value(reader.skip(0))
        end = reader.skip(node.end)
    except (IndexError, ValueError, RecursionError) as error:
        place = getattr(error, "pos", min(reader.at, len(text)))
        line, column = text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
        raise NotJson(f"line {line}, column {column}: not JSON") from None
    if end != len(text):
        raise NotJson(f"line {text.count(chr(10), 0, end) + 1}: text after the JSON value")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self._decoder = json.JSONDecoder()

    def skip(self, at: int) -> int:
        """Behind blanks and comments."""
        text = self.text
        while at < len(text):
            if text[at].isspace() or text[at] == "\ufeff":
                at += 1
            elif text.startswith("//", at):
                at = text.find("\n", at) if "\n" in text[at:] else len(text)
            elif text.startswith("/*", at):
                at = text.index("*/", at) + 2
            else:
                break
        self.at = at
        return at

    def value(self, start: int) -> Node:
        first = self.text[start]
        if first not in "{[":
            value, end = self._decoder.raw_decode(self.text, start)
            return Node(start, end, value, {}, [])
        members: dict[str, Node] = {}
        items: list[Node] = []
        at = self.skip(start + 1)
        while self.text[at] not in "}]":
            key, place = "", at
            if first == "{":
                key, at = self._decoder.raw_decode(self.text, at)
                at = self.skip(at)
                if not isinstance(key, str) or self.text[at] != ":":
                    raise ValueError
                at = self.skip(at + 1)
            node = self.value(at)._replace(at=place)
            if first == "{":
                members[key] = node
            else:
                items.append(node)
            at = self.skip(node.end)
            if self.text[at] == ",":
                at = self.skip(at + 1)
            elif self.text[at] not in "}]":
                raise ValueError
        if self.text[at] != ("}" if first == "{" else "]"):
            raise ValueError
        held = {key: node.value for key, node in members.items()} if first == "{" else [node.value for node in items]
        return Node(start, at + 1, held, members, items)


def put(text: str, path: "tuple[str, ...]", item: object) -> str:
    """The text with `item` appended to the array at `path`; arrays and objects that lack on the way are made.

    Raises NotJson, AhpError where something else stands there.
    """
    node = parse(text)
    for depth, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise AhpError(f"{'.'.join(path[:depth]) or 'the file'} is no object")
        if key not in node.members:
            made: object = [item]
            for name in reversed(path[depth + 1 :]):
                made = {name: made}
            return _insert(text, node, key, made, list(node.members.values()), depth + 1)
        node = node.members[key]
    if not isinstance(node.value, list):
        raise AhpError(f"{'.'.join(path)} is no list")
    return _insert(text, node, None, item, node.items, len(path) + 1)


def replace(text: str, node: Node, value: object, depth: int) -> str:
    """The text with another value in a node's place."""
    return text[: node.start] + _dumped(value, _unit(text), depth) + text[node.end :]


def remove(text: str, path: "tuple[str, ...]", index: int) -> str:
    """The text without one item of the array at `path`; arrays and objects that are empty then go with it."""
    chain = [parse(text)]
    for key in path:
        chain.append(chain[-1].members[key])
    target: Node = chain[-1].items[index]
    left = len(chain[-1].items) - 1
    parent = chain.pop()
    while not left and chain:
        target, parent = parent, chain.pop()
        left = len(parent.members) - 1
    siblings = sorted([*parent.members.values(), *parent.items], key=lambda one: one.at)
    place = [one.at for one in siblings].index(target.at)
    if place:
        return text[: siblings[place - 1].end] + text[target.end :]
    if len(siblings) > 1:
        return text[: target.at] + text[siblings[1].at :]
    return text[: parent.start + 1] + text[parent.end - 1 :]


def _insert(text: str, parent: Node, key: "str | None", value: object, siblings: list[Node], depth: int) -> str:
    """The text with one more member or item at the end of `parent`."""
    unit = _unit(text)
    shown = _dumped(value, unit, depth)
    entry = f"{json.dumps(key)}: {shown}" if key is not None else shown
    if siblings:
        at = siblings[-1].end
        return text[:at] + f",\n{unit * depth}{entry}" + text[at:].removeprefix(",")
    at = parent.start + 1
    rest = text[at : parent.end - 1]
    kept = rest.rstrip() if rest.strip() else ""
    return text[:at] + kept + f"\n{unit * depth}{entry}\n{unit * (depth - 1)}" + text[parent.end - 1 :]


def _unit(text: str) -> str:
    """How the text indents by one step; two blanks where it does not tell."""
    for line in text.split("\n"):
        blanks = line[: len(line) - len(line.lstrip())]
        if blanks and line.strip().startswith('"'):
            return blanks
    return "  "


def _dumped(value: object, unit: str, depth: int) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", "\n" + unit * depth)

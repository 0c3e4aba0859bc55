"""Files as data: what each kind of file holds, read by its own parser within bounds.

Each reader takes the text of a file and gives its documents: texts, numbers, truth values, null, lists and maps. It
raises ValueError for what is not of its kind, and for what hides its meaning, such as a key that is there twice.
"""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Callable
from datetime import date, time
from itertools import islice
from typing import Any, NoReturn

from ahp.facts import coverage_report, syntax
from ahp.system import yamltree

SIZE = 4 << 20  # bytes of a file that is read as data
_VALUES = 300_000  # those of JSON stand in tables of locked packages
_DEPTH = 64
_VARIABLE = re.compile(r"\s*(?:export\s+)?([\w.-]+)\s*=\s*(?:'([^']*)'|\"((?:[^\"\\]|\\.)*)\"|([^#\n]*?))\s*(?:#.*)?")
_ESCAPE = re.compile(r"^#\s*escape\s*=\s*`\s*$", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")


def documents(kind: str, text: str) -> list[Any]:
    """What a file of a kind of READERS holds. Raises ValueError, and Absent for bad XML, and
    for HCL without its grammar.
    """
    if kind not in READERS:
        raise ValueError("no kind of file that is read as data")
    if len(text) > SIZE:
        raise ValueError(f"it is longer than the {SIZE >> 20} MiB that are read as data")
    try:
        found = READERS[kind](text)
    except RecursionError:
        raise ValueError(f"nested deeper than {_DEPTH} levels") from None
    _bounded(found)
    return found


def _bounded(found: list[Any]) -> None:
    """Raises ValueError for more, or deeper, values than a condition should go through."""
    level, left = found, _VALUES
    for _ in range(_DEPTH):
        holders = [
            value.values() if isinstance(value, dict) else value for value in level if isinstance(value, dict | list)
        ]
        inner = [one for values in holders for one in islice(values, _VALUES + 1)]
        left -= len(inner)
        if left < 0:
            raise ValueError(f"more than {_VALUES} values")
        if not inner:
            return
        level = inner
    raise ValueError(f"nested deeper than {_DEPTH} levels")


def _json(text: str) -> list[Any]:
    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            names = [name for name, _ in pairs]
            raise ValueError(f"the key {next(n for n in names if names.count(n) > 1)[:40]!r} is there twice")
        return made

    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is no JSON")

    return [json.loads(text, object_pairs_hook=mapping, parse_constant=constant)]


def _yaml(text: str) -> list[Any]:
    try:
        return yamltree.documents(text)
    except yamltree.YamlError as error:
        raise ValueError(error.faults[0].what) from None


def _plain(value: Any) -> Any:
    """A value of TOML with its dates and times as text."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, date | time) else value


def _xml(text: str) -> list[Any]:
    """One map, of the root's name: a text, or a map of attributes (`@name`), elements and, if there is any, `#text`.
    Elements of one name are a list.
    """
    opened: list[dict[str, Any]] = [{}]

    def start(name: str, attributes: dict[str, str], around: list[str]) -> None:
        del opened[len(around) + 1 :]
        opened.append({f"@{key}": value for key, value in attributes.items()})
        opened[-2].setdefault(name, []).append(opened[-1])

    def words(data: str, around: list[str]) -> None:
        opened[len(around)].setdefault("#text", []).append(data)

    coverage_report.read(text.encode("utf-8", "surrogateescape"), "it", start, words)
    return [_element(opened[0])]


def _element(read: dict[str, Any]) -> Any:
    words = "".join(read.pop("#text", ())).strip()
    inner = {name: [_element(one) for one in given] for name, given in read.items() if isinstance(given, list)}
    read |= {name: values if len(values) > 1 else values[0] for name, values in inner.items()}
    return {**read, "#text": words} if read and words else read or words


def _ini(text: str) -> list[Any]:
    """A map of sections; what stands above the first one, as in `.editorconfig`, lies beside them."""
    parser = configparser.RawConfigParser(default_section="\0", allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names as they are written
    try:
        parser.read_string(f"[ ]\n{text}")  # a section for what belongs to none
    except configparser.Error as error:
        raise ValueError(str(error).replace("\n", " ")) from None
    sections = {name: dict(parser.items(name)) for name in parser.sections()}
    return [{**sections.pop(" "), **sections}]


def _variables(text: str) -> list[Any]:
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        part = _VARIABLE.fullmatch(line.rstrip("\r"))
        if part is None or part[1] in found:
            raise ValueError(f"line {number} {'is no NAME=value' if part is None else f'sets {part[1]} again'}")
        found[part[1]] = next(value for value in part.groups()[1:] if value is not None)
    return [found]


def _dockerfile(text: str) -> list[Any]:
    """A list of `{name, value, line}`: a line that goes on in the next is one; here-documents end the value."""
    lines = text.replace("\r\n", "\n").split("\n")
    escape = "`" if any(map(_ESCAPE.match, lines[:3])) else "\\"
    found: list[dict[str, Any]] = []
    at = 0
    while at < len(lines):
        said, number, at = lines[at].strip(), at + 1, at + 1
        if not said or said.startswith("#"):
            continue
        while said.endswith(escape) and at < len(lines):
            more, at = lines[at].strip(), at + 1
            said = said if more.startswith("#") else f"{said[:-1].rstrip()} {more}"
        name, value = (*said.split(None, 1), "")[:2]
        for part in _HEREDOC.finditer(value) if name.upper() in ("RUN", "COPY", "ADD") else ():
            # without its end it is none: nothing that follows is hidden by it
            end = next((n for n in range(at, len(lines)) if lines[n].strip() == part[2]), None)
            if end is not None:
                value, at = "\n".join([value, *lines[at:end]]), end + 1
        found.append({"name": name.upper(), "value": value, "line": number})
    return [found]


def _hcl(text: str) -> list[Any]:
    """A map as in Terraform's JSON syntax: of each block, by its type and labels, a list of its bodies. An expression
    that is more than a text, a number, a truth value, a list or a map is its text in `${…}`.
    """
    data = text.encode("utf-8", "surrogateescape")
    root = syntax.Tree("it", "tree_sitter_hcl.language", data).root
    if root.has_error:
        raise ValueError("it is no HCL")
    return [next((_hcl_body(one, data) for one in root.children if one.type == "body"), {})]


def _hcl_body(body: Any, data: bytes) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for item in [one for one in body.named_children if one.type != "comment"]:
        inner = item.named_children
        *names, last = [_hcl_text(one, data).strip('"') for one in inner if one.type in ("identifier", "string_lit")]
        holder: Any = made
        for name in names:
            holder = holder.setdefault(name, {}) if isinstance(holder, dict) else None
        if item.type == "block" and isinstance(holder, dict) and isinstance(holder.setdefault(last, []), list):
            holder[last].append(next((_hcl_body(one, data) for one in inner if one.type == "body"), {}))
        elif item.type == "attribute" and last not in made:
            made[last] = _hcl_value(next(one for one in inner if one.type == "expression"), data)
        else:
            raise ValueError(f"{last[:40]!r} is there twice")
    return made


def _hcl_value(node: Any, data: bytes) -> Any:
    while node.type in ("expression", "literal_value", "collection_value") and node.named_child_count == 1:
        node = node.named_child(0)
    text, inner = _hcl_text(node, data), node.named_children
    if node.type == "tuple":
        return [_hcl_value(one, data) for one in inner if one.type == "expression"]
    if node.type == "object":
        pairs = [one.named_children for one in inner if one.type == "object_elem"]
        return {_hcl_text(pair[0], data).strip('"'): _hcl_value(pair[-1], data) for pair in pairs}
    try:
        return json.loads(text, strict=False)  # a text with HCL's escapes of its own stays as it is written
    except ValueError:
        return text[1:-1] if text.startswith('"') else f"${{{text}}}"


def _hcl_text(node: Any, data: bytes) -> str:
    return data[node.start_byte : node.end_byte].decode("utf-8", "surrogateescape")


READERS: dict[str, Callable[[str], list[Any]]] = {
    "json": _json,
    "yaml": _yaml,
    "toml": lambda text: [_plain(tomllib.loads(text))],
    "xml": _xml,
    "ini": _ini,
    "variables": _variables,
    "dockerfile": _dockerfile,
    "hcl": _hcl,
}

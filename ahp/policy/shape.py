"""One file's text to its model: the first stage of a policy, with every error of shape at its place (design §4)."""

import copy
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ahp.policy import meant, quoting
from ahp.policy.models import HooksFile, ShortRule
from ahp.policy.problems import UNMET, Place, PolicyError, Problem, quoted
from ahp.policy.yamltext import decode, parse
from ahp.system.version import __version__
from ahp.system.yamltree import Node

Path = tuple[str | int, ...]

_KINDS = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "is_instance_of": "a mapping",
}
_OFF = ("off", "false", "no", "disabled")  # words that people turn a rule off with elsewhere
_ON = ("on", "true", "yes", "enabled")
_CONDITION_KEYS = frozenset({"condition", "when", "each", "block", "control", "prompt", "aid"})
_LIMITS_OF_TYPE = {"greater_than_equal": "at least {ge}", "less_than_equal": "at most {le}"}
_NAME = re.compile(r"[\w.\-]+")
_SHELL = frozenset("&|;<>$`*?")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_NUMBERS = ("int", "float")  # pydantic's own steps for the members of a union of both


@dataclass(frozen=True, slots=True)
class RawFile:
    """A policy file whose shape is right; its conditions are still unread text.

    `layer` is `user`, `project`, `local` or `pack NAME`; `node` is None for an empty file. `problems` are mistakes that
    were left out of the model, so that the conditions of the rest can be read and theirs be told too.
    """

    name: str
    layer: str
    model: HooksFile
    node: Node | None
    problems: tuple[Problem, ...] = ()

    def place(self, *path: str | int) -> Place:
        """Where the value at `path` stands."""
        return self.node.at(path).place if self.node else Place(self.name)

    def text_place(self, *path: str | int) -> Place:
        """Where the text of the value at `path` begins, behind its opening quote."""
        return self.node.at(path).text_place if self.node else Place(self.name)

    def key_place(self, *path: str | int) -> Place:
        """Where the key at the end of `path` stands."""
        return self.node.key_place(path) if self.node else Place(self.name)


def read(data: bytes, name: str, layer: str) -> RawFile:
    """The file `name` of `layer`. Raises PolicyError with all that is wrong with its YAML or its shape.

    Unknown keys and single broken rules are left out instead, and told in `problems`: such a file makes no policy.
    `requires` is looked at before the rest, whose keys a newer ahp may have changed.
    """
    node = parse(data, name)
    if node is None:
        return RawFile(name, layer, HooksFile(), None)
    plain = node.plain()
    if not isinstance(plain, dict):
        raise PolicyError([Problem(node.place, f"a policy is a mapping of keys, not {quoted(plain)}")])
    _check_requirement(plain.get("requires"), node)
    seen: dict[int, type] = {}
    try:
        return RawFile(name, layer, HooksFile.model_validate(plain, context=seen), node)
    except ValidationError as error:
        told = mistakes(error, node, plain, seen, decode(data, name))
        rest = _sound_part(plain, error)
    try:
        if rest is not None:
            return RawFile(name, layer, HooksFile.model_validate(rest, context={}), node, tuple(told))
    except ValidationError:
        pass  # the rest is invalid by itself, too: the first mistakes are told alone
    raise PolicyError(told)


def _sound_part(plain: dict[str, Any], error: ValidationError) -> dict[str, Any] | None:
    """The file without its unknown keys and broken short rules; None when a mistake is elsewhere.

    Rules in lists are not taken out: the others' places are known by their position.
    """
    rest = copy.deepcopy(plain)
    for item in error.errors(include_url=False):
        path = _without_tags(item["loc"], plain)
        holder = _walk(rest, path[:-1])
        if item["type"] == "extra_forbidden" and isinstance(holder, dict):
            value = holder.pop(path[-1], None)
            if path[0] == "hooks" and path[-1] in ShortRule.LEVELS:  # told as such, and not that it is incomplete
                holder.setdefault("condition", value)
                holder.setdefault("intensity", path[-1])
            cut = not _NAME.fullmatch(str(path[-1]))  # the rest of a condition that a comma has cut
            if path[0] == "rules" and len(path) == 3 and (cut or not holder.keys() & ShortRule.LEVELS):
                rest["rules"].pop(path[1], None)  # the unknown key may be a misspelt level
        elif len(path) >= 2 and path[0] == "rules" and isinstance(rest.get("rules"), dict):
            rest["rules"].pop(path[1], None)
        else:
            return None
    return rest


def mistakes(error: ValidationError, node: Node, plain: object, seen: dict[int, type], text: str) -> list[Problem]:
    """What a model of `Keys` refused of the tree `node`, each at its place.

    `plain` is the very object that was validated, `seen` the context: it names the model of each mapping in it.
    """
    lines = text.splitlines()
    errors = error.errors(include_url=False)
    if any(len(item["loc"]) == 1 and meant.is_rule(item.get("input")) for item in errors):
        errors = [item for item in errors if item["loc"] != ("rules",)]  # empty, since its rules stand beside it
    told = {item["loc"] for item in errors}
    errors = [item for item in errors if item["loc"][-1:] != ("int",) or (*item["loc"][:-1], "float") not in told]
    return [_problem(item, node, plain, seen, lines) for item in errors]


def extended(data: bytes, name: str) -> list[tuple[str, Place]]:
    """What a file with errors extends, as far as that can be read, with the place of each."""
    try:
        node = parse(data, name)
    except PolicyError:
        return []
    names = node.at(("extends",)) if node is not None and isinstance(node.value, dict) else None
    if names is None or names is node:
        return []
    found = names.value if isinstance(names.value, list) else [names]
    return [(one.value, one.place) for one in found if isinstance(one.value, str)]


def _check_requirement(wanted: object, node: Node) -> None:
    if wanted is None:
        return
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import Version

    place = node.at(("requires",)).place
    try:
        allowed = SpecifierSet(wanted) if isinstance(wanted, str) else None
    except InvalidSpecifier:
        allowed = None
    if not allowed:
        raise PolicyError([Problem(place, f'`requires` is text like ">=0.3" or ">=0.3,<1", not {quoted(wanted)}')])
    if not allowed.contains(Version(__version__).base_version):
        from ahp.system import installed

        how = installed.upgrade(str(wanted).replace(" ", ""))
        raise PolicyError([Problem(place, f"{UNMET} {wanted}, this is {__version__}; {how}")])


def _walk(plain: object, path: Sequence[str | int]) -> object:
    value = plain
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, value)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
    return value


def _without_tags(path: Path, plain: object) -> Path:
    """The path without pydantic's own steps for the members of a union, which the file does not have."""
    kept: list[str | int] = []
    value = plain
    for number, step in enumerate(path, 1):
        inside = _walk(value, (step,))
        if inside is not value or (number == len(path) and step not in _NUMBERS):
            kept.append(step)
        value = inside
    return tuple(kept)


def _problem(error: Any, node: Node, plain: object, seen: dict[int, type], lines: list[str]) -> Problem:
    path = _without_tags(error["loc"], plain)
    kind, given = error["type"], error.get("input")
    if path[:1] == ("limits",) and len(path) > 1 and path[-1] != "[key]":
        return _no_limit(path, node, plain)
    place = node.at(path).place
    named = [step for step in path if isinstance(step, str)]
    if "intensity" in named[:-1]:
        named.pop()  # an environment, or the `default` that one level alone stands for
    key = named[-1] if named else "the file"
    if kind == "extra_forbidden":
        if len(path) == 1 and meant.is_rule(given):
            what = f"the rule `{_short(path[0])}` does not stand under `rules:`; indent it below that key"
            return Problem(node.key_place(path), what)
        return _unknown_key(path, _keys_of(seen.get(id(_walk(plain, path[:-1])))), node.key_place(path), lines)
    if path[-1] == "[key]":
        place = node.key_place(path[:-1])
        return Problem(place, f"{quoted(path[-2])} is no name; use letters, digits and `_.-`, at most 100 of them")
    if kind == "string_pattern_mismatch":
        return Problem(place, f"`{key}` is a name of letters, digits and `_.-`, not {quoted(given)}")
    if kind == "missing":
        return Problem(place, f"{_where(path[:-1])}needs `{path[-1]}`")
    if kind == "literal_error" and key == "version":
        return Problem(place, f"{quoted(given)} is no `version`", "version: 1")
    if kind in ("literal_error", "union_tag_invalid"):
        return Problem(place, _none_of_the_words(key, given, error["ctx"]))
    if kind == "union_tag_not_found":
        return Problem(place, f"`{key}` is a mapping with a `type`, not {quoted(given)}")
    if kind == "value_error":
        return Problem(place, f"`{key}`: {error['ctx']['error']}")
    if path[:1] == ("rules",) and len(path) == 2 and isinstance(given, str | bool):
        return Problem(place, f"`{key}` is a mapping, not {quoted(given)}", _as_rule(key, str(given).lower()))
    if kind in _KINDS:
        return _wrong_kind(kind, key, given, place, lines)
    if kind == "too_short" and given == []:
        return Problem(place, f"`{key}` is an empty list; give it a value, or leave the key out")
    if kind in _LIMITS_OF_TYPE:
        return Problem(place, f"`{key}` is {_LIMITS_OF_TYPE[kind].format(**error['ctx'])}, not {quoted(given)}")
    return Problem(place, f"`{key}`: {error['msg'][0].lower()}{error['msg'][1:]}, not {quoted(given)}")


def _unknown_key(path: Path, valid: Sequence[str], place: Place, lines: list[str]) -> Problem:
    """A key that is none of `valid`, or the rest of a value that a comma has ended."""
    key = _short(path[-1])
    if not _NAME.fullmatch(str(path[-1])) and (mended := quoting.mend_line(lines[place.line - 1])):
        return Problem(place, f"a comma ends the value before `{key}`", mended)
    return Problem(place, f"unknown key `{key}`{meant.key(str(path[-1]), valid)}")


def _none_of_the_words(key: str, given: object, context: Mapping[str, Any]) -> str:
    """What is wrong with a value that has to be one of a few words, or with the `type` of a mapping."""
    valid = re.findall(r"'([^']*)'", str(context.get("expected") or context.get("expected_tags")))
    word = context.get("tag", given)
    hint = meant.value(word, valid) if isinstance(word, str) else f"; valid are {', '.join(valid)}"
    what = f"`{key}` is empty" if word is None else f"{quoted(word)} is no `{'type' if 'tag' in context else key}`"
    return what + hint


def _no_limit(path: Path, node: Node, plain: object) -> Problem:
    """One sentence for all that a limit could have been, each of which has an error of its own."""
    given, place = _walk(plain, path[:2]), node.at(path[:2]).place
    if given is None:
        return Problem(place, f"the limit `{_short(path[1])}` is empty; give it a value, or leave it out")
    kinds = "a text, a number, true or false, a list of texts, or a mapping with one of these for each environment"
    return Problem(place, f"the limit `{_short(path[1])}` is {kinds}, not {quoted(given)}")


def _as_rule(key: str, word: str) -> str:
    """The line for a rule that is written as one word: a level, or off; "" for any other word."""
    if word in _OFF:
        return f"{key}: {{enabled: false}}"
    level = meant.LEVELS.get(word, word)
    return f"{key}: {{level: {level}}}" if level in (*ShortRule.LEVELS, "allow") else ""


def _wrong_kind(kind: str, key: str, given: object, place: Place, lines: list[str]) -> Problem:
    wanted = _KINDS[kind]
    if key in _CONDITION_KEYS and kind == "string_type":
        mended = f'{key}: "{str(given).lower()}"' if isinstance(given, bool) else ""
        if isinstance(given, list) and given and all(isinstance(one, str) for one in given):
            mended = f"{key}: {quoting.quote_if_needed(' and '.join(given))}"
        mended = mended or quoting.mend_line(lines[place.line - 1])
        return Problem(place, f"`{key}` is a condition, that is a text, not {quoted(given)}", mended)
    if given is None:
        return Problem(place, f"`{key}` is empty; it needs {wanted}, or leave the key out")
    if kind == "dict_type" and key == "rules" and isinstance(given, list):
        return Problem(place, "`rules` is a mapping of ids, not a list: in place of `- id: NAME` write `NAME:`")
    line = lines[place.line - 1]
    mended = quoting.mend_text(line, key) if kind == "string_type" else ""
    if kind == "string_type" and isinstance(given, dict):
        mended = quoting.mend_item(line, place.column) or mended
    if kind == "list_type" and isinstance(given, str):
        mended = _as_list(key, given)
    elif kind == "bool_type" and str(given).lower() in (*_OFF, *_ON):
        mended = f"{key}: {'false' if str(given).lower() in _OFF else 'true'}"
    return Problem(place, f"`{key}` is {wanted}, not {quoted(given)}", mended)


def _as_list(key: str, text: str) -> str:
    """The line with its text as the list that is wanted, a command word by word; "" where a quote is not closed.

    No shell reads a command, so what only a shell understands is handed to one.
    """
    if key in ("run", "command") and not _SHELL.isdisjoint(_QUOTED.sub("", text)):
        return f"{key}: [sh, -c, {quoting.quote(text)}]"
    try:
        words = shlex.split(text) if key in ("run", "command") else [text]
    except ValueError:
        return ""
    return f"{key}: [{', '.join(map(quoting.quote_if_needed, words))}]"


def _keys_of(model: Any) -> list[str]:
    fields = getattr(model, "model_fields", {})
    return [field.alias or name for name, field in fields.items()]


def _short(value: object) -> str:
    text = quoted(str(value))
    return text[1:-1]


def _where(path: Path) -> str:
    named = [str(step) for step in path if isinstance(step, str)]
    return f"`{named[-1]}` " if named else "a test " if path else "the file "

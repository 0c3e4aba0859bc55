"""Advice as an edit of a policy file: the text is changed where it must be, so that comments and order stay."""

from __future__ import annotations

import difflib
import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ahp.insight.advice import Advice
from ahp.policy import layers
from ahp.policy.merge import LEVELS
from ahp.policy.rule import Policy, Rule, rule_digest
from ahp.policy.sources import PolicySource, Watched
from ahp.system import jsontext, yamltree
from ahp.system.errors import AhpError
from ahp.system.yamltree import Node

LAYER = "project"
_BYTE_ORDER_MARK = "\ufeff"


class Proposal(NamedTuple):
    """A file's text, the one that is proposed with the policy that it makes, and the advice that no edit of it can
    follow, with the reason.
    """

    path: str
    before: str
    text: str
    policy: Policy
    left: list[tuple[Advice, str]]

    def diff(self) -> str:
        """What changes, as git applies it; "" where nothing does."""
        # Lines are git's: what else may end one stands in texts, too.
        old, new = (list(io.StringIO(text, newline="\n")) for text in (self.before, self.text))
        lines = difflib.unified_diff(old, new, f"a/{self.path}", f"b/{self.path}")
        return "".join(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n" for line in lines)


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


class _Impossible(AhpError):
    """This advice cannot be followed by an edit of this file."""


class _Replaced:
    """A source whose project file has another text."""

    def __init__(self, source: PolicySource, text: str) -> None:
        self.source, self.text = source, text
        self.watched: list[Watched] = []

    def layers(self) -> list[tuple[str, str, bytes]]:
        return [
            (layer, name, self.text.encode("utf-8", "surrogateescape") if layer == LAYER else data)
            for layer, name, data in self.source.layers()
        ]

    def beside(self, layer: str, relative: str) -> bytes | None:
        return self.source.beside(layer, relative)


def propose(source: PolicySource, advice: Iterable[Advice]) -> Proposal:
    """The project's policy file of `source` with what `advice` asks for, each edit tried by loading what comes of it.

    An edit that would change any other rule is not made. Raises PolicyError for a policy that does not load, AhpError
    where there is no project file.
    """
    found = next(((name, data) for layer, name, data in source.layers() if layer == LAYER), None)
    if found is None:
        raise AhpError("there is no .ahp/hooks.yaml to propose a change of; `ahp init` writes one")
    name, before = found[0], found[1].decode("utf-8", "surrogateescape")
    text, policy = before, layers.load(source)
    left: list[tuple[Advice, str]] = []
    for one in advice:
        if not one.change:
            continue
        try:
            edited = _edited(text, name, one, policy)
            _check(policy, loaded := layers.load(_Replaced(source, edited)), one)
        except AhpError as error:
            left.append((one, str(error).partition("\n")[0]))
        else:
            text, policy = edited, loaded
    return Proposal(name, before, text, policy, left)


def _edited(text: str, name: str, advice: Advice, policy: Policy) -> str:
    if text.startswith(_BYTE_ORDER_MARK):  # the places of YAML do not count it
        return _BYTE_ORDER_MARK + _edited(text[1:], name, advice, policy)
    root = yamltree.read(text, name)
    rules = {rule.key: rule for rule in policy.rules}
    short, rule = _child(root, "rules", advice.rule), rules.get(advice.rule)
    if rule is None:
        alike = sorted(key for key in rules if advice.rule in key.split("/") or key in advice.rule.split("/"))
        it_has = f"; it has {', '.join(alike)}" if alike else ""  # maybe what became of it
        raise _Impossible(f"the project's policy has no rule of this name{it_has}")
    if short is not None:
        edits = [_change(text, short, advice, rule)]
    elif "/" in advice.rule:
        edits = [_change(text, one, advice, rule, oracle) for oracle, one in _written(root, advice.rule)]
    else:
        edits = [_override(text, root, advice, rule)]
    if not edits:
        raise _Impossible("the rule is written in the longer form, in another file")
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _narrowed(advice: Advice, rule: Rule) -> str:
    if any(set(folder) & set("'\\") for folder in advice.folders):
        raise _Impossible("the folder's name has a quote or a backslash")
    outside = " and ".join(f"not f.startswith('{folder}')" for folder in advice.folders)
    return jsontext.encode(f"({rule.condition.text}) and any({outside} for f in files.changed)")


def _written(root: Node | None, key: str) -> Iterator[tuple[Node, Node]]:
    """Each oracle and rule of the longer form that has this key, at whatever trigger."""
    name, _, id = key.partition("/")
    for hook in _items(_child(root, "hooks")):
        for oracle in _items(hook if isinstance(hook.value, list) else _child(hook, "oracles")):
            if (named := _child(oracle, "name")) is not None and named.value == name:
                for number, rule in enumerate(_items(_child(oracle, "rules")), 1):
                    own = _child(rule, "id")
                    if id == (str(number) if own is None else own.value):
                        yield oracle, rule


def _items(node: Node | None) -> list[Node]:
    value = node.value if node is not None else None
    return [*value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []


def _override(text: str, root: Node | None, advice: Advice, rule: Rule) -> _Edit:
    """What this file says of a short rule that it extends, as the first of its rules."""
    narrowed = rule.level("default"), _narrowed(advice, rule)
    key, value = narrowed if advice.change == "narrow" else _SETTINGS[advice.change]
    entry, end = f"{advice.rule}: {{{key}: {value}}}", _line_end(text)
    rules = _child(root, "rules")
    if rules is None:
        begin = "" if text.endswith("\n") else end
        return _Edit(len(text), len(text), f"{begin}rules:{end}  {entry}{end}")
    if not isinstance(rules.value, dict) or rules.flow or not rules.value:
        raise _Impossible("the rule stands in another file, and `rules:` is not written line by line here")
    below = text.find("\n", rules.key_end) + 1
    return _Edit(below, below, " " * (next(iter(rules.keys.values())).column - 1) + entry + end)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _child(node: Node | None, *path: str) -> Node | None:
    for step in path:
        value = node.value if node is not None else None
        node = value.get(step) if isinstance(value, dict) else None
    return node


def _change(text: str, node: Node, advice: Advice, rule: Rule, oracle: Node | None = None) -> _Edit:
    """The edit of a rule that this file has, of the longer form in its oracle."""
    level = next((name for name in LEVELS if name in node.keys), "")
    if advice.change == "narrow":
        return _set(text, node, "condition" if oracle else level or rule.level("default"), _narrowed(advice, rule))
    key, value = _SETTINGS[advice.change]
    if oracle is not None and key == "enabled":  # a rule of this form has no such key, its oracle has
        if len(_items(_child(oracle, "rules"))) > 1:
            raise _Impossible("its oracle has other rules, too; remove it by hand")
        return _set(text, oracle, key, value)
    if oracle is not None and key == "level":
        if len(rule.intensity) > 1:
            raise _Impossible("its level depends on the environment; change it by hand")
        return _set(text, node, "intensity", value)
    if key != "level" or "level" in node.keys or not level:
        return _set(text, node, key, value)
    start = _offset(text, node, level)
    return _Edit(start, start + len(level), value)


def _set(text: str, rule: Node, key: str, value: str) -> _Edit:
    """`key: value` in place of the value that a rule has; else behind its others in braces, before them on lines."""
    known = _child(rule, key)
    if known is not None:
        return _Edit(known.start, known.end, value)
    assert isinstance(rule.value, dict)
    if rule.flow:
        end = max(child.end for child in rule.value.values())
        return _Edit(end, end, f", {key}: {value}")
    first = next(iter(rule.keys))
    start = _offset(text, rule, first)
    return _Edit(start, start, f"{key}: {value}{_line_end(text)}" + " " * (rule.keys[first].column - 1))


def _offset(text: str, mapping: Node, key: str) -> int:
    """Where the key of a mapping begins in the text, behind an opening quote."""
    child = _child(mapping, key)
    assert child is not None
    start = text.rfind(key, 0, child.key_end)
    if start < 0 or text[start : child.key_end].strip("\"'") != key:
        raise _Impossible("its key is written in another way")
    return start


_SETTINGS = {
    "lower": ("level", "prompt"),
    "raise": ("level", "block"),
    "shadow": ("shadow", "true"),
    "disable": ("enabled", "false"),
}


def _check(before: Policy, after: Policy, advice: Advice) -> None:
    """Raises _Impossible unless the edit did what the advice asks for, and nothing else."""
    for one, other in _pairs(before, after):
        is_meant = one is not None and one[0].key == advice.rule
        if one is None or other is None or (not is_meant and one[1] != other[1]):
            raise _Impossible("the edit would change another rule, too")
        if is_meant and other[1] == one[1]:
            raise _Impossible("the edit would change nothing: another layer says otherwise")


def _pairs(before: Policy, after: Policy) -> list[tuple[Any, Any]]:
    found: list[Mapping[tuple[str, str], Any]] = [
        {
            (rule.trigger, rule.key): (rule, (rule_digest(rule, policy), rule.shadow, rule.enabled))
            for rule in policy.rules
        }
        for policy in (before, after)
    ]
    keys = dict.fromkeys([*found[0], *found[1]])
    return [(found[0].get(key), found[1].get(key)) for key in keys]

"""The texts of a rule: templates that name facts, and where findings are shown (design §4)."""

import re
from collections.abc import Iterator

from ahp.conditions.schema import Schema
from ahp.conditions.typecheck import Each
from ahp.facts.registry import is_private
from ahp.facts.schemas import where
from ahp.policy.model_types import FACT_PATH
from ahp.policy.problems import Place, Problem, nearest
from ahp.policy.raw import RawRule

_PART = re.compile(r"\{\{|\}\}|\{([^{}\n]*)\}")
_TWICE = "a brace itself is written twice: {{"


def templates(rule: RawRule) -> Iterator[tuple[str, str, Place]]:
    """Each text of a rule in which `{fact.path}` stands for a value: (key, text, place)."""
    if rule.get("message") is not None:
        yield "message", rule.get("message"), rule.where("message")
    for step in rule.get("resolution"):
        yield "resolution", step, rule.where("resolution")
    for suggestion in rule.get("suggestions"):
        yield "suggestions", suggestion.description, rule.where("suggestions")
    finding = rule.get("finding")
    if finding is not None and finding.message is not None:
        yield "finding", finding.message, rule.where("finding")


def lone_brace(text: str) -> str:
    """The first brace of a template that has no other one, with what follows it; "" where there is none."""
    left = _PART.sub(lambda found: " " * len(found.group()), text)
    at = next((at for at, sign in enumerate(left) if sign in "{}"), len(text))
    return text[at : at + 40]


def named(text: str) -> list[str]:
    """The names that stand in the braces of a text."""
    return [found.group(1).strip() for found in _PART.finditer(text) if found.group(1) is not None]


def check_texts(rule: RawRule, schema: Schema, limits: set[str], each: Each | None) -> tuple[set[str], list[Problem]]:
    """The fact paths that the rule's texts name, and the problems of its texts."""
    shows: set[str] = set()
    problems: list[Problem] = []
    fixes = {rule.where("resolution")} & {rule.where("suggestions")} - {rule.place}
    for key, text, place in templates(rule):
        for found in _PART.finditer(text):
            if found.group(1) is None:
                continue
            name = found.group(1).strip()
            what = _wrong(name, schema, limits, each)
            if what:
                if place in fixes:  # `fix` is both of these
                    key = "fix"
                problems.append(Problem(place, f"`{key}` names `{{{found.group(1)[:60]}}}`: {what}"))
            elif each is None or name.partition(".")[0] != each.var:
                shows.add(name)
    return shows, problems + _finding(rule, each)


def _wrong(name: str, schema: Schema, limits: set[str], each: Each | None) -> str:
    if not FACT_PATH.match(name):
        return f"braces hold a fact path, like {{files.changed_count}}; {_TWICE}"
    head, _, rest = name.partition(".")
    if each is not None and head == each.var:
        return _wrong_item(rest, each)
    if is_private(name):
        return "this value is never shown or logged; name its file or count instead"
    if name in schema or name in limits:
        return ""
    if elsewhere := where(name):
        return f"it is not available at this trigger, but at {', '.join(elsewhere)}"
    known = [fact.path for fact in schema if not is_private(fact.path)]
    near = nearest(name, [*known, *limits])
    return f"there is no such fact at this trigger{near or f'; {_TWICE}'}"


def _wrong_item(rest: str, each: Each) -> str:
    fields = list(each.item.fields)
    if any(is_private(path) for path in each.reads) and rest not in ("path", "line"):
        return "the text of a line is never shown or logged; name its path or line"
    if not fields:
        return "" if not rest else f"`{each.var}` is {each.item}; it has no parts"
    return "" if rest in fields else f"`{each.var}` has no `{rest[:60]}`{nearest(rest, fields)}"


def _finding(rule: RawRule, each: Each | None) -> list[Problem]:
    finding = rule.get("finding")
    if finding is None:
        return []
    place = rule.where("finding")
    if each is None:
        return [Problem(place, "`finding` shows the items of `each`; this rule has none")]
    problems = []
    for key, text, kind in (("file", finding.file, "str"), ("line", finding.line, "int")):
        if text is None:
            continue
        head, _, rest = text.partition(".")
        fact = each.item.fields.get(rest)
        item = each.item if not rest else fact.type if fact is not None else None
        if head != each.var or item is None:
            valid = [f"{each.var}.{name}" for name in each.item.fields] or [each.var]
            problems.append(Problem(place, f"`{key}` of `finding` is a part of the item{nearest(text, valid)}"))
        elif item.name != kind:
            problems.append(Problem(place, f"`{key}` of `finding` is {_KIND[kind]}, but `{text}` is {item}"))
    text = (finding.message or "").strip()
    if text.partition(".")[0] == each.var and FACT_PATH.match(text):
        said = f'`message` of `finding` is a text, shown as it stands: `{text}`; write: message: "{{{text}}}"'
        problems.append(Problem(place, said))
    return problems


_KIND = {"str": "a path", "int": "a line number"}

"""What a signal says: templates filled with facts, findings placed, batches listed (design §4, §9).

Facts may hold what a stranger wrote: in a sentence they stand on one line, bounded, in quotes, never as instructions.
"""

import re

from ahp.facts.registry import is_private
from ahp.protocol.text import one_line, trim
from ahp.system import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ahp.gate.match import Hit
    from ahp.policy.program import RuleAnswer

FINDINGS = 100
_NAMED = 5
_CHINESE = re.compile("[\u4e00-\u9fff]")
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z_][A-Za-z0-9_.]*)\}")  # a brace itself is written twice


def message(rule: "RuleAnswer", values: "Mapping[str, object]", hit: "Hit") -> str:
    """The rule's sentence with its placeholders filled; without one of its own, the condition and what it read."""
    if rule.message is not None:
        return trim(_fill(rule.message, with_items(rule, values, hit)), 1000)
    if hit.items is not None:
        return trim(f"{len(hit.items)} × {one_line(rule.condition)}", 1000)
    reads = [path for path in rule.reads if path in values and not rule.redact and not is_private(path)]
    shown = ", ".join([f"{path} is {quoted(values[path])}" for path in reads[:_NAMED]])
    return trim(one_line(rule.condition) + (f" ({shown})" if shown else ""), 1000)


def with_items(rule: "RuleAnswer", values: "Mapping[str, object]", hit: "Hit") -> "Mapping[str, object]":
    """The facts, and what a rule with `each` found by the name of its items: one value, or a list of several."""
    told: dict[str, dict[object, None]] = {}
    for item in (hit.items or [])[:FINDINGS]:
        for name, value in _item_values(rule, item).items():
            if isinstance(value, str | int | float):
                told.setdefault(name, {})[value] = None
    found: dict[str, object] = {name: [*each] if len(each) > 1 else next(iter(each)) for name, each in told.items()}
    return {**values, **found}


def steps(templates: list[str], values: "Mapping[str, object]") -> list[str]:
    """Templates as sentences; one that names a list gives a sentence an item (design §4), but for a list of limits."""
    done: list[str] = []
    for template in templates:
        lists = [p for p in _PLACEHOLDER.findall(template) if _is_found(p, values)]
        if not lists:
            done.append(trim(_fill(template, values), 500))
            continue
        items = values[lists[0]]
        assert isinstance(items, list)
        done += [trim(_fill(template, {**values, lists[0]: item}), 500) for item in items[:FINDINGS]]
    return done


def _is_found(path: str, values: "Mapping[str, object]") -> bool:
    """Whether a list is of what was found: of a limit's items one step names all that would do."""
    return isinstance(values.get(path), list) and not path.startswith("limits.")


def findings(rule: "RuleAnswer", values: "Mapping[str, object]", hit: "Hit") -> list[dict[str, object]]:
    """Up to 100 `{file, line, message, fingerprint}`, one an item that an `each` found."""
    return [_finding(rule, values, item) for item in (hit.items or [])[:FINDINGS]]


def _finding(rule: "RuleAnswer", values: "Mapping[str, object]", item: object) -> dict[str, object]:
    keys = rule.finding
    file, line = (field(item, keys.file), field(item, keys.line)) if keys is not None else (None, None)
    if file is None and isinstance(item, str) and (keys is not None or not rule.redact):
        file = item
    found: dict[str, object] = {}
    if file is not None:
        found["file"] = one_line(file, 500)
    if isinstance(line, int):
        found["line"] = line
    if keys is not None and keys.message is not None:
        known = {} if rule.redact else values
        found["message"] = trim(_fill(keys.message, {**known, **_item_values(rule, item)}), 500)
    elif keys is not None and (kinds := _kinds(keys.kinds, item)):
        found["message"] = kinds
    found["fingerprint"] = _fingerprint(rule.id, found.get("file"), item)
    return found


def _kinds(patterns: list[list[str]], item: object) -> str:
    """The kinds of what was found, by the names that its regexes give their groups; nothing of the text itself."""
    from ahp.conditions.regexes import named_groups

    kinds: dict[str, None] = {}
    for field, pattern in patterns:
        text = item.get(field) if field and isinstance(item, dict) else item
        if isinstance(text, str):
            kinds |= dict.fromkeys(name.replace("_", " ") for name in named_groups(pattern, text))
    return trim(", ".join(kinds), 200)


def _fingerprint(rule: str, file: object, item: object) -> str:
    """A stable short name of a finding: the rule, the file and the item without its line."""
    content = {k: v for k, v in item.items() if k != "line"} if isinstance(item, dict) else item
    return digest.sha256(f"{rule}\0{file}\0{content!r}".encode("utf-8", "surrogateescape"))[:16]


def quoted(value: object, *, named: int = _NAMED, chinese: bool = False) -> str:
    """A fact inside a sentence: numbers bare, texts in quotes, of a list the first `named` items."""
    if isinstance(value, str):
        return f"'{one_line(value)}'"
    if isinstance(value, list):
        return _enumerated([quoted(item) for item in value[:named]], len(value), chinese)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        line = f":{value['line']}" if "path" in value and isinstance(value.get("line"), int) else ""
        return f"'{one_line(value.get('path', value))}{line}'"
    return one_line(value)


def _enumerated(named: list[str], total: int, chinese: bool) -> str:
    """The first of `total` items as prose."""
    if not named:
        return "无" if chinese else "none"
    if chinese:
        return "、".join(named) + (f" 等 {total} 项" if total > len(named) else "")
    last = f"{total - len(named)} more" if total > len(named) else named.pop() if len(named) > 1 else ""
    return ", ".join(named) + (f" and {last}" if last else "")


def some(names: list[str], most: int = 3, limit: int = 120) -> str:
    """The first `most` names, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join([one_line(name, limit) for name in names[:most]]) + more


def _fill(template: str, values: "Mapping[str, object]") -> str:
    chinese = _CHINESE.search(template) is not None

    def value_of(found: "re.Match[str]") -> str:
        path = found.group(1)
        if path is None:
            return found.group()[0]
        if is_private(path):
            return "(not shown)"
        if path not in values:
            return "(unknown)"
        return quoted(values[path], named=FINDINGS if path.startswith("limits.") else _NAMED, chinese=chinese)

    return _PLACEHOLDER.sub(value_of, template)


def field(item: object, path: str | None) -> object:
    """The field that `l.path` names in an item."""
    return item.get(path.partition(".")[2]) if path is not None and isinstance(item, dict) else None


def _item_values(rule: "RuleAnswer", item: object) -> dict[str, object]:
    """What a template may name of an item, by the name that `each` gives it."""
    var = (rule.each or "").split(" in ", 1)[0].strip()
    if isinstance(item, dict):
        hidden = ("text",) if rule.redact else ()
        return {f"{var}.{name}": value for name, value in item.items() if name not in hidden}
    return {} if rule.redact else {var: item}

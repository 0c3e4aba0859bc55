"""What a signal says: templates filled with facts, findings placed, batches listed (design §4, §9).

Facts are words of strangers: in a sentence they stand on one line, bounded and in quotes, never as instructions.
"""

import re

from ahp.facts.registry import is_private
from ahp.protocol.text import one_line, trim
from ahp.system import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ahp.gate.match import Hit

FINDINGS = 100
_NAMED = 5
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.]*)\}")


def message(rule: "Mapping[str, object]", values: "Mapping[str, object]", hit: "Hit") -> str:
    """The rule's sentence with its placeholders filled; without one of its own, the condition and what it read."""
    template = rule["message"]
    if isinstance(template, str):
        return trim(_fill(template, values), 1000)
    shown = [f"{path} is {quoted(values[path])}" for path in _reads(rule) if path in values and _showable(rule, path)]
    condition = str(rule["condition"])
    if hit.items is not None:
        return trim(f"{len(hit.items)} × {one_line(condition)}", 1000)
    return trim(one_line(condition) + (f" ({', '.join(shown[:_NAMED])})" if shown else ""), 1000)


def named(rule: "Mapping[str, object]") -> frozenset[str]:
    """The facts that a rule's sentences name, whether its condition reads them or not."""
    texts = [rule["message"], *_texts(rule["resolution"]), *_texts(rule["suggestions"])]
    return frozenset(path for text in texts if isinstance(text, str) for path in _PLACEHOLDER.findall(text))


def _texts(entries: object) -> list[object]:
    return [e.get("description") if isinstance(e, dict) else e for e in entries] if isinstance(entries, list) else []


def undecided(reason: str, command: str, path: str) -> str:
    """The sentence of a rule that could not be decided: which fact was missing, and what makes it."""
    text = f"cannot tell: {path} is missing" + (f" ({one_line(reason)})" if reason else "")
    return text + (f"; to get it: {one_line(command)}" if command else "")


def steps(templates: object, values: "Mapping[str, object]") -> list[str]:
    """Templates as sentences; one that names a list gives a sentence an item (design §4)."""
    done: list[str] = []
    for template in templates if isinstance(templates, list) else []:
        lists = [p for p in _PLACEHOLDER.findall(template) if isinstance(values.get(p), list)]
        if not lists:
            done.append(trim(_fill(template, values), 500))
            continue
        items = values[lists[0]]
        assert isinstance(items, list)
        done += [trim(_fill(template, {**values, lists[0]: item}), 500) for item in items[:FINDINGS]]
    return done


def findings(rule: "Mapping[str, object]", hit: "Hit") -> list[dict[str, object]]:
    """Up to 100 `{file, line, message, fingerprint}`, one an item that an `each` found."""
    place = rule.get("finding")
    if hit.items is None:
        return []
    keys = place if isinstance(place, dict) else {}
    found: list[dict[str, object]] = []
    for item in hit.items[:FINDINGS]:
        one: dict[str, object] = {}
        file, line = _field(item, keys.get("file")), _field(item, keys.get("line"))
        if file is None and isinstance(item, str) and ("file" in keys or not rule["redact"]):
            file = item
        if file is not None:
            one["file"] = one_line(file, 500)
        if isinstance(line, int):
            one["line"] = line
        said = keys.get("message")
        if isinstance(said, str):
            one["message"] = trim(_fill(said, _locals(rule, item)), 500)
        one["fingerprint"] = _fingerprint(str(rule["rule"]), one.get("file"), item)
        found.append(one)
    return found


def _fingerprint(rule: str, file: object, item: object) -> str:
    """A stable short name of a finding: the rule, the file and the item without its line."""
    content = {k: v for k, v in item.items() if k != "line"} if isinstance(item, dict) else item
    return digest.sha256(f"{rule}\0{file}\0{content!r}".encode("utf-8", "surrogateescape"))[:16]


def quoted(value: object) -> str:
    """A fact inside a sentence: numbers bare, texts in quotes, lists by their first items."""
    if isinstance(value, str):
        return f"'{one_line(value)}'"
    if isinstance(value, list):
        named = ", ".join([quoted(item) for item in value[:_NAMED]])
        more = f" and {len(value) - _NAMED} more" if len(value) > _NAMED else ""
        return (named or "none") + more
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return f"'{one_line(value.get('path', value))}'"
    return one_line(value)


def _fill(template: str, values: "Mapping[str, object]") -> str:
    def value_of(found: "re.Match[str]") -> str:
        path = found.group(1)
        if is_private(path):
            return "(not shown)"
        return quoted(values[path]) if path in values else "(unknown)"

    return _PLACEHOLDER.sub(value_of, template)


def _reads(rule: "Mapping[str, object]") -> list[str]:
    reads = rule["reads"]
    return [str(path) for path in reads] if isinstance(reads, list) else []


def _showable(rule: "Mapping[str, object]", path: str) -> bool:
    return not rule["redact"] and not is_private(path)


def _field(item: object, path: object) -> object:
    """The field that `l.path` names in an item."""
    if not isinstance(path, str) or not isinstance(item, dict):
        return None
    return item.get(path.partition(".")[2])


def _locals(rule: "Mapping[str, object]", item: object) -> dict[str, object]:
    each = rule.get("each")
    var = str(each).split(" in ", 1)[0].strip() if isinstance(each, str) else ""
    if isinstance(item, dict):
        hidden = ("text",) if rule["redact"] else ()
        return {f"{var}.{name}": value for name, value in item.items() if name not in hidden}
    return {} if rule["redact"] else {var: item}

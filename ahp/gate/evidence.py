"""What a change is to a rule that it breaks: the digest that an override is bound to (authority §5).

It follows from git's objects alone, so that whoever has the commit computes the same, after a rebase too: no line
numbers, no ids of files that are text, nothing of the machine.
"""

from ahp.facts import diff
from ahp.facts.registry import Absent
from ahp.gate.match import Hit
from ahp.protocol.event import Event
from ahp.system import digest, jsontext
from ahp.system.errors import OutputLimit, Unknown

_FORM = "evidence1"  # part of what is digested: another form makes other digests


def content(event: Event, hit: Hit) -> str:
    """The digest of the findings' files and texts, else of the change's files with their added and removed lines.

    "" for an event that changes nothing and found nothing. Raises GitError, AhpError.
    """
    parts = [_finding(item) for item in hit.items] if hit.items else _change(event)
    if not parts:
        return ""
    return digest.tagged("\n".join([_FORM, *sorted(parts)]).encode("utf-8", "surrogateescape"))


def _finding(item: object) -> str:
    known = {key: value for key, value in item.items() if key != "line"} if isinstance(item, dict) else item
    return jsontext.encode(known)


def _change(event: Event) -> list[str]:
    if event.view is None:
        return []
    parts = []
    try:
        entries = event.view.change().entries
    except Unknown:  # what it is cannot be told: at a push the tip stands for it
        return [f"tip {event.push.local_oid}"] if event.push is not None else []
    for entry in entries:
        binary = (entry.new_oid.strip("0") or entry.content) if entry.insertions is None else ""
        parts.append(jsontext.encode([entry.status, entry.path, entry.old_path, entry.new_mode, binary]))
    for sign, lines in _lines(event).items():
        if not isinstance(lines, list):  # they are too many to be read, or not known
            return [f"{entry.path} {entry.new_oid}" for entry in entries]
        parts += [jsontext.encode([sign, line["path"], line["text"]]) for line in lines]
    return parts


def _lines(event: Event) -> dict[str, object]:
    try:
        return diff.gather(event, frozenset({"added", "removed"}), None)
    except (OutputLimit, Absent):
        return {"added": None}

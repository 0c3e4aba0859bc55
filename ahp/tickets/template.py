"""The text of a new ticket, in Monoco's layout, in English or Chinese."""

import re

from ahp.tickets.edit import scalar
from ahp.tickets.find import Tickets
from ahp.tickets.frontmatter import TicketError
from ahp.tickets.ticket import TYPES

PREFIXES = {name: prefix for prefix, name in TYPES.items()}
_FOLDERS = {"epic": "Epics", "feature": "Features", "chore": "Chores", "fix": "Fixes", "arch": "Arch"}
_HEADINGS = {
    "en": ("Objective", "Acceptance Criteria", "Technical Tasks", "Review Comments"),
    "zh": ("目标", "验收标准", "技术任务", "评审记录"),
}
_HAN = re.compile("[\u3400-\u9fff]")
_NOT_WORDS = re.compile(r"[^\w]+")


def language(text: str) -> str:
    """`zh` when the text holds Chinese characters, else `en`."""
    return "zh" if _HAN.search(text) else "en"


def slug(title: str) -> str:
    """The part of a file or branch name that tells a title: at most 50 word characters and hyphens of any script."""
    return _NOT_WORDS.sub("-", title.lower()).strip("-")[:50].strip("-") or "issue"


def new_ticket(
    tickets: Tickets, kind: str, title: str, created: str, needs: tuple[str, ...] = (), criticality: str = ""
) -> tuple[str, str, str]:
    """Id, path and text of the next ticket of a kind, in draft. Raises TicketError for what no ticket can be."""
    if kind not in PREFIXES:
        raise TicketError("", 0, f"a ticket is one of {', '.join(PREFIXES)}")
    if not title.strip() or not title.isprintable():
        raise TicketError("", 0, "a title is one line of text")
    for reference in needs:
        if tickets.referred(reference) is None:
            raise TicketError("", 0, f"no ticket {reference!r} to depend on in {tickets.folder}")
    issue_id = tickets.next_id(PREFIXES[kind])
    lines = [
        "---",
        f"id: {issue_id}",
        f"type: {kind}",
        "status: open",
        "stage: draft",
        f"title: {scalar(title.strip())}",
        f"created_at: {scalar(created)}",
        *(["dependencies:", *(f"- {scalar(item)}" for item in needs)] if needs else ["dependencies: []"]),
        *([f"criticality: {criticality}"] if criticality else []),
        "files: []",
        "---",
        "",
        f"## {issue_id}: {title.strip()}",
        "",
    ]
    aim, acceptance, tasks, review = _HEADINGS[language(title)]
    lines += [
        f"## {aim}",
        "",
        f"## {acceptance}",
        "",
        "- [ ] ",
        "",
        f"## {tasks}",
        "",
        "- [ ] ",
        "",
        f"## {review}",
        "",
    ]
    path = f"{tickets.folder}{_FOLDERS[kind]}/open/{issue_id}-{slug(title)}.md"
    return issue_id, path, "\n".join(lines)

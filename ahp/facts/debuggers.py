"""`debuggers`: statements for debugging on added lines.

Read from the syntax of whole files, so no comment, text or name that only looks like one counts. It is asked only where
the rest of a rule leaves it open: a pack's `when` looks first whether an added line could be one.
"""

import re

from ahp.facts import syntax
from ahp.facts.registry import CHANGE, Absent, Namespace, fact, view_of
from ahp.protocol.event import Event
from ahp.system import lines

NAMESPACE = Namespace(
    source="the syntax of changed files",
    triggers=CHANGE,
    assumed=True,
    late=True,
    schema={
        "added": fact(
            "list[record]",
            "each statement",
            fields={
                "path": fact("str", "", means="path"),
                "line": fact("int", "", min=1),
                "name": fact("str", "`pdb.set_trace`, `debugger`, `dbg!` …"),
                "language": fact("str", "python, javascript, rust or go"),
            },
        )
    },
)

# By these, in the line above and its own, a linter lets one stand: it is meant. Atomic, so that no line, however long,
# is looked through again and again.
_MEANT = {
    "python": re.compile(r"\n.*#\s*noqa:[^#\n]*\bT100\b"),
    "javascript": re.compile(
        r"(?m)^(?:(?>.*?(?:es|ox)lint-disable\b).*\bno-debugger\b|(?>.*?biome-ignore\b).*\bnoDebugger\b)"
    ),
    "rust": re.compile(r"(?m)^(?>.*?\ballow\().*\bclippy::dbg_macro\b"),
    "go": re.compile(r"\n(?>.*?//\s*nolint:).*\bforbidigo\b"),
}


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. Raises Absent where it is not told what changes, Unknown, GitError, AhpError."""
    view = view_of(event, contents=True)
    added: dict[str, set[int]] = {}
    for line in lines.of(view, with_removed=False).added:
        known = syntax.language_of(str(line["path"]))
        if known is not None and known.name in _MEANT:
            added.setdefault(str(line["path"]), set()).add(int(str(line["line"])))
    found: list[dict[str, object]] = []
    unread = ""
    for path, numbers in added.items():
        try:
            source = syntax.Source(path, view.read(path) or b"")
        except Absent as absent:
            unread = absent.reason
            continue
        above = ["", *source.lines]
        language = source.language.name
        found += [
            {"path": path, "line": line, "name": name, "language": language}
            for line, name in statements(source)
            if line in numbers and not _MEANT[language].search("\n".join(above[line - 1 : line + 1]))
        ]
    return {"added": Absent(unread, unknowable=True, known=found) if unread else found}


def statements(source: syntax.Source) -> list[tuple[int, str]]:
    """(line, name) of each statement for debugging; a function that the file defines itself is none."""
    own = {node.text for node in source.nodes if node.kind == "definition"}
    found = []
    for node, hit in source.are("debugger"):
        name = hit[1] + "!" * (source.language.name == "rust")
        if name not in own:
            found.append((node.line, name))
    return found

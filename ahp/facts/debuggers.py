"""`debuggers`: statements for debugging on added lines.

Read from the syntax of whole files, so no comment, text or name that only looks like one counts. It is asked only where
the rest of a rule leaves it open: a pack's `when` looks first whether an added line could be one.
"""

import re

from ahp.facts.registry import CHANGE, Namespace, fact, view_of
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
                "name": fact("str", "`pdb.set_trace`, `debugger`, `dbg!`, `fmt.Println` …"),
                "language": fact("str", "python, javascript, rust, go or java"),
            },
        )
    },
)

_LANGUAGES = {
    "python": (".py", ".pyi"),
    "javascript": (".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte"),
    "rust": (".rs",),
    "go": (".go",),
    "java": (".java",),
}
# By these, in the line above and its own, a linter lets one stand: it is meant. Atomic, so that no line, however long,
# is looked through again and again.
_MEANT = {
    "python": re.compile(r"\n.*#\s*noqa:[^#\n]*\bT100\b"),
    "javascript": re.compile(
        r"(?m)^(?:(?>.*?(?:es|ox)lint-disable\b).*\bno-debugger\b|(?>.*?biome-ignore\b).*\bnoDebugger\b)"
    ),
    "rust": re.compile(r"(?m)^(?>.*?\ballow\().*\bclippy::dbg_macro\b"),
    "go": re.compile(r"\n(?>.*?//\s*nolint:).*\bforbidigo\b"),
    "java": re.compile(r"\n.*//\s*(?:NOPMD|NOSONAR)\b"),
}


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. Raises Absent where it is not told what changes, Unknown, GitError, AhpError."""
    view = view_of(event, contents=True)
    added: dict[str, set[int]] = {}
    for line in lines.of(view, with_removed=False).added:
        if _language(str(line["path"])):
            added.setdefault(str(line["path"]), set()).add(int(str(line["line"])))
    found: list[dict[str, object]] = []
    for path, numbers in added.items():
        language = _language(path)
        text = (view.read(path) or b"").decode("utf-8", "replace")
        source = ["", *text.split("\n")]
        found += [
            {"path": path, "line": line, "name": name, "language": language}
            for line, name in _statements(language, text)
            if line in numbers and not _MEANT[language].search("\n".join(source[line - 1 : line + 1]))
        ]
    return {"added": found}


def _language(path: str) -> str:
    return next((name for name, endings in _LANGUAGES.items() if path.endswith(endings)), "")


def _statements(language: str, text: str) -> list[tuple[int, str]]:
    if language == "python":
        from ahp.facts import python_debuggers

        return python_debuggers.find(text)
    from ahp.facts import source_debuggers

    return source_debuggers.find(language, text)

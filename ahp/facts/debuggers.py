"""`debuggers`: statements for debugging on added lines.

Read from the syntax of whole files, so no comment, text or name that only looks like one counts. It is asked only where
the rest of a rule leaves it open: a pack's `when` looks first whether an added line could be one.
"""

import re
from collections import Counter

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
                "name": fact("str", "`pdb.set_trace`, `debugger`, `dbg!`, `fmt.Println` …"),
                "language": fact("str", "python, javascript, rust, go or java"),
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
    "java": re.compile(r"\n.*//\s*(?:NOPMD|NOSONAR)\b"),
}


_MODULES = frozenset(
    (
        *("pdb", "ipdb", "pudb", "bpdb", "rpdb", "rdb", "wdb", "web_pdb", "pdbr", "pdbpp", "remote_pdb"),
        *("celery.contrib.rdb", "pydevd", "pydevd_pycharm", "debugpy", "ptvsd"),
    )
)
_STOPS = frozenset(["set_trace", "settrace", "breakpoint", "wait_for_client", "embed"])
_SHELLS = frozenset(["IPython", "bpython", "ptpython.repl", "code"])  # modules of which only `embed` stops a program
_IMPORTED = re.compile(r"""__import__\(\s*['"]([\w.]+)['"]\s*\)""")
# What a function or branch of such a name prints, it is there to print.
_PURPOSE = re.compile(
    r"(?i:print|debug|verbose|trace|dump|usage|display|show|quiet)|(?:(?<![A-Za-z])l|L)og(?:ger|ging|s|f|ln)?(?![a-z])"
)


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
    """(line, name) of each statement for debugging."""
    if source.language.name == "python":
        return _python(source)
    is_program = any(source.are("program"))
    own = {node.text for node in source.nodes if node.kind == "own"}
    found = []
    for node, hit in source.are("debugger"):
        name = next(filter(None, hit.groups()))
        if source.language.name == "rust":
            name += "!"
        # What a program prints is its output.
        meant = (
            name in own
            or is_program
            or (source.language.name == "go" and any(map(_PURPOSE.search, source.heads(node))))
        )
        if not meant or name == "runtime.Breakpoint":
            found.append((node.line, name))
    return found


def _python(source: syntax.Source) -> list[tuple[int, str]]:
    """Calls that stop, and imports of debuggers that nothing else uses: a library may work with a debugger as a module
    (`pdb.Pdb`, `pdb.post_mortem`).
    """
    names: dict[str, str] = {}  # local name → module, or module.function
    imports: list[tuple[int, str, str]] = []
    for node in source.nodes:
        whole, _, alias = node.text.partition(" as ")
        root = whole.partition(".")[0]
        if node.kind == "import" and (whole in _SHELLS or not _MODULES.isdisjoint((whole, root))):
            names[alias or root] = whole
            if whole not in _SHELLS:
                imports.append((node.line, alias or root, whole))
        elif node.kind == "from" and f"{node.name}.{whole}" in _MODULES:
            names[alias or whole] = f"{node.name}.{whole}"
        elif node.kind == "from" and _stops(node.name, whole):
            names[alias or whole] = f"{node.name}.{whole}"
            imports.append((node.line, alias or whole, f"{node.name}.{whole}"))
    assigned = {node.text for node in source.nodes if node.kind == "definition"}
    told: dict[int, str] = {}
    imported, stopping = Counter(local for _, local, _ in imports), Counter[str]()
    for node in source.nodes:
        owner, _, last = node.text.rpartition(".")
        if node.kind != "call":
            continue
        if not owner:
            name = names.get(last) or (last if last in ("breakpoint", "set_trace") and last not in assigned else "")
        else:
            direct = _IMPORTED.fullmatch(owner)
            module = direct[1] if direct else names.get(owner, owner if owner in _MODULES else "")
            name = f"{module}.{last}" if _stops(module, last) else ""
        if name:
            told[node.line] = name
            stopping[owner or last] += 1
    # What else names a debugger works with it: every word of that name is one of these.
    words = Counter(re.findall(r"\w+", "\n".join(source.lines)))
    words.subtract(re.findall(r"\w+", " ".join(node.text for node in source.nodes if node.kind == "comment")))
    left = [(line, whole) for line, local, whole in imports if words[local] <= stopping[local] + imported[local]]
    return sorted({*told.items(), *((line, f"import {whole}") for line, whole in left if line not in told)})


def _stops(module: str, function: str) -> bool:
    return function in _STOPS and (module in _MODULES or (module in _SHELLS and function == "embed"))

"""What holds for the project as a whole: its floors, its light modules, its version, its words."""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

import ahp
from ahp.facts import registry

pytestmark = pytest.mark.no_cover  # it reads the code, and runs none

PROJECT = Path(__file__).resolve().parent.parent
PACKAGE = PROJECT / "ahp"

# Core, from the ground up: a floor imports only floors below it, and no wing.
FLOORS = [
    "system",
    "protocol",
    "conditions",
    "shell",
    "tickets",
    "journal",
    "facts",
    "policy",
    "gate",
    "hosts",
    "cli",
]
WINGS = ["agents", "box", "insight", "integrations", "runner"]  # a wing imports core, and no other wing

# Packages that give programs their names, each imported when it is first asked for.
LAZY = ("ahp", "ahp.runner")

# Built in or next to nothing to import. `__future__` is a module too, and a file to read.
LIGHT_MAY_IMPORT = frozenset(
    {"sys", "gc", "posix", "time", "errno", "_signal", "_json", "_sha256", "_sha2", "_thread", "select", "marshal"}
)

TEXT_SUFFIXES = {
    ".py",
    ".md",
    ".toml",
    ".yaml",
    ".yml",
    ".sh",
    ".txt",
    ".json",
    ".jsonl",
    ".js",
    ".cjs",
    ".ts",
    ".xml",
    "",
}


@functools.cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PROJECT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@functools.cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a module, which several tests look at."""
    return ast.parse(path.read_bytes())


@functools.cache
def imported(path: Path) -> list[tuple[int, str]]:
    """All `imports` of a module, those within functions too."""
    return list(imports(ast.walk(parsed(path))))


def imports(nodes: Iterator[ast.AST] | Iterator[ast.stmt]) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of each import among these nodes; of `from a import b`, `a.b` if that is a module of ahp."""
    known = modules()
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"line {node.lineno}: imports are absolute here"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield node.lineno, inner if inner in known else node.module


def at_import_time(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when the module is imported: not functions, the types-only block, fallbacks of `try`."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from at_import_time(node.orelse)
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for field in ("body", "orelse", "finalbody"):
                yield from at_import_time(getattr(node, field, []))


@functools.cache
def light() -> list[str]:
    """Modules of the path on which nothing fires, with what they import at once: their docstrings say `[light]`.

    There each import of the standard library costs 6 to 80 ms.
    """
    return [name for name, path in modules().items() if "[light]" in (ast.get_docstring(parsed(path)) or "")]


def floor_of(module: str) -> str | None:
    """The floor a module of ahp stands on; None for the package itself, which holds only the version."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else None


def tracked_files() -> list[Path]:
    """Files of the project as git lists them, or, outside a repository, as they lie."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PROJECT,
        capture_output=True,
        check=False,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(PROJECT.parent)},
    )
    if listed.returncode:
        return [path for path in PROJECT.rglob("*") if path.is_file() and ".venv" not in path.parts]
    names = (os.fsdecode(name) for name in listed.stdout.split(b"\0") if name)
    return [path for path in (PROJECT / name for name in names) if path.is_file()]


def test_every_module_stands_on_a_floor() -> None:
    floors = {floor_of(name) for name in modules()} - {None, "__main__"}
    assert floors <= {*FLOORS, *WINGS}


@pytest.mark.slow
def test_a_floor_imports_only_floors_below_it() -> None:
    wrong = []
    for name, path in modules().items():
        floor = floor_of(name)
        height = FLOORS.index(str(floor)) if floor in FLOORS else len(FLOORS)
        for line, target in imported(path):
            if target.split(".")[0] != "ahp":
                continue
            other = floor_of(target)
            if other is not None and other != floor and (other in WINGS or FLOORS.index(other) >= height):
                wrong.append(f"{path.relative_to(PROJECT)}:{line}: {floor} imports {target}")
    assert not wrong, "\n".join(wrong)


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of names that reach each other (Tarjan 1972: strongly connected components of more than one)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        stack.append(name)
        for other in graph[name]:
            if other not in order:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], order[other])
        if low[name] == order[name]:
            group = stack[stack.index(name) :]
            del stack[-len(group) :]
            found.extend([sorted(group)] if len(group) > 1 else [])

    for name in graph:
        if name not in order:
            visit(name)
    return found


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == [["b", "c"]]


def test_no_modules_import_each_other() -> None:
    # A package is the door to its own modules, and names them for that.
    known = {name: path for name, path in modules().items() if path.name != "__init__.py"}
    graph = {
        # Imports for the type checker and within functions count, too: either module needs the other to be understood.
        name: {target for _, target in imported(path) if target in known} - {name}
        for name, path in known.items()
    }
    assert not circles(graph), "\n".join(" - ".join(group) for group in circles(graph))


def test_packages_are_light_to_enter() -> None:
    heavy = [
        str(path.relative_to(PROJECT))
        for name, path in modules().items()
        if path.name == "__init__.py" and name not in ("ahp", "ahp.runner") and len(parsed(path).body) > 1
    ]
    assert not heavy, f"only a docstring belongs into {heavy}: the quiet path enters every package"


def test_what_hooks_begin_with_is_light() -> None:
    namespaces = {f"ahp.facts.{name}" for name, declared in registry.declared().items() if declared.light}
    assert {"ahp.hosts.git.main", "ahp.agents.main", "ahp.gate.decide", *namespaces} <= set(light())


def test_light_modules_import_only_what_is_nearly_free() -> None:
    known, wrong = modules(), []
    for name in light():
        for line, target in imports(at_import_time(parsed(known[name]).body)):
            is_package = target in known and known[target].name == "__init__.py"
            if target not in LIGHT_MAY_IMPORT and target not in light() and not is_package:
                wrong.append(
                    f"{known[name].relative_to(PROJECT)}:{line}: {target}, whose docstring does not say [light]"
                )
    assert not wrong, "\n".join(wrong)


def test_light_modules_load_nothing_else() -> None:
    # One bare interpreter for all: what one module loads by a detour shows here, whatever the syntax tree says.
    code = (
        f"import sys; sys.path.insert(0, {str(PROJECT)!r}); before = set(sys.modules)\n"
        f"for name in {light()!r}: __import__(name)\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {name for name in done.stdout.split() if name.split(".")[0] != "ahp"} - LIGHT_MAY_IMPORT == set()


# Modules of distributions that come with one that is declared, which bounds their versions itself.
BROUGHT_ALONG = {
    "pydantic_core": "pydantic",
    "langchain_core": "langchain",
    # The import names of extras that `make` does not install.
    "agent_hooks": "agent-hooks-sdk",
    "agents": "openai-agents",
    "langchain": "langchain",
    "pydantic_ai": "pydantic-ai-slim",
    "markupsafe": "jinja2",
    "google": "opentelemetry-exporter-otlp-proto-http",
    "opentelemetry": "opentelemetry-exporter-otlp-proto-http",
    "requests": "opentelemetry-exporter-otlp-proto-http",
}
# The journal decodes long logs with what the extra brings, where it is there.
EXTRA_OF_FLOOR = {"hosts": "attest", "insight": "insight", "journal": "insight", "runner": "runner"}
# It is a plugin of the pytest that a project has.
OF_THE_PROJECT = {"ahp.runner.verification.pytest_outcomes": {"pytest"}}
# `ahp.conditions.compare.solver` imports these, where the extra `proofs` is there.
OF_THE_PROJECT |= {"ahp.hosts.importing": {"identify"}}  # the extra `import`
OF_THE_PROJECT |= {f"ahp.conditions.{name}": {"z3"} for name in ("proofs", "regular", "terms", "translate")}


def requirements() -> dict[str, list[str]]:
    """What pyproject.toml asks for, by extra; what every command may need is under ""."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    return {"": project["dependencies"], **project["optional-dependencies"]}


def declared(extra: str) -> set[str]:
    return {re.split(r"[^A-Za-z0-9._-]", one)[0].lower() for one in requirements()[extra]}


def test_every_dependency_has_a_lower_bound() -> None:
    """The one that `make test-versions` tries; what ahp itself needs has no other, for it shares its environment."""
    for extra, lines in requirements().items():
        bound = r"(==|>=)[0-9.]+" if extra == "dev" else r">=[0-9.]+(b[0-9]+)?"
        wrong = [one for one in lines if not re.fullmatch(rf"[A-Za-z0-9._-]+{bound}", one) and "ahp-engine[" not in one]
        assert not wrong, f"{extra}: {wrong}"


def optional(tree: ast.Module) -> set[tuple[int, str]]:
    """The imports without which a module does something else: in a `try` that handles ImportError."""
    tries = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Try)
        and any(isinstance(one.type, ast.Name) and one.type.id == "ImportError" for one in node.handlers)
    ]
    return {found for node in tries for found in imports(part for line in node.body for part in ast.walk(line))}


def test_what_is_imported_is_declared_where_it_is_needed() -> None:
    """An extra serves its own floor, and no module needs one to be imported but that of an integration."""
    brings = metadata.packages_distributions()
    wrong = []
    for name, path in modules().items():
        needed = set(imports(at_import_time(parsed(path).body))) - optional(parsed(path))
        for line, target in imported(path):
            top = target.partition(".")[0]
            if top == "ahp" or top in sys.stdlib_module_names | LIGHT_MAY_IMPORT | OF_THE_PROJECT.get(name, set()):
                continue
            extra = "" if (line, target) in needed else EXTRA_OF_FLOOR.get(str(floor_of(name)), "")
            if floor_of(name) == "integrations":  # a module is for those who have its library
                extra = name.rpartition(".")[2].replace("_", "-")
                extra = extra if extra in requirements() else ""
            allowed = declared("") | declared(extra)
            if not allowed & {BROUGHT_ALONG.get(top, ""), *map(str.lower, brings.get(top, ()))}:
                wrong.append(f"{path.relative_to(PROJECT)}:{line}: {target}")
    assert not wrong, "\n".join(wrong)


def test_what_the_tests_import_is_declared() -> None:
    brings, known = metadata.packages_distributions(), set().union(*map(declared, requirements()))
    undeclared = {top for top, names in brings.items() if not known & {BROUGHT_ALONG.get(top), *map(str.lower, names)}}
    wrong = set()
    for path in (PROJECT / "tests").rglob("*.py"):
        statements = at_import_time(ast.parse(path.read_bytes()).body)
        for _, target in imports(one for one in statements if not getattr(one, "level", 0)):
            if (top := target.partition(".")[0]) in undeclared:
                wrong.add(f"{path.relative_to(PROJECT)}: {top}")
    assert not wrong, "\n".join(sorted(wrong))


def test_a_release_holds_all_that_git_has() -> None:
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    included = {name.strip("/") for name in settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
    tracked = {path.relative_to(PROJECT).parts[0] for path in tracked_files()}
    assert tracked - included == {"pyproject.toml"} & tracked  # the build adds that itself


def test_the_changelog_tells_of_this_version() -> None:
    headings = re.findall(r"^## \[([^\]]+)\]", (PROJECT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert next(heading for heading in headings if heading != "Unreleased") == ahp.__version__


def test_every_page_of_the_documentation_can_be_reached() -> None:
    entries = [PROJECT / "README.md", PROJECT / "docs" / "index.md"]
    reached, queue = set(), [page for page in entries if page.exists()]
    while queue:
        page = queue.pop()
        if page in reached:
            continue
        reached.add(page)
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
            if "://" in link or link.startswith("mailto:"):
                continue
            target = (page.parent / link).resolve()
            assert target.exists(), f"{page.relative_to(PROJECT)} links to {link}, which is not there"
            if target.suffix == ".md":
                queue.append(target)
    pages = set((PROJECT / "docs").rglob("*.md"))
    translated = {page: page.with_name(page.name.replace(".zh.md", ".md")) for page in pages if ".zh." in page.name}
    assert pages - set(translated) - reached == set()
    assert set(translated.values()) <= reached


def test_nothing_of_this_machine_is_in_the_project() -> None:
    # Asked of the machine, so that it holds on every one and names none.
    marks = {str(PROJECT) + os.sep, str(Path(sys.prefix)) + os.sep, str(Path(sys.base_prefix)) + os.sep}
    marks = {mark for mark in marks if len(mark) > 8 and not mark.startswith("/usr/")}
    wrong = [
        f"{path.relative_to(PROJECT)}: {mark}"
        for path in tracked_files()
        if path.suffix in TEXT_SUFFIXES
        for mark in marks
        if mark.encode() in path.read_bytes()
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_is_left_for_later() -> None:
    mark = re.compile(r"(#|//).*\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")
    wrong = [
        f"{path.relative_to(PROJECT)}:{number}: {line.strip()}"
        for path in tracked_files()
        if path.suffix in {".py", ".sh", ".ts", ".js", ".cjs"} and path.parts[len(PROJECT.parts)] != "tests"
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1)
        if mark.search(line)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_expression_begins_a_line_with_white_space_of_many() -> None:
    """Where `^` is any line's beginning, `^\\s*` reads empty lines once from each of them: that can take minutes."""
    mark = re.compile(r"\^(?:\(\?:)?\\s[*+]")
    sources = {path: path.read_text() for path in (PROJECT / "ahp").rglob("*.py")}
    trees = {path: ast.parse(text) for path, text in sources.items() if re.search(r"MULTILINE|re\.M\b|\(\?\w*m", text)}
    wrong = []
    for path, call in ((path, call) for path, tree in trees.items() for call in ast.walk(tree)):
        if isinstance(call, ast.Call):
            values = [one.value for one in ast.walk(call) if isinstance(one, ast.Constant)]
            texts = [os.fsdecode(value) for value in values if isinstance(value, str | bytes)]
            names = {getattr(one, "attr", getattr(one, "id", "")) for one in ast.walk(call)}
            is_of_lines = names & {"MULTILINE", "M"} or any(re.match(r"\(\?\w*m", text) for text in texts)
            if is_of_lines and any(map(mark.search, texts)):
                wrong.append(f"{path.relative_to(PROJECT)}:{call.lineno}: {texts}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_no_expression_repeats_a_group_possessively() -> None:
    """Python before 3.11.5 reads `(?:ab?c)*+` wrongly (cpython#106052, #100061), and `(?>(?:ab?c)*)` as it should."""
    mark = re.compile(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+")
    wrong = [
        f"{path.relative_to(PROJECT)}:{one.lineno}: {one.value!r}"
        for path in (PROJECT / "ahp").rglob("*.py")
        for one in ast.walk(ast.parse(path.read_text()))
        if isinstance(one, ast.Constant) and isinstance(one.value, str) and mark.search(one.value)
    ]
    assert not wrong, "\n".join(wrong)

"""What a change says about how it is verified: settings of tests, and hooks that decide which tests run."""

import ast
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ahp.facts import formats
from ahp.runner.verification.project import Project

# The files of settings, and which of these say what tests there are and what runs them; others may be changed at will.
_FILES = frozenset(
    [
        *("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "pytest.toml", ".pytest.toml", "pyproject.toml"),
        *("package.json", "Cargo.toml", "config.toml"),
    ]
)
_TELLS = re.compile(
    r"(?:tool[.:])?pytest\.(?:ini_options\.)?(?:addopts|testpaths|python_(?:files|classes|functions)|norecursedirs)"
    r"|scripts\.(?:pre|post)?test|(?:jest|vitest)\..+|(?:test|lib|bin|bench|example)\..+|package\.autotests"
    r"|target\..+\.runner"
)
_HOOK = re.compile(r"pytest_\w+|load_tests|collect_ignore(?:_glob)?")
_IN_PLACE = re.compile(
    r"pytest_(?:runtestloop|runtest_protocol|pyfunc_call)|load_tests|(?:.*\.)?(?:testRunner|runner|harness)"
)
_JS_FILE = re.compile(r"(?:jest|vitest|vite)\.(?:config|workspace)\.[a-z]+")
_JS_RUNNER = re.compile(r"\b(?:testRunner|runner)\b[\"']?\s*:.*")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_COMMANDS = ("scripts.pretest", "scripts.test", "scripts.posttest", "test")
_TARGET = re.compile(r"^(?:test|check)\s*:(?!=).*\n(?:[\t#].*\n|\n)*", re.MULTILINE)

Parts = dict[str, str]


@dataclass(frozen=True)
class Altered:
    """A file that says how tests are run, and what of it a change alters: `names` of settings and hooks.

    "" among the names is the whole file; there are none where it says something else, as fixtures do. `known` are the
    names that stood there before.
    """

    path: str
    names: Sequence[str]
    known: Collection[str]

    @property
    def told(self) -> str:
        """The file, and what it alters."""
        names = ", ".join(filter(None, self.names))
        return f"{self.path} ({names})" if names else self.path

    @property
    def in_place(self) -> bool:
        """Whether it may take the place of tests, which then count as passed and have not run."""
        return any(map(_IN_PLACE.fullmatch, self.names))

    @property
    def command(self) -> bool:
        """Whether another command runs than before, of which only the exit code may be known."""
        return any(name in _COMMANDS for name in self.names if name in self.known)


def altered(project: Project, directory: str) -> list[Altered]:
    """What the change alters of how the tests of a folder are run."""
    found = []
    for path in sorted(project.changed) if project.has_before else ():
        parts = _reader(path.rpartition("/")[2])
        if parts is None or not _concerns(path, directory):
            continue
        before, now = parts(project.before(path)), parts(project.text(path))
        names = [name for name in {**before, **now} if before.get(name, "") != now.get(name, "")]
        if names or path.rpartition("/")[2] == "conftest.py":
            found.append(Altered(path, names, frozenset(filter(before.get, before))))
    return found


def _concerns(path: str, directory: str) -> bool:
    folder = path.rpartition("/")[0].removesuffix("/.cargo")
    below = directory == "." or path.startswith(f"{directory}/")
    return below or not folder or directory.startswith(f"{folder}/")


def _reader(name: str) -> Callable[[str], Parts] | None:
    if name in _FILES:
        return partial(_settings, name.rpartition(".")[2])
    if name.endswith(".py"):
        return _python
    if name in _MAKEFILES:
        return lambda text: {"test": "".join(_TARGET.findall(text + "\n"))}
    if _JS_FILE.fullmatch(name):
        return lambda text: {"": text, "runner": " ".join(_JS_RUNNER.findall(text))}
    return None


def _settings(end: str, text: str) -> Parts:
    """The settings that tell, by their names from the top down; a text that cannot be read as a whole, under ""."""
    try:
        [found] = formats.documents(end if end in formats.READERS else "ini", text.lstrip("\ufeff"))
    except ValueError:
        return {"": text} if text.strip() else {}
    return {name: value for name, value in _flat(found) if _TELLS.fullmatch(name)}


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    tables = isinstance(value, list) and any(isinstance(one, dict) for one in value)
    if not tables and not isinstance(value, dict):
        yield name, str(value)
        return
    for key, part in enumerate(value) if tables else value.items():
        yield from _flat(part, f"{name}.{key}" if name else str(key))


def _python(text: str) -> Parts:
    """The source of each hook, wherever it is defined."""
    try:
        tree = ast.parse(text if _HOOK.search(text) else "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: Parts = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [node.name, *(_strings(node.decorator_list))]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        else:
            continue
        for name in filter(_HOOK.fullmatch, names):
            found[name] = found.get(name, "") + ast.dump(node)
    return found


def _strings(nodes: list[ast.expr]) -> list[str]:
    """Strings in decorators: `@hookimpl(specname="…")`."""
    constants = (one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Constant))
    return [one.value for one in constants if isinstance(one.value, str)]

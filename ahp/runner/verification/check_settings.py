"""What a change says about how it is verified: settings of tests, and hooks that decide which tests run."""

import ast
import configparser
import re
import shlex
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ahp.runner.verification.project import Project
from ahp.system import jsontext

# Those of pytest that say which tests there are; others may be changed at will.
_OF_PYTEST = ("addopts", "testpaths", "python_files", "python_classes", "python_functions", "norecursedirs")
_NARROWING = re.compile(
    r"-[kmpco]|--(?:deselect|ignore|ignore-glob|noconftest|confcutdir|rootdir|override-ini|pyargs|collect-only|co|setup-"
    r"(?:only|plan)|lf|last-failed|sw|stepwise|stepwise-skip|trace|pdb|runxfail)(?:=.*)?"
)
_TAKES_VALUE = re.compile(r"-[kmpconWr]|--[^=]+")
_HOOKS = frozenset(
    [
        *("pytest_ignore_collect", "pytest_collect_file", "pytest_collect_directory", "pytest_collection"),
        *("pytest_pycollect_makeitem", "pytest_pycollect_makemodule", "pytest_itemcollected", "pytest_generate_tests"),
        *("pytest_collection_modifyitems", "pytest_collection_finish", "collect_ignore", "collect_ignore_glob"),
        *("pytest_runtestloop", "pytest_runtest_protocol", "pytest_runtest_call", "pytest_pyfunc_call"),
        *("pytest_runtest_makereport", "pytest_runtest_logreport", "pytest_sessionfinish", "load_tests"),
    ]
)
_IN_PLACE = frozenset(
    ["pytest_runtestloop", "pytest_runtest_protocol", "pytest_pyfunc_call", "load_tests", "runner", "harness"]
)
_OWN_HARNESS = re.compile(r"'harness': False")
_JS_RUNNER = re.compile(r"\b(?:testRunner|runner)\b[\"']?\s*:.*")
_COMMANDS = ("scripts.pretest", "scripts.test", "scripts.posttest", "test")
_OF_CARGO = ("test", "lib", "bin", "bench", "example")
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
        return not _IN_PLACE.isdisjoint(self.names)

    @property
    def command(self) -> bool:
        """Whether another command runs than before, of which only the exit code may be known."""
        return any(name in _COMMANDS for name in self.names if name in self.known)


def altered(project: Project, directory: str) -> list[Altered]:
    """What the change alters of how the tests of a folder are run."""
    found = []
    for path in sorted(project.changed) if project.has_before else ():
        parts = _reader(path)
        if parts is None or not _concerns(path, directory):
            continue
        before, now = (
            parts(text) if _may_tell(path, text) else {} for text in (project.before(path), project.text(path))
        )
        names = [name for name in {**before, **now} if before.get(name, "") != now.get(name, "")]
        if names or path.rpartition("/")[2] == "conftest.py":
            found.append(Altered(path, names, frozenset(before)))
    return found


def _may_tell(path: str, text: str) -> bool:
    return not path.endswith(".py") or any(word in text for word in ("pytest_", "load_tests", "collect_ignore"))


def _concerns(path: str, directory: str) -> bool:
    folder = path.rpartition("/")[0]
    below = directory == "." or path.startswith(f"{directory}/")
    return below or not folder or directory.startswith(f"{folder}/")


def _reader(path: str) -> Callable[[str], Parts] | None:
    name = path.rpartition("/")[2]
    if name in _READERS:
        return _READERS[name]
    if name.endswith(".py"):
        return _python
    if re.fullmatch(r"(?:jest|vitest|vite)\.(?:config|workspace)\.[a-z]+", name):
        return _javascript
    return _cargo_config if path.endswith(".cargo/config.toml") else None


def _whole(text: str) -> Parts:
    return {"": text}


def _javascript(text: str) -> Parts:
    return {"": text, "runner": " ".join(_JS_RUNNER.findall(text))}


def _python(text: str) -> Parts:
    """The source of each hook, wherever it is defined."""
    try:
        tree = ast.parse(text)
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
        for name in names:
            if name in _HOOKS:
                found[name] = found.get(name, "") + ast.dump(node)
    return found


def _strings(nodes: list[ast.expr]) -> list[str]:
    """Strings in decorators: `@hookimpl(specname="…")`."""
    constants = (one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Constant))
    return [one.value for one in constants if isinstance(one.value, str)]


def _ini(text: str) -> Parts:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return _whole(text)
    sections = [parser[name] for name in ("pytest", "tool:pytest") if parser.has_section(name)]
    return _of_pytest({name: value for section in sections for name, value in section.items()})


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _pyproject(text: str) -> Parts:
    own = _mapping(_mapping(_toml(text), "tool"), "pytest")
    return _of_pytest({**own, **_mapping(own, "ini_options")})


def _pytest_toml(text: str) -> Parts:
    return _of_pytest(_mapping(_toml(text), "pytest"))


def _of_pytest(settings: Mapping[str, Any]) -> Parts:
    found = {name: str(settings[name]) for name in _OF_PYTEST if name in settings}
    if "addopts" in found:
        found["addopts"] = "\0".join(narrowing(settings["addopts"]))
    return found


def narrowing(options: Any) -> list[str]:
    """Those of pytest's options that may keep tests from running, with their values, and the paths among them."""
    try:
        words = list(map(str, options)) if isinstance(options, list) else shlex.split(str(options or ""))
    except ValueError:
        return [str(options)]
    found = []
    for at, word in enumerate(words):
        former = words[at - 1] if at else ""
        if not word.startswith("-"):
            kept = bool(_NARROWING.fullmatch(former)) or not _TAKES_VALUE.fullmatch(former)
        else:
            kept = bool(_NARROWING.fullmatch(word) or re.match(r"-[kmpco].", word))
        if kept:
            found.append(word)
    return found


def _package(text: str) -> Parts:
    try:
        read = jsontext.decode(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return {}
    if not isinstance(read, dict):
        return {}
    scripts = _mapping(read, "scripts")
    told = {f"scripts.{name}": scripts[name] for name in ("pretest", "test", "posttest") if name in scripts}
    told |= {name: read[name] for name in ("jest", "vitest") if name in read}
    named = {name: str(value) for name, value in told.items()}
    return named | {"runner": " ".join(_JS_RUNNER.findall(named.get("jest", "") + named.get("vitest", "")))}


def _cargo(text: str) -> Parts:
    read = _toml(text)
    told = {name: read[name] for name in _OF_CARGO if name in read}
    package = _mapping(read, "package")
    told |= {f"package.{name}": package[name] for name in ("autotests",) if name in package}
    named = {name: str(value) for name, value in told.items()}
    return named | {"harness": " ".join(_OWN_HARNESS.findall(" ".join(named.values())))}


def _cargo_config(text: str) -> Parts:
    read = _toml(text)
    runners = [one["runner"] for one in _mapping(read, "target").values() if isinstance(one, dict) and "runner" in one]
    return {"": str(read), "runner": str(runners) if runners else ""}


def _makefile(text: str) -> Parts:
    recipes = "".join(_TARGET.findall(text + "\n"))
    return {"test": recipes} if recipes else {}


def _mapping(known: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = known.get(key)
    return value if isinstance(value, dict) else {}


_READERS: dict[str, Callable[[str], Parts]] = {
    **dict.fromkeys(("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg"), _ini),
    **dict.fromkeys(("pytest.toml", ".pytest.toml"), _pytest_toml),
    **dict.fromkeys(("GNUmakefile", "makefile", "Makefile"), _makefile),
    "pyproject.toml": _pyproject,
    "package.json": _package,
    "Cargo.toml": _cargo,
}

"""Checks of Python projects: pytest or unittest, and ruff."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

from ahp.facts import formats
from ahp.policy.presets import PRESETS
from ahp.runner.verification import outcomes, tools
from ahp.runner.verification.check import PLUGIN, PLUGINS, RECORD, SCRATCH, Check, Ran
from ahp.runner.verification.project import Project, joined, tops, upper_first
from ahp.runner.verification.result import VerificationResult, detail
from ahp.system import process

_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "requirements.txt")
_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests)\.py$")
_PYTEST_FILES = ("pytest.ini", ".pytest.ini", "conftest.py")
_PYTEST_SETTINGS = re.compile(r"^\[(?:tool\.pytest|tool:pytest|pytest)\b", re.MULTILINE)
_OF_PYTEST = re.compile(r"^(?:import pytest|from pytest|(?:async )?def test_)", re.MULTILINE)
_OF_UNITTEST = re.compile(r"^[ \t]*(?:import|from) unittest\b", re.MULTILINE)
_LOOKED_AT = 40  # test files that are read to tell unittest from pytest
_RUFF_FILES = ("ruff.toml", ".ruff.toml")
_HOLDS_TESTS = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+[Tt]est", re.MULTILINE)
_HOLDS_METHODS = re.compile(rb"^[ \t]+(?:async[ \t]+)?def[ \t]+test", re.MULTILINE)
_PYTEST, _UNITTEST = (Path(__file__).with_name(f"{name}_outcomes.py") for name in ("pytest", "unittest"))
_NO_PYTEST = re.compile(r"No module named '?pytest'?\s*$")
_NO_TESTS = 5  # the exit code of unittest, since Python 3.12


def tests(project: Project, env: Mapping[str, str]) -> list[Check]:
    """The tests of every Python project in `project`, by pytest or unittest."""
    folders = project.folders_with(*_MANIFESTS)
    folders = folders if "." in folders else [".", *folders]
    found: list[Check] = []
    covered: list[str] = []
    for folder in folders:
        if "." in covered or any(folder.startswith(f"{one}/") for one in covered):
            continue
        inside = "" if folder == "." else f"{folder}/"
        inner = [f"{one}/" for one in folders if one not in (".", folder) and one.startswith(inside)]
        below = project.below(folder)
        files = [path for path in below if _TEST_FILE.search(path)]
        own = [path for path in files if not joined(folder, path).startswith(tuple(inner))]
        configured = _configures_pytest(project, folder)
        if own or configured:
            covered.append(folder)
            python = tools.interpreter(project, folder, env)
            script = () if configured else _script_of_tox(project, folder)
            if script:
                read = partial(outcomes.by_exit_code, what=script[0], file="tox.ini")
                found.append(Check("tox-test", "tests", folder, (python, *script), read, _active(python, env)))
                continue
            of_pytest = configured or _is_pytest(project, folder, below, own)
            found.append(_module(project, folder, files, python, env, of_pytest=of_pytest))
    return found


def _active(python: str, env: Mapping[str, str]) -> dict[str, str]:
    """What finds the programs beside an interpreter first, as in an active environment: tests start them by name."""
    return {"PATH": os.pathsep.join(filter(None, [os.path.dirname(python), env.get("PATH", "")]))}


def _configures_pytest(project: Project, folder: str) -> bool:
    named = (joined(folder, name) for name in ("pyproject.toml", "setup.cfg", "tox.ini"))
    settings = any(_PYTEST_SETTINGS.search(project.text(path)) for path in named)
    return settings or any(project.has(joined(folder, name)) for name in _PYTEST_FILES[:2])


def _script_of_tox(project: Project, folder: str) -> tuple[str, ...]:
    """The script of the project by which tox tests it, such as Django's `runtests.py`, with its arguments."""
    try:
        [read] = formats.documents("ini", project.text(joined(folder, "tox.ini")))
        lines = str(read.get("testenv", {}).get("commands") or "").splitlines()
        calls = [shlex.split(re.sub(r"\{posargs[^}]*\}", "", line).replace("{toxinidir}/", "")) for line in lines]
    except ValueError:
        return ()
    for words in calls:
        for at, word in enumerate(words):
            if (
                word.endswith(".py")
                and "{" not in "".join(words[at:])
                and project.has(joined(folder, os.path.normpath(word)))
            ):
                return (os.path.normpath(word), *words[at + 1 :])
    return ()


def _is_pytest(project: Project, folder: str, below: Sequence[str], files: Sequence[str]) -> bool:
    """Whether the tests are written for pytest: unittest alone needs no word of it."""
    if any(path.rpartition("/")[2] in _PYTEST_FILES for path in below):
        return True
    texts = [project.text(joined(folder, path)) for path in files[:_LOOKED_AT]]
    if any(map(_OF_PYTEST.search, texts)):
        return True
    return not any(map(_OF_UNITTEST.search, texts))


def _module(
    project: Project, folder: str, files: Sequence[str], python: str, env: Mapping[str, str], *, of_pytest: bool
) -> Check:
    """The check that runs pytest or unittest with a plugin of ours, by whose variables the interpreter finds it."""
    pytest = ("pytest", "-q", "--color=no", f"--override-ini=cache_dir={SCRATCH}", f"-p{PLUGIN}")
    argv = pytest if of_pytest else _discovering(project, folder, files)
    return Check(
        "pytest" if of_pytest else "unittest",
        "tests",
        folder,
        (python, "-m", *argv),
        partial(read_pytest, python=python) if of_pytest else read_unittest,
        # The plugin takes them back.
        {
            **_active(python, env),
            "PYTHONPATH": os.pathsep.join(filter(None, [PLUGINS, env.get("PYTHONPATH", "")])),
            "AHP_TEST_RECORD": RECORD,
        },
        files=files,
        toolchain=lambda: tools.python_versions(python, os.path.join(project.root, folder), env),
        plugin=_PYTEST if of_pytest else _UNITTEST,
    )


def _discovering(project: Project, folder: str, files: Sequence[str]) -> tuple[str, ...]:
    """unittest finds modules by one pattern, and only in packages; else it begins in the folder of the tests."""
    names = [path.rpartition("/")[2] for path in files]
    pattern = next((one for one in ("test*.py", "*_test.py") if all(fnmatch(name, one) for name in names)), "*test*.py")
    packaged = [path for path in files if _in_package(project, folder, path)]
    start = "." if packaged or not files else files[0].partition("/")[0]
    return (PLUGIN, "discover", "-s", start, "-p", pattern)


def _in_package(project: Project, folder: str, path: str) -> bool:
    """Whether each folder of a path is a package."""
    above = tools.upwards(path.rpartition("/")[0] or ".")[:-1]
    return all(project.has(joined(folder, f"{one}/__init__.py")) for one in above)


def read_pytest(ran: Ran, python: str) -> VerificationResult:
    """What a run of pytest found: our plugin sees each test run, whatever a report says of it in the end."""
    record = outcomes.recorded(ran)
    if record is None and _NO_PYTEST.search(ran.said):
        said, how = f"pytest is not installed for {python}", f"{python} -m pip install pytest"
        return VerificationResult("tool_missing", said, suggestion=how)
    if ran.code == 4 and b"while loading conftest" in ran.err:
        found = [detail(ran.directory, None, "a conftest.py cannot be loaded", ran.said)]
        said = "pytest could not load a conftest.py"
        return VerificationResult("collection_error", said, found, "Fix the conftest.py that it names.")
    if ran.code not in (0, 1, 2, _NO_TESTS) or (ran.code == 2 and record and not record.failed):
        return outcomes.crash(ran, "pytest")
    return _held_against(ran, "pytest", record, _HOLDS_TESTS)


def read_unittest(ran: Ran) -> VerificationResult:
    """What a run of unittest found. It was started here, so what it cannot find is no choice of the project's."""
    found = _held_against(ran, "unittest", outcomes.recorded(ran), _HOLDS_METHODS)
    unread = [path for path in found.left_out if found.ok]
    said = f"unittest did not find the tests of {', '.join(unread[:5])}"
    return outcomes.crash(ran, "unittest", said) if unread else found


def _held_against(ran: Ran, what: str, record: outcomes.Record | None, holds: re.Pattern[bytes]) -> VerificationResult:
    if record is None:
        return outcomes.crash(ran, what, f"{what} ended with {ran.code} and did not come to its end")
    ended = replace(ran, code=0) if ran.code == _NO_TESTS and not record.passed else ran
    return outcomes.of_record(ended, what, record, holds)


def ruff(project: Project, env: Mapping[str, str]) -> list[Check]:
    folders = set(project.folders_with(*_RUFF_FILES))
    folders |= {
        folder
        for folder in project.folders_with("pyproject.toml")
        if re.search(r"^\[tool\.ruff\b", project.text(joined(folder, "pyproject.toml")), re.MULTILINE)
    }
    return [_ruff_check(project, folder, env) for folder in tops(upper_first(folders))]


def _ruff_check(project: Project, folder: str, env: Mapping[str, str]) -> Check:
    program = tools.beside(tools.interpreter(project, folder, env), "ruff") or process.find("ruff", dict(env))
    return Check.by(
        *(program, "ruff", "lint", folder, PRESETS["ruff"]["run"][1:]),
        missing="ruff is configured, and not installed",
        suggestion="pip install ruff",
        read=_read_ruff,
        toolchain=lambda: [tools.file_version(program)],
    )


def _read_ruff(ran: Ran) -> VerificationResult:
    if ran.code not in (0, 1):
        return outcomes.crash(ran, "ruff")
    return outcomes.of_sarif(ran, "ruff", ran.out, "ruff check --fix fixes some of them.")

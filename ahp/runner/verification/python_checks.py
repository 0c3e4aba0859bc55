"""Checks of Python projects: pytest or unittest, and ruff."""

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ahp.facts import command_output
from ahp.facts.registry import Absent
from ahp.policy.presets import PRESETS
from ahp.runner.verification import outcomes, pytest_record, tools
from ahp.runner.verification.check import PLUGIN, PLUGINS, RECORD, REPORT, SCRATCH, Check, Ran
from ahp.runner.verification.project import Project, joined, tops, upper_first
from ahp.runner.verification.result import DETAILS, VerificationResult, counted, detail
from ahp.system import jsontext, process

_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "pytest.ini", "requirements.txt")
_TEST_FILE = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests)\.py$")
_PYTEST_FILES = ("pytest.ini", ".pytest.ini", "conftest.py")
_PYTEST_SETTINGS = re.compile(r"^\[(?:tool\.pytest|tool:pytest|pytest)\b", re.MULTILINE)
_OF_PYTEST = re.compile(r"^(?:import pytest|from pytest|(?:async )?def test_)", re.MULTILINE)
_OF_UNITTEST = re.compile(r"^[ \t]*(?:import|from) unittest\b", re.MULTILINE)
_LOOKED_AT = 40  # test files that are read to tell unittest from pytest
_RUFF_FILES = ("ruff.toml", ".ruff.toml")
_UNITTEST = str(Path(__file__).with_name("unittest_report.py"))


def tests(project: Project, env: Mapping[str, str]) -> list[Check]:
    """The tests of every Python project in `project`, by pytest or unittest."""
    folders = project.folders_with(*_MANIFESTS)
    folders = folders if "." in folders else [".", *folders]
    found: list[Check] = []
    covered: list[str] = []
    for folder in folders:
        if "." in covered or any(folder.startswith(f"{one}/") for one in covered):
            continue
        inner = [f"{one}/" for one in folders if one not in (".", folder) and one.startswith(_inside(folder))]
        below = project.below(folder)
        files = [path for path in below if _TEST_FILE.search(path)]
        own = [path for path in files if not joined(folder, path).startswith(tuple(inner))]
        configured = _configures_pytest(project, folder)
        if own or configured:
            covered.append(folder)
            python = tools.interpreter(project, folder, env)
            of_pytest = configured or _is_pytest(project, folder, below, own)
            found.append((_pytest if of_pytest else _unittest)(project, folder, files, python, env))
    return found


def _inside(folder: str) -> str:
    return "" if folder == "." else f"{folder}/"


def _configures_pytest(project: Project, folder: str) -> bool:
    named = (joined(folder, name) for name in ("pyproject.toml", "setup.cfg", "tox.ini"))
    settings = any(_PYTEST_SETTINGS.search(project.text(path)) for path in named)
    return settings or any(project.has(joined(folder, name)) for name in _PYTEST_FILES[:2])


def _is_pytest(project: Project, folder: str, below: Sequence[str], files: Sequence[str]) -> bool:
    """Whether the tests are written for pytest: unittest alone needs no word of it."""
    if any(path.rpartition("/")[2] in _PYTEST_FILES for path in below):
        return True
    texts = [project.text(joined(folder, path)) for path in files[:_LOOKED_AT]]
    if any(map(_OF_PYTEST.search, texts)):
        return True
    return not any(map(_OF_UNITTEST.search, texts))


def _pytest(project: Project, folder: str, files: Sequence[str], python: str, env: Mapping[str, str]) -> Check:
    argv = (
        *(python, "-m", "pytest", "-q", "--color=no", "--override-ini=junit_family=xunit1"),
        *(f"--override-ini=cache_dir={SCRATCH}", f"--junitxml={REPORT}", f"-p{PLUGIN}"),
    )
    paths = os.pathsep.join(filter(None, [PLUGINS, env.get("PYTHONPATH", "")]))
    return Check(
        "pytest",
        "tests",
        folder,
        argv,
        partial(pytest_record.read, python=python),
        env={"PYTHONPATH": paths, "AHP_TEST_RECORD": RECORD},
        files=files,
        narrowed=lambda chosen: (*argv, *(f"./{path}" for path in chosen)),  # a name may begin with a hyphen
        toolchain=lambda: tools.python_versions(python, os.path.join(project.root, folder), env),
        plugin=pytest_record.PLUGIN,
    )


def _unittest(project: Project, folder: str, files: Sequence[str], python: str, env: Mapping[str, str]) -> Check:
    argv = (python, _UNITTEST, REPORT, RECORD)
    return Check(
        "unittest",
        "tests",
        folder,
        argv,
        _read_unittest,
        files=files,
        narrowed=lambda chosen: (*argv, *chosen),
        toolchain=lambda: tools.python_versions(python, os.path.join(project.root, folder), env),
    )


def _read_unittest(ran: Ran) -> VerificationResult:
    found = outcomes.of_junit(ran, "unittest", not_collected=ran.code == 2)
    if not found.ok:
        return found
    try:
        record: Any = jsontext.decode((ran.record or b"").decode())
        not_run, left_out = int(record["not_run"]), [str(one) for one in record["left_out"]]
    except (ValueError, RecursionError, KeyError, TypeError):
        return outcomes.crash(ran, "unittest")
    if not_run:
        return outcomes.crash(
            ran, "unittest", f"unittest ended with {ran.code} before {counted(not_run, 'test')} had run"
        )
    return outcomes.less(found, (), left_out)


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
    if program is None:
        return Check(
            "ruff", "lint", folder, missing="ruff is configured, and not installed", suggestion="pip install ruff"
        )
    argv = (program, *PRESETS["ruff"]["run"][1:])
    return Check("ruff", "lint", folder, argv, _read_ruff, toolchain=lambda: [tools.file_version(program)])


def _read_ruff(ran: Ran) -> VerificationResult:
    if ran.code not in (0, 1):
        return outcomes.crash(ran, "ruff")
    try:
        output = command_output.read(ran.out, ran.code, "sarif", ran.folder, ".")
        if output.missing:
            raise output.missing
    except Absent as absent:
        return outcomes.crash(ran, "ruff", f"ruff ended with {ran.code}, and {absent}")
    if not output.count:
        return VerificationResult("passed", "ruff found nothing") if not ran.code else outcomes.crash(ran, "ruff")
    found = [
        detail(joined(ran.directory, str(one["path"])), int(str(one["line"])), str(one["message"]))
        for one in output.findings[:DETAILS]
    ]
    return VerificationResult(
        "lint_failure",
        f"ruff found {counted(output.count, 'violation')}",
        found,
        "ruff check --fix mends some of them.",
    )

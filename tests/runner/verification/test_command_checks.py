"""ahp.runner.verification.command_checks: commands of the settings, and those that build files imply"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.config import load_config
from ahp.runner.verification.command_checks import NamedCheck
from ahp.system.errors import AhpError
from tests.runner.verification.projects import checks, program, verify, write

JUNIT = '<testsuite><testcase name="a"/><testcase name="b"><failure message="no"/></testcase></testsuite>'
SARIF = '{"runs": [{"results": [{"message": {"text": "long"}, "locations": []}]}]}'


@pytest.mark.parametrize(
    ("report", "printed", "code", "kind", "summary"),
    [
        ("exit", "fine", 0, "passed", "own passed"),
        ("exit", "boom", 3, "test_failure", "own ended with 3"),
        ("exit", "", 127, "tool_missing", "own calls a program that is not installed"),
        ("junit", JUNIT, 1, "test_failure", "1 test failed, 1 passed"),
        ("junit", "green!", 0, "crash", "own ended with 0"),
        ("sarif", SARIF, 1, "lint_failure", "own found 1 violation"),
        ("tap", "ok 1 - a\nok 2 # SKIP later\n1..2\n", 0, "passed", "1 test passed, 1 skipped"),
        ("tap", "1..2\nok 1 - a\nnot ok 2 - b\n    not ok 1 - inner\n", 1, "test_failure", "1 test failed, 1 passed"),
        ("tap", "1..1\nnot ok 1 - a # TODO\n", 0, "passed", "1 test passed"),
        ("tap", "1..2\nok 1 - a\n", 0, "crash", "own ended with 0 before its tests had run"),
        ("tap", "ok 1\nBail out!\n1..1\n", 0, "crash", "own ended with 0 before its tests had run"),
        ("tap", "ok 1\n1..1\n", 1, "test_failure", "own ended with 1 although no test failed (1 passed)"),
    ],
)
def test_a_command_of_the_settings_is_read_by_its_report(
    tmp_path: Path, report: Any, printed: str, code: int, kind: str, summary: str
) -> None:
    write(tmp_path, printed=printed)
    found = verify(tmp_path, named=[NamedCheck(name="own", run=f"cat printed; exit {code}", report=report)])
    assert found.type == kind and found.summary.startswith(summary)


def test_a_report_may_be_a_file(tmp_path: Path) -> None:
    write(tmp_path, **{"lib/report": JUNIT})
    own = NamedCheck(name="own", run=("cp", "report", "{report}"), report="junit", directory="lib")
    assert verify(tmp_path, named=[own]).details[0].error == "b: no"


def test_named_checks_take_the_place_of_those_of_their_kind(repo: Any) -> None:
    """A project whose tests need settings of their own, as Django's do, is red without them."""
    settings = "import unittest, os\nclass T(unittest.TestCase):\n    def test_a(self): os.environ['SETTINGS']\n"
    write(
        repo.root,
        **{"tests/__init__.py": "", "tests/test_a.py": settings, "ruff.toml": "select = []\n", "Makefile": "test:\n"},
    )
    write(
        repo.root,
        **{"runtests.py": "import os, unittest\nos.environ['SETTINGS'] = '1'\nunittest.main('tests.test_a')\n"},
    )
    assert verify(repo.root, "tests").red
    write(repo.root, **{".ahp/agent.yaml": "checks:\n  - {name: own, run: python3 runtests.py}\n"})
    config = load_config(str(repo.root))
    found = verify(repo.root, named=config.checks)
    assert [(one.name, one.type) for one in found.checks] == [("ruff", "passed"), ("own", "passed")]


@pytest.mark.parametrize(
    "wrong", ["{name: Own, run: x}", "{name: own}", "{name: own, run: x, report: xml}", "{name: o, run: []}"]
)
def test_a_wrong_check_is_told_with_its_place(tmp_path: Path, wrong: str) -> None:
    write(tmp_path, **{".ahp/agent.yaml": f"checks:\n  - {wrong}\n"})
    with pytest.raises(AhpError, match=r"agent\.yaml:2:"):
        load_config(str(tmp_path))


def test_a_build_tool_is_judged_by_its_exit_code_and_its_wrapper_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, **{"app/pom.xml": "", "mix.exs": ""})
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    program(tmp_path / "bin/mix", '[ "$*" = "test" ] || exit 9')
    program(tmp_path / "app/mvnw", 'echo "[ERROR] Tests run: 3, Failures: 1"; exit 1')
    found = verify(tmp_path)
    assert [(one.name, one.type) for one in found.checks] == [("mix-test", "passed"), ("maven-test", "test_failure")]
    assert [one.partition(",")[0] for one in found.cautions] == ["Only the exit code of mix test is known"]
    assert "Failures: 1" in found.details[0].context
    assert found.details[0].file == "app/pom.xml"


def test_a_build_file_whose_tool_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, **{"pom.xml": ""})
    program(tmp_path / "bin/git", f'exec {shutil.which("git")} "$@"')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    found = verify(tmp_path)
    assert (found.red, found.type, found.summary) == (
        False,
        "tool_missing",
        "pom.xml is there, and mvn is not installed",
    )
    assert "checks:" in found.suggestion


def test_make_is_judged_by_its_exit_code(tmp_path: Path) -> None:
    write(tmp_path, Makefile="check:\n\t@echo so it is; exit 4\n")
    found = verify(tmp_path)
    assert (found.type, found.details[0].file) == ("test_failure", "Makefile")
    assert checks(tmp_path)["make-test"].command.endswith("make check")


@pytest.mark.slow
def test_folders_of_other_people_s_code_are_nobody_s_change(repo: Any) -> None:
    write(repo.root, **{"pytest.ini": "[pytest]\naddopts = -p no:xdist\n", "test_a.py": "def test_a(): pass\n"})
    repo.add()
    repo.commit("first")
    write(repo.root, **{".venv/lib/python3/site-packages/plugin.py": "def pytest_pyfunc_call(): pass\n"})
    assert verify(repo.root).type == "passed"

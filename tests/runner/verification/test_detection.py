"""ahp.runner.verification.project_verifier: what a project tells of its tests and linters"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.verification import project_verifier, python_checks
from ahp.runner.verification.project import Project
from ahp.runner.verification.tools import interpreter
from ahp.system.errors import AhpError
from tests.runner.verification.projects import checks, program, write

PAGE = Path(__file__).resolve().parents[3] / "docs" / "verification.md"
VITEST = json.dumps({"devDependencies": {"vitest": "3"}, "scripts": {"test": "vitest"}})
PYTHON = "def test_a(): pass\n"
UNITTEST = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, set()),
        ({"README.md": "test_it.py"}, set()),
        ({"pytest.ini": ""}, {"pytest"}),
        ({"conftest.py": "", "tests/test_a.py": UNITTEST}, {"pytest"}),
        ({"pyproject.toml": "[tool.pytest.ini_options]"}, {"pytest"}),
        ({"pyproject.toml": "[tool.ruff.lint]"}, {"ruff"}),
        ({"ruff.toml": "", "sub/ruff.toml": ""}, {"ruff"}),
        ({"setup.cfg": "[tool:pytest]"}, {"pytest"}),
        ({"tests/test_a.py": PYTHON}, {"pytest"}),
        ({"a_test.py": ""}, {"pytest"}),
        ({"tests/test_a.py": UNITTEST}, {"unittest"}),
        ({"app/tests.py": UNITTEST}, {"unittest"}),
        ({"tests/test_a.py": UNITTEST, "tests/test_b.py": PYTHON}, {"pytest"}),
        ({"tests/data.json": ""}, set()),
        ({"node_modules/x/test_a.py": PYTHON, "tests/fixtures/p/test_b.py": PYTHON}, set()),
        (
            {"lib/setup.py": "", "lib/tests/test_a.py": PYTHON, "web/package.json": VITEST},
            {"pytest in lib", "vitest in web"},
        ),
        (
            {"pyproject.toml": "[tool.pytest.ini_options]", "lib/pyproject.toml": "", "lib/test_a.py": PYTHON},
            {"pytest"},
        ),
        ({"package.json": '{"scripts": {"test": "node --test"}}'}, {"npm-test"}),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, set()),
        ({"package.json": "[]"}, set()),
        ({"package.json": '{"scripts": ["x"], "devDependencies": 3'}, set()),
        ({"package.json": "[" * 100_000}, set()),
        ({"package.json": '{"devDependencies": {"jest": "30"}}'}, {"jest"}),
        ({"package.json": '{"devDependencies": {"jest": "30"}, "scripts": {"test": "mocha"}}'}, {"npm-test"}),
        ({"package.json": "{}", "vitest.config.ts": ""}, {"vitest"}),
        ({"package.json": VITEST, "packages/a/package.json": VITEST}, {"vitest"}),
        ({"package.json": "{}", "a/package.json": VITEST, "b/package.json": VITEST}, {"vitest in a", "vitest in b"}),
        ({"eslint.config.mjs": "", "web/.eslintrc.json": ""}, {"eslint"}),
        ({"web/package.json": '{"eslintConfig": {}}'}, {"eslint in web"}),
        ({"go.mod": "module x", "tools/go.mod": "module y"}, {"go-test", "go-test in tools"}),
        ({"Cargo.toml": "[workspace]", "a/Cargo.toml": ""}, {"cargo-test"}),
        ({"pom.xml": "", "core/pom.xml": ""}, {"maven-test"}),
        ({"app/build.gradle.kts": "", "Rakefile": "Rake::TestTask.new"}, {"gradle-test in app", "rake-test"}),
        ({"Rakefile": "task :build", "composer.json": "{}"}, set()),
        (
            {"composer.json": '{"scripts": {"test": "phpunit"}}', "A.sln": "", "mix.exs": ""},
            {"composer-test", "dotnet-test", "mix-test"},
        ),
        ({"Makefile": "all:\n\ntest: all\n\ttrue\n"}, {"make-test"}),
        ({"Makefile": "test := 3\nx: test\n"}, set()),
        ({"Makefile": "test:\n\ttrue\n", "sub/Makefile": "test:\n", "test_a.py": PYTHON}, {"pytest"}),
        ({"Makefile": "check:\n\truff\n", "ruff.toml": ""}, {"ruff", "make-test"}),
    ],
)
def test_manifests_and_names_tell(tmp_path: Path, files: dict[str, str], found: set[str]) -> None:
    write(tmp_path, **files)
    assert set(checks(tmp_path)) == found


def test_in_a_repository_only_what_git_would_track_counts(repo: Any) -> None:
    write(repo.root, **{".gitignore": "build/\n", "build/test_a.py": PYTHON, "test_b.py": PYTHON})
    assert list(checks(repo.root)["pytest"].files) == ["test_b.py"]


def test_a_project_in_a_folder_of_a_repository_is_looked_at_alone(repo: Any) -> None:
    repo.commit("first", **{"go.mod": "module x", "lib/test_a.py": PYTHON})
    assert list(checks(repo.root / "lib")) == ["pytest"]
    write(repo.root, **{"lib/test_new.py": PYTHON, "other.py": ""})
    assert Project(str(repo.root / "lib")).changed == {"test_new.py"}


def test_linters_come_first_and_tests_behind_them(tmp_path: Path) -> None:
    write(tmp_path, **{"test_a.py": PYTHON, "ruff.toml": "", "web/package.json": VITEST, "eslint.config.js": ""})
    found = list(checks(tmp_path).values())
    assert [one.kind for one in found] == ["lint", "lint", "tests", "tests"]
    assert {one.kind for one in found} == set(project_verifier.KINDS)


def test_a_check_that_no_row_names_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, **{"ruff.toml": ""})
    monkeypatch.delitem(project_verifier.CHECKS, "ruff")
    monkeypatch.setitem(project_verifier.CHECKS, "ruffle", python_checks.ruff)
    with pytest.raises(AhpError, match="a check is called ruff, and no row"):
        checks(tmp_path)


def test_the_page_lists_every_check() -> None:
    [table] = re.findall(r"\| check \| where \|.*?\n\n", PAGE.read_text("utf-8"), re.DOTALL)
    first = [row.split("|")[1] for row in table.splitlines()[2:] if row]
    assert sorted(re.findall(r"`([\w-]+)`", " ".join(first))) == sorted(project_verifier.names())


def test_the_project_s_own_interpreter_is_taken(tmp_path: Path) -> None:
    root, active = tmp_path / "project", tmp_path / "active"
    write(root, **{"lib/a.py": "", "uv.lock": "", "poetry/poetry.lock": ""})
    on_path = program(tmp_path / "bin" / "python3", "")
    managed = program(tmp_path / "managed" / "python", "")

    def found(directory: str = ".", **env: str) -> str:
        return interpreter(Project(str(root)), directory, {"PATH": str(tmp_path / "bin"), **env})

    assert interpreter(Project(str(root)), ".", {"PATH": str(tmp_path / "none")}) == sys.executable
    assert found() == on_path
    program(tmp_path / "bin" / "uv", f'[ "$*" = "python find" ] && echo {managed}')
    assert found() == found("lib") == managed
    program(tmp_path / "bin" / "poetry", "echo /no/such/python")
    assert found("poetry") == managed  # uv's, from above
    program(tmp_path / "bin" / "uv", "exit 2")
    program(tmp_path / "bin" / "poetry", f'[ "$*" = "env info --executable" ] && echo {managed}')
    assert (found("poetry"), found()) == (managed, on_path)
    own = program(active / "bin" / "python", "")
    assert found(VIRTUAL_ENV=str(active)) == own
    own = program(root / ".venv" / "bin" / "python", "")
    assert found(VIRTUAL_ENV=str(active)) == found("lib") == own
    inner = program(root / "lib" / "venv" / "bin" / "python", "")
    assert (found("lib"), found()) == (inner, own)
    named = program(root / "env-of-uv" / "bin" / "python", "")
    assert found(UV_PROJECT_ENVIRONMENT="env-of-uv") == named


def test_programs_of_the_virtual_environment_come_first_for_python_tests(tmp_path: Path) -> None:
    write(tmp_path, **{"a/test_a.py": PYTHON, "a/setup.py": "", "b/tests.py": "", "b/run.py": "", "a/pytest.ini": ""})
    write(tmp_path, **{"b/tox.ini": "[testenv]\ncommands = python run.py\n"})
    bins = {one: os.path.dirname(program(tmp_path / one / ".venv/bin/python", "")) for one in "ab"}
    found = checks(tmp_path)
    assert found["pytest in a"].env["PATH"].split(os.pathsep)[0] == bins["a"]
    assert found["tox-test in b"].env["PATH"].split(os.pathsep)[0] == bins["b"]


def test_what_is_configured_and_not_there_is_missing_with_the_command_that_installs_it(tmp_path: Path) -> None:
    needs = json.dumps({"devDependencies": {"vitest": "3", "eslint": "9"}})
    write(tmp_path, **{"package.json": needs, "pnpm-lock.yaml": "", "eslint.config.js": ""})
    found = checks(tmp_path)
    assert {one.missing for one in found.values()} == {
        "vitest is not installed",
        "eslint is configured, and not installed",
    }
    assert {one.suggestion for one in found.values()} == {"pnpm install"}


def test_the_command_of_a_check_names_its_program(tmp_path: Path) -> None:
    write(tmp_path, **{"test_a.py": "import unittest\n"})
    assert checks(tmp_path)["unittest"].command.endswith(" -m unittest discover -s . -p test*.py")


def test_settings_of_an_eslint_that_no_package_names_are_no_check(tmp_path: Path) -> None:
    write(tmp_path, **{"package.json": VITEST, "web/.eslintrc.json": "{}"})
    assert list(checks(tmp_path)) == ["vitest"]
    write(tmp_path, **{"package.json": '{"scripts": {"lint": "eslint ."}}'})
    assert checks(tmp_path)["eslint in web"].missing == "eslint is configured, and not installed"
    program(tmp_path / "node_modules/.bin/eslint", "")
    write(tmp_path, **{"package.json": VITEST})
    assert checks(tmp_path)["eslint in web"].argv  # it came along with another package


def test_tools_that_are_not_on_the_path_are_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = '{"scripts": {"test": "x"}}'
    write(tmp_path, **{"go/go.mod": "", "rust/Cargo.toml": "", "web/package.json": node, "web/yarn.lock": ""})
    write(tmp_path, **{"py/ruff.toml": "", "make/Makefile": "test:\n"})
    program(tmp_path / "bin" / "git", f'exec {shutil.which("git")} "$@"')
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    missing = {name: one.missing for name, one in checks(tmp_path).items()}
    assert missing == {
        "ruff in py": "ruff is configured, and not installed",
        "npm-test in web": "yarn is not installed",
        "go-test in go": "go/go.mod is there, and go is not installed",
        "cargo-test in rust": "rust/Cargo.toml is there, and cargo is not installed",
    }
    assert checks(tmp_path / "make")["make-test"].missing == "Makefile is there, and make is not installed"

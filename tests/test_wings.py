"""Core works with a wing taken off: each is deleted from a copy of the package."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Repo
from tests.test_project import FLOORS, PACKAGE, PROJECT, WINGS

pytestmark = pytest.mark.no_cover  # what it runs, runs in a copy

POLICY = """\
version: 1
extends: [core]
rules:
  secret: {at: pre-commit, each: l in diff.added, block: "l.path == 'a.txt' and 'SECRET' in l.text"}
  calls: {at: pre-tool-use, block: "any(c.program == 'rm' for c in tool.commands)", on_missing: block}
"""
# In a process that finds this ahp alone: what stands in argv as a command line of it.
AHP = "import sys; sys.path.insert(0, sys.argv.pop(1)); from ahp.cli.main import main; main()"
IMPORTS = (
    "import importlib, sys; sys.path.insert(0, sys.argv[1]); "
    "[importlib.import_module(name) for name in sys.argv[2:]]; "
    "print(*sorted(name for name in sys.modules if name.startswith('ahp.')))"
)


ONE = [pytest.param([wing], id=wing, marks=pytest.mark.slow) for wing in WINGS]


@pytest.fixture(params=[*ONE, pytest.param(WINGS, id="all")])
def without(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, list[str]]:
    """The folder of a copy of the package, and the wings that it lacks."""
    gone: list[str] = request.param
    place = tmp_path / "copy"
    shutil.copytree(PACKAGE, place / "ahp", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PROJECT / "hooks", place / "hooks")
    for wing in gone:
        shutil.rmtree(place / "ahp" / wing)
    return place, gone


def ran(place: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", AHP, str(place), *arguments]
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def test_every_module_of_core_is_imported_without_it(without: tuple[Path, list[str]]) -> None:
    place, gone = without
    core = [path for floor in FLOORS for path in (place / "ahp" / floor).rglob("*.py")]
    names = [".".join(path.relative_to(place).with_suffix("").parts).removesuffix(".__init__") for path in core]
    names = [name for name in names if name != "ahp.hosts.agents.main"]  # what 0.3 installed finds the wing there
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS, str(place), *names], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not [name for name in done.stdout.split() if name.split(".")[1] in gone]


@pytest.mark.slow
def test_core_judges_without_it(without: tuple[Path, list[str]], repo: Repo) -> None:
    place, gone = without
    repo.write(".ahp/hooks.yaml", POLICY)
    helped = ran(place, "--help", cwd=repo.root).stdout
    assert "check" in helped
    assert ("stats" in helped) is ("insight" not in gone)
    assert ("the embedded agent runner" in helped) is ("runner" not in gone)
    installed = ran(place, "install", "git", cwd=repo.root)
    assert installed.returncode == 0, installed.stderr
    repo.commit("begin", **{".ahp/hooks.yaml": POLICY})
    repo.write("a.txt", "SECRET\n")
    repo.add()
    refused = repo.run("git", "commit", "-qm", "secret")
    assert refused.returncode == 1
    assert b"refused by secret" in refused.stderr
    repo.write("a.txt", "plain\n")
    repo.add()
    assert repo.run("git", "commit", "-qm", "plain").returncode == 0
    call = ran(place, "check", "pre-tool-use", "--facts", '{tool: {command: "rm a.txt"}}', cwd=repo.root)
    assert call.returncode == 1, call.stderr  # without a reader of shells the rule is undecided, and says block
    doctor = ran(place, "doctor", cwd=repo.root)
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr


@pytest.mark.slow
def test_core_s_own_tests_pass_without_any_wing(tmp_path: Path) -> None:
    """Those that name a wing are the wing's: they are left out, by their text."""
    place = tmp_path / "project"
    shutil.copytree(PROJECT, place, ignore=shutil.ignore_patterns("__pycache__", ".git", ".venv", ".*_cache"))
    for top in ("ahp", "tests"):
        for wing in WINGS:
            shutil.rmtree(place / top / wing)
    names_a_wing = re.compile(rf"\b(?:ahp|tests)\.(?:{'|'.join(WINGS)})\b")
    folders = [f"tests/{floor}" for floor in FLOORS if (place / "tests" / floor).is_dir()]
    for path in [path for folder in folders for path in (place / folder).rglob("test_*.py")]:
        if names_a_wing.search(path.read_text("utf-8")):
            path.unlink()
    chosen = "not wings and not tools and not clients and not runner and not box and not slow"
    env = {**os.environ, "PYTHONPATH": str(place)}
    asked = subprocess.check_output([sys.executable, "-c", "import ahp; print(ahp.__file__)"], cwd=tmp_path, env=env)
    assert asked.decode().startswith(str(place))
    argv = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "-m", chosen, *folders]
    done = subprocess.run(argv, cwd=place, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]

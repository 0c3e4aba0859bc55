"""ahp.runner.verification.project_verifier: a hit says so, and no hit survives a change of what the result hangs on"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.verification.project import Project
from ahp.runner.verification.result import VerificationResult
from tests.runner.verification.projects import program, verify, write

# A Python of the project's own that has a pytest: it counts how often it ran.
PYTHON = """\
[ "$1" = -c ] && exit
echo ran >> "$COUNT"
echo "{\\"passed\\": 1, \\"skipped\\": 0, \\"failed\\": [$(cat "$ROOT/more" 2>/dev/null)]}" > "$AHP_TEST_RECORD"
[ ! -e "$ROOT/more" ]
"""


class Scene:
    """A committed project with an environment of its own outside of git's sight."""

    def __init__(self, repo: Any, folder: Path) -> None:
        self.repo, self.root, self.count = repo, repo.root, folder / "count"
        files = {"pytest.ini": "[pytest]\n", "src/a.py": "x = 1\n", "tests/test_a.py": "", "data.json": "{}\n"}
        ignored = ".venv/\nlocal.cfg\n*.log\n"
        write(self.root, **files, **{".gitignore": ignored, "uv.lock": "a 1\n", "local.cfg": "1\n"})
        self.python = program(self.root / ".venv/bin/python", f"ROOT='{self.root}'; COUNT='{self.count}'\n{PYTHON}")
        write(self.root, **{".venv/pyvenv.cfg": "version = 3.11.7\n"})
        self.packages = self.root / ".venv/lib/python3.11/site-packages"
        (self.packages / "pytest-8.0.dist-info").mkdir(parents=True)
        repo.add()
        repo.commit("first")

    def verify(self, **settings: Any) -> VerificationResult:
        return verify(self.root, **settings)

    @property
    def runs(self) -> int:
        return len(self.count.read_text().split()) if self.count.exists() else 0


@pytest.fixture
def scene(repo: Any, tmp_path: Path) -> Scene:
    made = Scene(repo, tmp_path)
    assert made.verify().ok and made.runs == 1
    return made


def test_what_has_not_changed_does_not_run_again_and_says_so(scene: Scene) -> None:
    found = scene.verify()
    assert (found.ok, found.cached, scene.runs) == (True, True, 1)
    assert "nothing has changed since" in found.summary and found.checks[0].cached


def test_a_fresh_run_is_no_hit(scene: Scene) -> None:
    assert not scene.verify(use_cache=False).cached and scene.runs == 2


def _edit(path: str, text: str = "changed\n") -> Callable[[Scene, pytest.MonkeyPatch], None]:
    return lambda scene, patch: write(scene.root, **{path: text})


def _same_size_and_time(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    path = scene.root / "src/a.py"
    before = path.stat()
    path.write_text("x = 2\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _hidden_from_status(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    scene.repo.git("update-index", "--assume-unchanged", "src/a.py")
    write(scene.root, **{"src/a.py": "x = 3\n"})


def _not_checked_out(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    scene.repo.git("update-index", "--skip-worktree", "src/a.py")
    write(scene.root, **{"src/a.py": "x = 4\n"})


def _staged(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    write(scene.root, **{"src/a.py": "x = 5\n"})
    scene.repo.add()


def _executable(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    (scene.root / "src/a.py").chmod(0o755)


def _deleted(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    (scene.root / "src/a.py").unlink()


def _renamed(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    (scene.root / "src/a.py").rename(scene.root / "src/b.py")


def _committed(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    scene.repo.commit("second", **{"src/a.py": "x = 6\n"})


def _interpreter(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    with open(scene.python, "a") as file:
        file.write("# another\n")


def _interpreter_version(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    write(scene.root, **{".venv/pyvenv.cfg": "version = 3.12.1\n"})


def _tool_version(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    (scene.packages / "pytest-8.0.dist-info").rename(scene.packages / "pytest-8.1.dist-info")


def _new_plugin(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    (scene.packages / "pytest_fast-1.0.dist-info").mkdir()


def _variable(name: str) -> Callable[[Scene, pytest.MonkeyPatch], None]:
    return lambda scene, patch: patch.setenv(name, "other")


def _command(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    from ahp.runner.verification import python_checks

    patch.setattr(python_checks, "SCRATCH", "{scratch}/elsewhere")


def _version_of_ahp(scene: Scene, patch: pytest.MonkeyPatch) -> None:
    patch.setattr("ahp.runner.verification.project_verifier.__version__", "99")


CHANGES = {
    "a source": _edit("src/a.py"),
    "a source, of the same size and time": _same_size_and_time,
    "a source that git is told not to look at": _hidden_from_status,
    "a source that is not to be checked out": _not_checked_out,
    "a source, staged": _staged,
    "a source, committed": _committed,
    "a mode": _executable,
    "a source that is gone": _deleted,
    "a name": _renamed,
    "a test": _edit("tests/test_a.py"),
    "configuration": _edit("pytest.ini", "[pytest]\naddopts = -x\n"),
    "data": _edit("data.json", "{ }\n"),
    "a lock file": _edit("uv.lock", "a 2\n"),
    "an untracked file": _edit("src/new.py"),
    "an ignored file": _edit("local.cfg", "2\n"),
    "a new ignored file": _edit("x.log"),
    "the command": _command,
    "the interpreter": _interpreter,
    "the interpreter's version": _interpreter_version,
    "the tool's version": _tool_version,
    "another package": _new_plugin,
    "a variable": _variable("PYTHONPATH"),
    "the path": _variable("NODE_ENV"),
    "ahp": _version_of_ahp,
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_no_hit_survives_a_change(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, change: Callable[[Scene, pytest.MonkeyPatch], None]
) -> None:
    change(scene, monkeypatch)
    assert not scene.verify().cached
    assert scene.runs == 2


def test_a_variable_that_the_settings_list_counts(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not scene.verify(variables=["STAGE"]).cached
    assert scene.verify(variables=["STAGE"]).cached
    monkeypatch.setenv("STAGE", "")
    assert not scene.verify(variables=["STAGE"]).cached
    monkeypatch.setenv("OTHER", "1")
    assert scene.verify(variables=["STAGE"]).cached


def test_going_back_is_a_hit(scene: Scene) -> None:
    write(scene.root, **{"src/a.py": "x = 2\n"})
    assert not scene.verify().cached
    write(scene.root, **{"src/a.py": "x = 1\n"})
    assert scene.verify().cached and scene.runs == 2


def test_red_is_never_remembered(scene: Scene) -> None:
    write(scene.root, more='["t::a", "", 0, "no", "no"]')
    assert [scene.verify().type for _ in range(2)] == ["test_failure"] * 2
    assert scene.runs == 3


def test_what_the_run_itself_changes_is_not_remembered(scene: Scene) -> None:
    program(Path(scene.python), f"echo >> '{scene.root}/src/made.py'\n" + Path(scene.python).read_text())
    scene.verify()
    assert not scene.verify().cached


def test_an_ignored_file_that_the_run_writes_does_not_hinder(scene: Scene) -> None:
    program(Path(scene.python), f"echo >> '{scene.root}/test.log'\n" + Path(scene.python).read_text())
    assert not scene.verify().cached
    assert scene.verify().cached


def test_what_a_link_leads_to_outside_of_the_project_is_not_known(scene: Scene, tmp_path: Path) -> None:
    (scene.root / "near").symlink_to("data.json")
    assert [scene.verify().cached, scene.verify().cached] == [False, True]
    (tmp_path / "data").write_text("1")
    (scene.root / "data").symlink_to(tmp_path / "data")
    assert [scene.verify().cached, scene.verify().cached] == [False, False]


def test_changes_inside_of_a_repository_in_the_project_are_not_known(scene: Scene) -> None:
    inner = scene.root / "inner"
    inner.mkdir()
    scene.repo.git("init", "-q", str(inner))
    (inner / "a").write_text("1")
    assert Project(str(scene.root)).digest() is None
    assert not scene.verify().cached and not scene.verify().cached


@pytest.mark.parametrize("text", ["", "[]", "{", '{"KEY": 1}', '{"KEY": {"type": "test_failure", "summary": "red"}}'])
def test_a_damaged_memory_is_none(scene: Scene, text: str) -> None:
    [path] = (scene.root / ".git/ahp/cache/verification").iterdir()
    key = next(iter(json.loads(path.read_text())))
    path.write_text(text.replace("KEY", key))
    assert not scene.verify().cached
    assert scene.verify().cached


def test_where_nothing_can_be_written_it_runs_again(repo: Any, tmp_path: Path) -> None:
    (repo.root / ".git/ahp").write_text("in the way")
    scene = Scene(repo, tmp_path)
    assert scene.verify().ok and not scene.verify().cached and scene.runs == 2


def test_without_a_repository_it_runs_each_time(tmp_path: Path) -> None:
    write(tmp_path, **{"test_a.py": ""})
    python = program(tmp_path / ".venv/bin/python", f"ROOT='{tmp_path}'; COUNT='{tmp_path}/count'\n{PYTHON}")
    assert python and verify(tmp_path).ok and not verify(tmp_path).cached


def test_the_packages_of_an_interpreter_without_an_environment_count(repo: Any, tmp_path: Path) -> None:
    from ahp.runner.verification.tools import python_versions

    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    base = os.path.realpath(sys.executable)
    before = python_versions(base, str(tmp_path), env)
    assert any(line.startswith(f"{tmp_path} ") for line in before)
    (tmp_path / "x-1.dist-info").mkdir()
    assert python_versions(base, str(tmp_path), env) != before


def test_the_packages_of_node_count(tmp_path: Path) -> None:
    from ahp.runner.verification.tools import node_versions

    tool = program(tmp_path / "node_modules/jest/bin/jest", "")
    write(tmp_path, **{"node_modules/jest/package.json": "1", "node_modules/.package-lock.json": "1"})

    def told() -> list[str]:
        return node_versions(Project(str(tmp_path)), ".", tool, dict(os.environ))

    seen = [told()]
    for name in ("node_modules/jest/package.json", "node_modules/.package-lock.json", "node_modules/jest/bin/jest"):
        write(tmp_path, **{name: "22"})
        seen.append(told())
    assert len({tuple(one) for one in seen}) == 4
    assert node_versions(Project(str(tmp_path)), ".", None, {})[1] == "none"

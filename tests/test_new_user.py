"""The first five minutes on real projects: source archives from PyPI and npm, put under git. `make test-tools`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import OUTSIDE, Repo

pytestmark = pytest.mark.tools

AHP = str(Path(sys.executable).with_name("ahp"))
PROJECTS = ["pypi:click==8.1.7", "pypi:requests==2.32.3", "npm:express@4.19.2"]
LINES = 17  # five of them are git's own words on the commit


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gets a source archive once, with the package managers' own configuration."""
    got: dict[str, Path] = {}

    def of(project: str) -> Path:
        if project not in got:
            folder = tmp_path_factory.mktemp("archive")
            registry, _, name = project.partition(":")
            if registry == "npm" and shutil.which("npm") is None:
                pytest.skip("npm is not on this machine")
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", name]
            argv = pip if registry == "pypi" else ["npm", "pack", "--silent", name]
            done = subprocess.run(argv, cwd=folder, env=OUTSIDE, capture_output=True, check=False)
            assert done.returncode == 0, f"{name} could not be had: {os.fsdecode(done.stderr[-500:])}"
            (got[project],) = [path for path in folder.iterdir() if path.name.endswith((".tar.gz", ".tgz"))]
        return got[project]

    return of


@pytest.fixture(params=PROJECTS)
def clone(request: pytest.FixtureRequest, archive: Callable[[str], Path], tmp_path: Path) -> Repo:
    """A fresh clone of a repository that holds the project."""
    with tarfile.open(archive(request.param)) as packed:
        packed.extractall(tmp_path / "unpacked", filter="data")
    (inner,) = (tmp_path / "unpacked").iterdir()
    origin = Repo(inner)
    origin.git("init", "--quiet")
    origin.git("add", "--all", "--force")
    origin.git("commit", "--quiet", "--message", "Import")
    origin.git("clone", "--quiet", str(inner), str(tmp_path / "clone"))
    return Repo(tmp_path / "clone")


def adopt(repo: Repo) -> str:
    """What init, install and the first commit print."""
    done = repo.run("sh", "-c", f"{AHP} init && {AHP} install && git add .ahp && git commit -m 'chore: add ahp'")
    said = os.fsdecode(done.stdout + done.stderr)
    assert done.returncode == 0, said
    return said


def test_the_start_is_brief(clone: Repo) -> None:
    said = adopt(clone)
    assert len(said.splitlines()) <= LINES, said


def test_an_ordinary_commit_afterwards_prints_nothing(clone: Repo) -> None:
    adopt(clone)
    changed = [name for name in clone.git("ls-files").splitlines() if name.endswith((".py", ".js", ".md", ".rst"))]
    for name in changed[:5]:
        (clone.root / name).write_bytes((clone.root / name).read_bytes() + b"\n")
    clone.add()
    done = clone.run("git", "commit", "--quiet", "--message", "style: a last line")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_push_of_a_branch_says_only_that_no_policy_is_there_yet(clone: Repo) -> None:
    adopt(clone)
    clone.git("switch", "--quiet", "--create", "topic")
    clone.commit("style: nothing")
    done = clone.run("git", "push", "--quiet", "origin", "topic")
    told = [line for line in done.stderr.decode().splitlines() if "ahp" in line]
    assert done.returncode == 0, done.stderr
    # Nobody was at a terminal to accept the checkers that `ahp init` found: the first push says that, too.
    assert [line for line in told if "facts." not in line] == [
        "ahp: the remote has no policy yet: the one in this push is used"
    ]
    again = clone.run("git", "push", "--quiet", "origin", "topic:other")
    assert again.returncode == 0 and b"facts." not in again.stderr


def test_the_policy_that_was_written_is_one_that_lint_has_nothing_against(clone: Repo) -> None:
    adopt(clone)
    done = clone.run(AHP, "policy", "lint")
    assert (done.returncode, done.stdout) == (0, b"")

"""`.ci/judge`: this project's commits by its own policy, whatever clone CI made."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Repo

PROJECT = Path(__file__).resolve().parent.parent
AHP = str(Path(sys.executable).with_name("ahp"))


@pytest.fixture
def origin(repo: Repo) -> Repo:
    """A project that has our policy, and a commit made under it; its one branch is not called main."""
    repo.commit("Begin with a policy that is not ours yet", **{".ahp/hooks.yaml": "version: 1\nrules: {}\n"})
    for name in (".ci", ".ahp"):
        shutil.copytree(PROJECT / name, repo.root / name, dirs_exist_ok=True)
    repo.add()
    repo.commit("Be judged from here on")
    repo.git("switch", "--quiet", "--create", "work")
    repo.git("branch", "--quiet", "--delete", "--force", "main")
    repo.commit("Add a page", **{"page.md": "text\n"})
    return repo


def judged(clone: Repo) -> subprocess.CompletedProcess[bytes]:
    return clone.run(".ci/judge", AHP, env={"CI": "true"})


@pytest.mark.slow
def test_a_clone_without_main_or_remote_head_is_judged(origin: Repo, tmp_path: Path) -> None:
    clone = Repo(tmp_path / "clone")
    clone.root.mkdir()
    clone.git("init", "--quiet")
    clone.git("fetch", "--quiet", str(origin.root), "work")
    clone.git("checkout", "--quiet", "--detach", "FETCH_HEAD")
    done = judged(clone)
    assert done.returncode == 0, done.stderr
    assert b"1 commit after " in done.stdout and b"by the policy of main" in done.stdout
    clone.commit("wip")
    done = judged(clone)
    assert done.returncode == 1 and b"refused by subject-form" in done.stdout, done.stderr
    assert clone.git("status", "--porcelain") == clone.git("for-each-ref") == ""


@pytest.mark.slow
def test_a_shallow_clone_and_a_folder_without_history_are_no_failure(origin: Repo, tmp_path: Path) -> None:
    origin.commit("Add another page", **{"other.md": "text\n"})
    for depth, said in (("1", b"nothing to judge"), ("2", b"1 commit after ")):
        clone = Repo(tmp_path / depth)
        origin.git("clone", "--quiet", "--depth", depth, f"file://{origin.root}", str(clone.root))
        done = judged(clone)
        assert done.returncode == 0 and said in done.stdout, done.stdout + done.stderr
    released = Repo(origin.root / "released")
    shutil.copytree(PROJECT / ".ci", released.root / ".ci")
    done = judged(released)
    assert done.returncode == 0 and b"no history here" in done.stdout

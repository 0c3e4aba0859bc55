"""The recipe "Secret scanners" with the real gitleaks, detect-secrets and CredSweeper. `make test-tools`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.attended import attended
from tests.conftest import Repo
from tests.recipes.test_recipes import RECIPES

pytestmark = pytest.mark.tools

AHP = str(Path(sys.executable).with_name("ahp"))
SECRET = "hunter2-Xk39dPq81"
SCANNERS = {"gitleaks": "gitleaks-clean", "detect-secrets": "detect-secrets-clean", "credsweeper": "credsweeper-clean"}


@pytest.fixture
def repo(repo: Repo, tmp_path: Path) -> Repo:
    """A repository under the recipe, its commands accepted, with a remote that has its first branch."""
    if missing := [name for name in SCANNERS if shutil.which(name) is None]:
        pytest.fail(f"{', '.join(missing)}: not on PATH; run these tests with `make test-tools`")
    repo.git("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repo.write(".ahp/hooks.yaml", RECIPES["secret-scanners"][0])
    repo.write("old.py", f'password = "{SECRET}"\n')
    repo.add()
    repo.commit("Set up")
    repo.git("push", "--quiet", "origin", "HEAD:refs/heads/main")
    assert repo.run(AHP, "install", "git").returncode == 0
    assert attended([AHP, "trust"], repo.root)[0] == 0
    return repo


def push(repo: Repo, **env: str) -> tuple[bool, str]:
    """Whether a push of HEAD's commit to a branch of its own goes through, and what is said."""
    done = repo.run("git", "push", "origin", "HEAD:refs/heads/topic", env=env or None)
    return done.returncode == 0, os.fsdecode(done.stderr)


def test_what_they_find_in_pushed_files_is_told_with_its_place_and_without_the_secret(repo: Repo) -> None:
    repo.write("a b/clean.py", "import os\n")
    repo.add()
    repo.commit("Add a module")
    passed, said = push(repo)
    assert passed and "clean" not in said, said

    repo.write("a b/keys.py", f'import os\npassword = "{SECRET}"\n')
    repo.add()
    repo.commit("Add keys")
    passed, said = push(repo)
    assert not passed, said
    for rule in SCANNERS.values():
        assert rule in said
    assert said.count("a b/keys.py:2: ") >= 3 and "old.py" not in said
    assert SECRET not in said
    kept = [path for path in (repo.root / ".git/ahp").rglob("*") if path.is_file()]
    assert kept and not [path for path in kept if SECRET.encode() in path.read_bytes()]


def test_one_that_is_not_there_is_told(repo: Repo, tmp_path: Path) -> None:
    beside = tmp_path / "bin"
    beside.mkdir()
    for program in ("git", "python3", "sh"):
        (beside / program).symlink_to(str(shutil.which(program)))
    repo.write("a.py", "import os\n")
    repo.add()
    repo.commit("Add a module")
    passed, said = push(repo, PATH=str(beside))
    assert passed
    for fact, why in (("gitleaks", "gitleaks"), ("detect_secrets", "exit code 127"), ("credsweeper", "exit code 127")):
        assert f"{fact}.findings" in said and why in said, said

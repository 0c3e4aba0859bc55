"""ahp as a hook of the real pre-commit, prek and lefthook, in place of `ahp install git`. `make test-tools`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import OUTSIDE, Repo

pytestmark = pytest.mark.tools

PROJECT = Path(__file__).resolve().parent.parent
SHIPPED = (".pre-commit-hooks.yaml", "LICENSE", "README.md", "ahp", "hooks", "pyproject.toml")
POLICY = """\
version: 1
rules:
  no-txt: {at: [pre-commit, pre-push], block: "any(glob(path, '**/*.txt') for path in files.changed)"}
  ask-md: {at: pre-commit, prompt: "any(glob(path, '**/*.md') for path in files.changed)", message: "a page"}
  no-no: {at: commit-msg, block: "commit.subject == 'no'", message: say more}
"""


@pytest.fixture(params=["pre-commit", "prek", "lefthook"])
def managed(request: pytest.FixtureRequest, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository in which that tool runs ahp, from this project as it is."""
    tool: str = request.param
    if shutil.which(tool) is None:
        pytest.fail(f"{tool} is not on PATH: run these tests with `make test-tools`")
    if tool == "lefthook":
        shutil.copy(PROJECT / "hooks/lefthook.yml", repo.root / "ahp.yml")
        repo.write("lefthook.yml", "extends: [ahp.yml]\n")
        monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    else:
        for name, value in OUTSIDE.items():  # both install ahp with pip or uv, which have to find their index
            if name.startswith(("PIP_", "UV_", "SSL_", "HTTP", "http")):
                monkeypatch.setenv(name, value)
        source = Repo(tmp_path / "ahp")
        source.root.mkdir()
        source.git("init", "--quiet")
        for name in SHIPPED:
            place = PROJECT / name
            if place.is_dir():
                shutil.copytree(place, source.root / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(place, source.root / name)
        source.add()
        config = (
            "default_install_hook_types: [pre-commit, pre-merge-commit, commit-msg, pre-push]\n"
            f"repos: [{{repo: 'file://{source.root}', rev: {source.commit('Release')}, "
            "hooks: [{id: ahp}, {id: ahp-merge}, {id: ahp-message}, {id: ahp-push}]}]\n"
        )
        repo.write(".pre-commit-config.yaml", config)
    repo.write(".ahp/hooks.yaml", POLICY)
    repo.add()
    repo.commit("Set up")
    done = repo.run(tool, "install")
    assert done.returncode == 0, done.stderr
    return repo


def test_commits_messages_and_pushes_are_judged(managed: Repo, tmp_path: Path) -> None:
    repo = managed
    repo.git("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repo.git("push", "--quiet", "origin", "main")
    repo.git("switch", "--quiet", "--create", "topic")
    assert said(repo, "refused.txt", "Add a text")[0] == 1
    assert said(repo, "page.md", "no")[0] == 1
    code, told = said(repo, "page.md", "Add a page")
    assert code == 0 and "warned by ask-md" in told  # what passes is shown, too
    repo.git("push", "--quiet", "origin", "topic")
    repo.write("round.txt")
    repo.add()
    repo.commit("Go round the gate", "--no-verify")
    done = repo.run("git", "push", "origin", "topic")
    assert done.returncode and b"push refused by no-txt" in done.stdout + done.stderr


def said(repo: Repo, name: str, message: str) -> tuple[int, str]:
    """The end of a `git commit -a`, which judges an index of its own, and what was printed; a refused one is undone."""
    repo.write(name)
    repo.git("add", "--intent-to-add", name)
    done = repo.run("git", "commit", "--all", "--message", message)
    if done.returncode:
        repo.git("reset", "--quiet")
        (repo.root / name).unlink()
    return done.returncode, os.fsdecode(done.stdout + done.stderr)

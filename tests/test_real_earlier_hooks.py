"""ahp beside tools that write to .git/hooks and whose hooks it calls: husky 4, yorkie, simple-git-hooks, overcommit,
git-lfs.

`make test-tools`; git-lfs (`apt install git-lfs`) and overcommit (`gem install overcommit`) where they are on PATH.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.attended import attended
from tests.conftest import Repo
from tests.test_real_hook_managers import AHP, POLICY, ahp_blocks, call, state

pytestmark = pytest.mark.tools

INSTALLED = Path(__file__).parent.parent / "build/peers/hooks/node_modules"
CHECK = "echo ran >> .git/trace; test ! -e stop"
PACKAGE = """\
{
  "name": "tried", "version": "1.0.0",
  "husky": {"hooks": {"pre-commit": "%s"}},
  "gitHooks": {"pre-commit": "%s"},
  "simple-git-hooks": {"pre-commit": "%s"}
}
"""
OVERCOMMIT = """\
verify_signatures: false
PostCheckout: {ALL: {enabled: false}}
CommitMsg: {ALL: {enabled: false}}
PreCommit:
  ALL: {enabled: false}
  Trace: {enabled: true, command: [sh, -c, '%s']}
"""
INSTALL = {
    "husky": ("node_modules/husky", "node husky install"),
    "yorkie": ("node_modules/yorkie", "node bin/install.js"),
    "simple-git-hooks": (".", "node node_modules/simple-git-hooks/cli.js"),
    "overcommit": (".", "overcommit --install --force"),
}
TAKES_THE_PLACE = ("simple-git-hooks", "overcommit")  # husky 4 and yorkie leave alone what is there, and say so


class Tool:
    """A tool in a repository, with a pre-commit hook that leaves a trace and refuses while there is a file `stop`."""

    def __init__(self, repo: Repo, name: str) -> None:
        self.repo, self.name = repo, name

    def install(self) -> None:
        folder, command = INSTALL[self.name]
        as_npm = (f"INIT_CWD={self.repo.root}", "npm_config_user_agent=npm/10.8.2 node/v20.20.2 linux x64")
        call(self.repo, "env", *as_npm, "sh", "-c", f"cd {folder} && {command}")

    def runs(self) -> bool:
        """Whether a commit comes to its hook, which refuses it."""
        trace = self.repo.root / ".git/trace"
        trace.unlink(missing_ok=True)
        self.repo.write("stop")
        self.repo.add("stop")
        refused = self.repo.run("git", "commit", "--quiet", "--message", "Try").returncode != 0
        if not refused:
            self.repo.git("reset", "--quiet", "HEAD^")
        self.repo.git("rm", "--quiet", "--cached", "--ignore-unmatch", "stop")
        (self.repo.root / "stop").unlink()
        assert trace.exists() == refused
        return refused


@pytest.fixture(params=list(INSTALL))
def tool(request: pytest.FixtureRequest, repo: Repo) -> Tool:
    if request.param == "overcommit":
        if shutil.which("overcommit") is None:
            pytest.skip("overcommit is not on this machine")
        repo.write(".overcommit.yml", OVERCOMMIT % CHECK)
    elif not INSTALLED.exists():
        if shutil.which("npm") is None:
            pytest.skip("npm is not on this machine")
        pytest.fail("the tools are not there: run these tests with `make test-tools`")
    else:
        shutil.copytree(INSTALLED, repo.root / "node_modules", symlinks=True)
        repo.write("package.json", PACKAGE % (CHECK, CHECK, CHECK))
        repo.write(".gitignore", "node_modules\n")
    repo.write(".ahp/hooks.yaml", POLICY)
    repo.add()
    repo.commit("Set up")
    return Tool(repo, request.param)


def uninstall(repo: Repo) -> str:
    code, said = attended([AHP, "uninstall", "git"], repo.root)
    assert code == 0, said
    return said


def test_its_hooks_refuse_before_with_and_after_ahp(tool: Tool) -> None:
    tool.install()
    assert tool.runs() and not ahp_blocks(tool.repo)
    before = state(tool.repo)
    for _ in range(2):
        assert "earlier hooks keep running: pre-commit" in call(tool.repo, AHP, "install", "git")
        assert tool.runs() and ahp_blocks(tool.repo)
    assert "wrong" not in call(tool.repo, AHP, "doctor")
    uninstall(tool.repo)
    assert state(tool.repo) == before
    assert tool.runs() and not ahp_blocks(tool.repo)


def test_installed_later_it_is_told_and_mended_as_often_as_it_comes(tool: Tool) -> None:
    call(tool.repo, AHP, "install", "git")
    for _ in range(3):  # as each `npm install` does
        tool.install()
        if not ahp_blocks(tool.repo):
            assert "wrong" in os.fsdecode(tool.repo.run(AHP, "doctor").stdout)
            assert "wrong" not in call(tool.repo, AHP, "doctor", "--fix")
        assert ahp_blocks(tool.repo)
    assert tool.runs() == (tool.name in TAKES_THE_PLACE)
    uninstall(tool.repo)
    assert not ahp_blocks(tool.repo)


def test_what_was_removed_long_ago_is_not_revived(tool: Tool) -> None:
    tool.install()
    call(tool.repo, AHP, "install", "git")
    tool.repo.write(".git/hooks/pre-commit", "#!/bin/sh\n# another tool\n", 0o755)
    assert "does not run any more" in uninstall(tool.repo)
    (tool.repo.root / ".git/hooks/pre-commit").unlink()
    call(tool.repo, AHP, "install", "git")
    assert not tool.runs() and ahp_blocks(tool.repo)


@pytest.fixture
def lfs(repo: Repo, tmp_path: Path) -> Repo:
    """A repository that keeps *.bin in Git LFS, with a remote."""
    if shutil.which("git-lfs") is None:
        pytest.skip("git-lfs is not on this machine")
    repo.git("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    for name, value in (
        ("clean", "git-lfs clean -- %f"),
        ("smudge", "git-lfs smudge -- %f"),
        ("process", "git-lfs filter-process"),
    ):
        repo.git("config", f"filter.lfs.{name}", value)
    repo.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
    repo.write(".ahp/hooks.yaml", POLICY)
    repo.add()
    repo.commit("Set up")
    return repo


def push(repo: Repo, branch: str) -> tuple[int, str]:
    """How many objects of Git LFS a push of a new one brings to the remote, and what is said."""
    repo.write(f"{branch}.bin", f"content of {branch}\n")
    repo.add()
    repo.commit(f"Add {branch}")
    said = repo.run("git", "push", "origin", f"HEAD:refs/heads/{branch}")
    assert said.returncode == 0, said.stderr
    remote = Path(repo.git("remote", "get-url", "origin"))
    return len([path for path in (remote / "lfs/objects").rglob("*") if path.is_file()]), os.fsdecode(said.stderr)


def test_git_lfs_first_keeps_its_hooks(lfs: Repo) -> None:
    call(lfs, "git", "lfs", "install", "--local")
    call(lfs, AHP, "install", "git")
    objects, said = push(lfs, "one")
    assert objects == 1 and "git-lfs is missing" not in said
    assert ahp_blocks(lfs)
    assert "its hooks are reached" in call(lfs, AHP, "doctor")
    uninstall(lfs)
    assert push(lfs, "two")[0] == 2


def test_git_lfs_later_is_told_and_mended(lfs: Repo) -> None:
    said = call(lfs, AHP, "install", "git")
    mend = "git lfs update --force && ahp install git"
    assert f"so a push does not bring the content of its files; {mend}" in said
    assert lfs.run("git", "lfs", "install", "--local").returncode == 2
    objects, said = push(lfs, "one")
    assert objects == 0 and f"git-lfs is missing, so the content of its files is not pushed; fix: {mend}" in said
    assert lfs.run(AHP, "doctor").returncode == 1
    call(lfs, "sh", "-c", mend.replace("ahp", AHP))
    objects, said = push(lfs, "two")
    assert objects == 1 and "git-lfs is missing" not in said
    assert ahp_blocks(lfs)
    assert "wrong" not in call(lfs, AHP, "doctor")

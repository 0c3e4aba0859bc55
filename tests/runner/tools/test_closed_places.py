"""No tool gets into a git directory or changes ahp's policy, whatever the policy says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.run.agent import Agent
from ahp.runner.scripted import ScriptedModel
from ahp.runner.tools import project_files
from ahp.runner.tools.catalog import standard_tools
from ahp.runner.tools.tool import InvalidCall
from tests.conftest import Repo
from tests.runner.runs import call
from tests.runner.tools.conftest import Call

IN_GIT, OF_POLICY = "is in a git directory, which tools neither read", "is part of ahp's policy, which no tool changes"
POLICY = """\
version: 1
rules:
  no-shell: {at: pre-tool-use, block: "tool.name == 'shell'", message: no commands}
"""


def patch(path: str) -> str:
    return f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n"


def test_a_model_without_a_shell_gets_none_by_writing(repo: Repo) -> None:
    ran = repo.root.parent / "ran"
    evil = f"touch {ran}; false"
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY, "a.py": "x = 1\n"})
    monitor = f'[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "{evil}"\n'
    tries = {
        "shell": call("run_command", command="id"),
        ".git/config": call("write_file", path=".git/config", content=monitor),
        ".git/hooks/pre-commit": call("write_file", path=".git/hooks/pre-commit", content=f"#!/bin/sh\n{evil}\n"),
        "more": call("append_file", path=".git/config", content=monitor),
        "part": call("edit", path=".git/config", search="[core]", replace=monitor),
        "patch": call("apply_patch", patch=patch(".git/hooks/post-index-change")),
        ".ahp/hooks.yaml": call("write_file", path=".ahp/hooks.yaml", content="version: 1\n"),
        ".ahp/hooks.local.yaml": call("write_file", path=".ahp/hooks.local.yaml", content="version: 1\n"),
        ".ahp/agent.yaml": call("write_file", path=".ahp/agent.yaml", content="max_iterations: 1000\n"),
        "gone": call("apply_patch", patch="--- a/.ahp/hooks.yaml\n+++ /dev/null\n@@ -1 +0,0 @@\n-version: 1\n"),
        "work": call("write_file", path="a.py", content="x = 2\n"),
    }
    before = (repo.root / ".git/config").read_text()
    agent = Agent(
        ScriptedModel([*tries.values(), "done"]),
        standard_tools(print),
        gate=RepositoryGate(str(repo.root), session="s1"),
        config=AgentConfig(enable_planning=False, max_same_blocks=100),
        root=str(repo.root),
    )
    turn = agent.run("the task")
    assert turn.ok, turn
    results = [event for event in agent.events.seen if event["event"] == "tool_result"]
    told = {name: (event["code"], event["text"]) for name, event in zip(tries, results, strict=True)}
    assert (told["shell"][0], told["work"][0]) == ("blocked", "ok")
    for name in (".git/config", ".git/hooks/pre-commit", "more", "part", "patch"):
        assert told[name][0] == "E_INVALID_ARGS" and IN_GIT in told[name][1], told[name]
    for name in (".ahp/hooks.yaml", ".ahp/hooks.local.yaml", ".ahp/agent.yaml", "gone"):
        assert told[name][0] == "E_INVALID_ARGS" and OF_POLICY in told[name][1], told[name]
    assert (repo.root / ".git/config").read_text() == before and not ran.exists()
    assert repo.git("status", "--porcelain") == " M a.py"


@pytest.fixture
def project(repo: Repo, folder: Path, tmp_path: Path) -> Path:
    """A linked work tree in `folder`, with a submodule, a repository inside, and one whose git directory has a name of
    its own.
    """
    other = Repo(tmp_path / "other")
    other.root.mkdir()
    other.git("init", "-q")
    other.commit("first", a="1\n")
    repo.commit("first", a="1\n")
    folder.rmdir()
    repo.git("worktree", "add", "-q", "--detach", str(folder))
    here = Repo(folder)
    here.git("submodule", "--quiet", "add", str(other.root), "sub")
    here.git("init", "-q", "inner")
    here.git("init", "-q", "--separate-git-dir", "meta", "apart")
    here.git("init", "-q", "--bare", "bare")
    here.write("inner/.ahp/hooks.yaml", "version: 1\n")
    (folder / "link").symlink_to("inner/.git")
    (folder / "file").symlink_to("inner/.git/config")
    return folder


CLOSED = [
    *(".git", ".git/config", "./a/../.git/x", ".GIT/config", "inner/.git/config", "inner/.Git/hooks/new", "sub/.git"),
    *("link/config", "link/hooks/new", "file", "meta/config", "meta/hooks/new", "bare/config", "new/.git/config"),
    *("apart/.git", ".g\u200cit/config", "file://{root}/inner/.git/config", "/proc/self/cwd/inner/.git/config"),
]


@pytest.mark.parametrize("path", CLOSED)
def test_no_way_leads_into_a_git_directory(
    project: Path, call: Call, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.chdir(project)
    path = path.format(root=project)
    for name, more in {
        "write_file": {"content": "x"},
        "append_file": {"content": "x"},
        "edit": {"search": "a", "replace": "b"},
        "read_file": {},
        "list_files": {},
        "search": {"pattern": "x"},
    }.items():
        with pytest.raises(InvalidCall, match=IN_GIT):
            call(name, path=path, **more)
    with pytest.raises(InvalidCall, match=IN_GIT):
        call("run_command", command="true", workdir=path)
    if path[0] != "/" and ":" not in path:
        with pytest.raises(InvalidCall, match=IN_GIT):
            call("apply_patch", patch=patch(path))


def test_a_file_system_s_own_name_for_the_git_directory_is_known(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `GIT~1` is on NTFS: another name in the folder for the same directory."""
    real = os.lstat
    alias = str(project / "inner" / "GIT~1")

    def lstat(path: str) -> os.stat_result:
        return real(path.replace(alias, str(project / "inner" / ".git")))

    with monkeypatch.context() as patched:
        patched.setattr(project_files.os, "lstat", lstat)
        with pytest.raises(ValueError, match=IN_GIT):
            project_files.resolve(str(project), "inner/GIT~1/config")


def test_a_hard_link_leaves_the_file_in_the_git_directory_as_it_is(project: Path, call: Call) -> None:
    before = (project / "inner/.git/config").read_bytes()
    os.link(project / "inner/.git/config", project / "named")
    call("write_file", path="named", content="x")
    assert (project / "inner/.git/config").read_bytes() == before


def test_what_only_looks_like_it_is_open(project: Path, call: Call) -> None:
    for path in (".gitignore", ".github/x", "git/config", "x.git/config", "HEAD", "refs/x", ".ahpx/a"):
        call("write_file", path=path, content="x")
        assert call("read_file", path=path) == "x"
    assert not {".git", "inner/.git/config"} & set(call("list_files").splitlines())
    assert "bare/config" not in call("search", pattern="bare = true")


@pytest.mark.parametrize("last", ["HEAD", "objects/x", "refs/x"])
def test_no_git_directory_is_made(folder: Path, call: Call, last: str) -> None:
    """git takes any folder that looks like one for a bare repository, with the settings in it."""
    files = [path for path in ("HEAD", "objects/x", "refs/x") if path != last]
    for path in ("config", *files):
        call("write_file", path=f"sub/{path}", content="x")
    with pytest.raises(InvalidCall, match=IN_GIT):
        call("write_file", path=f"sub/{last}", content="x")
    assert call("read_file", path="sub/config") == "x"
    with pytest.raises(ValueError, match=IN_GIT):
        call("apply_patch", patch="".join(patch(f"new/{path}") for path in ("HEAD", "refs/x", "objects/x", "config")))
    assert not (folder / "new/objects").exists()


@pytest.mark.parametrize(
    "path", [".ahp/hooks.yaml", ".ahp/new/x", ".AHP/agent.yaml", "inner/.ahp/waivers.yaml", ".ahp"]
)
def test_the_policy_is_read_and_never_changed(project: Path, call: Call, path: str) -> None:
    (project / ".ahp").mkdir()
    (project / ".ahp/hooks.yaml").write_text("version: 1\n")
    for name, more in {"write_file": {"content": "x"}, "edit": {"search": "a", "replace": "b"}}.items():
        with pytest.raises(InvalidCall, match=OF_POLICY):
            call(name, path=path, **more)
    with pytest.raises(InvalidCall, match=OF_POLICY):
        call("apply_patch", patch=patch(path))
    assert call("read_file", path=".ahp/hooks.yaml") == "version: 1\n"
    call("write_file", path="tests/data/.ahp/hooks.yaml", content="version: 1\n")  # of no repository

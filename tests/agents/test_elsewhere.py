"""A call that writes into another repository where ahp is installed is judged by the policy there, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.agents import install
from ahp.system import git
from tests.agents.conftest import Ask, Call, found
from tests.conftest import Repo

HERE = "rules: {no-rm: {at: pre-tool-use, block: \"any(c.program == 'rm' for c in tool.commands)\", message: no rm}}\n"
THERE = """
rules:
  generated: {at: pre-tool-use, each: p in tool.writes, block: "glob(p, 'gen/**')", message: generated}
  careful: {at: pre-tool-use, each: p in tool.writes, prompt: "glob(p, 'src/**')", message: mind the tests}
  shape:
    at: pre-tool-use
    control: contains(tool.command, 'forbidden')
    message: that name is taken
    action: {type: replace, target: tool.input.command, pattern: forbidden, with: allowed}
  greet: {at: pre-tool-use, prompt: "contains(tool.command, 'hello')", message: hello}
  no-tag: {at: pre-tool-use, each: c in tool.commands, block: "c.program == 'git' and c.verb == 'tag'", message: no}
"""


@pytest.fixture
def other(project: Repo, tmp_path: Path) -> Repo:
    """Another repository, with hooks and rules of its own."""
    project.write(".ahp/hooks.yaml", HERE)
    there = Repo(tmp_path / "other")
    there.root.mkdir()
    there.git("init", "--quiet")
    there.commit("first", **{".ahp/hooks.yaml": THERE, "src/a.py": "x = 1\n"})
    install.install(git.discover(str(there.root), {"PATH": "/usr/bin:/bin"}), "claude", "")
    return there


def test_what_the_policy_there_refuses_is_refused_with_its_place(other: Repo, ask: Ask, call: Call) -> None:
    for told in (
        call("Write", file_path=f"{other.root}/gen/x", content="a\n"),
        call("Bash", command=f"echo a > {other.root}/gen/x"),
        call("Bash", command=f"cd {other.root} && echo a > gen/x"),
        call("Bash", command=f"git -C {other.root} tag v1"),
    ):
        said = ask(told)
        assert said.code == 2 and said.text.startswith(f"In {other.root}: ahp blocked: "), said


def test_what_it_warns_of_is_told_and_the_call_goes_on(other: Repo, ask: Ask, call: Call) -> None:
    said = ask(call("Write", file_path=f"{other.root}/src/a.py", content="x = 2\n"))
    assert said.code == 0 and f"In {other.root}: ahp note: careful" in said.text


def test_a_change_that_it_wants_is_a_refusal(other: Repo, ask: Ask, call: Call) -> None:
    said = ask(call("Bash", command=f"echo a > {other.root}/forbidden"))
    assert said.code == 2 and "that name is taken" in said.text and not (other.root / "allowed").exists()


def test_it_is_asked_only_where_ahp_is_installed_and_the_call_goes_there(other: Repo, ask: Ask, call: Call) -> None:
    assert ask(call("Bash", command=f"cat {other.root}/gen/x && git tag v1")) == (0, None, "")
    assert ask(call("Bash", command=f"rm {other.root}/gen/x")).text.startswith("ahp blocked: no-rm")
    for path in sorted((other.root / ".git/ahp").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (other.root / ".git/ahp").rmdir()
    assert ask(call("Write", file_path=f"{other.root}/gen/x", content="a\n")) == (0, None, "")


def test_a_work_tree_within_the_project_is_judged_as_one(project: Repo, ask: Ask, call: Call) -> None:
    project.commit("policy", **{".ahp/hooks.yaml": THERE, "src/a.py": "x = 1\n"})
    install.install(found(project), "claude", "")
    top = project.root / ".claude/worktrees/w"
    project.git("worktree", "add", "--quiet", str(top))
    for told in (
        call("Write", file_path=f"{top}/gen/x", content="a\n"),
        call("Bash", command=f"cd {top} && echo a > gen/x"),
        {**call("Bash", command="echo a > gen/x"), "cwd": str(top)},
    ):
        said = ask(told)
        assert said.code == 2 and said.text.startswith("In .claude/worktrees/w: ahp blocked: generated"), said
    assert ask(call("Bash", command=f"echo hello > {top}/x")).text.count("greet") == 1
    assert ask(call("Write", file_path=f"{top}/x", content="a\n")) == (0, None, "")
    for command in (f"git worktree remove {top}", f"rm -rf {top}", "git worktree remove .claude/worktrees/w"):
        assert ask(call("Bash", command=command)) == (0, None, "")


def test_a_call_into_many_repositories_is_not_judged_and_refused(
    other: Repo, ask: Ask, call: Call, tmp_path: Path
) -> None:
    tops = [tmp_path / f"r{number}" for number in range(9)]
    for top in tops:
        (top / ".git").mkdir(parents=True)
    said = ask(call("Bash", command="touch " + " ".join(f"{top}/x" for top in tops)))
    assert said.code == 2 and "9 repositories" in said.text

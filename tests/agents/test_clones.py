"""A push from a clone of the project in which ahp is not installed is judged as one from the project, or told."""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.hosts.git import install
from tests.agents.conftest import Ask, Call, found
from tests.conftest import Repo

POLICY = """
rules:
  no-key: {at: pre-commit, each: l in diff.added, block: "contains(l.text, 'KEY')", message: key}
  main: {at: pre-push, block: branch.is_default and not push.is_new, message: main is pushed to by review}
"""
QUIET = (0, None, "")


@pytest.fixture
def remote(project: Repo, tmp_path: Path) -> str:
    """The project's remote; the project has a policy and git's hooks."""
    there = str(tmp_path / "there.git")
    project.git("init", "--quiet", "--bare", there)
    project.git("remote", "add", "origin", there)
    project.commit("policy", **{".ahp/hooks.yaml": POLICY, "a.py": "x = 1\n"})
    install.install(found(project), "")
    project.git("push", "--quiet", "--no-verify", "--set-upstream", "origin", "HEAD")
    return there


def cloned(project: Repo, source: str, place: Path) -> Repo:
    project.git("clone", "--quiet", source, str(place))
    return Repo(place)


@pytest.mark.parametrize("of_remote", [True, False])
def test_a_push_from_a_clone_of_the_project_is_judged(
    project: Repo, remote: str, ask: Ask, call: Call, tmp_path: Path, of_remote: bool
) -> None:
    clone = cloned(project, remote if of_remote else str(project.root), tmp_path / "clone")
    clone.git("checkout", "--quiet", "-b", "topic")
    clone.commit("fine", **{"b.py": "y = 1\n"})
    place = clone.root
    for command in (f"git -C {place} push origin topic", f"cd {place} && git push origin topic"):
        assert ask(call("Bash", command=command)) == QUIET, command
    said = ask(call("Bash", command=f"cd {place} && git push origin topic:main"))
    assert said.code == 2 and said.text.startswith(f"In {place}: ahp blocked: main"), said
    clone.commit("key", **{"b.py": "KEY\n"})
    for told in (
        call("Bash", command=f"git -C {place} push origin topic"),
        {**call("Bash", command="git push origin topic"), "cwd": str(place)},
    ):
        said = ask(told)
        assert said.code == 2 and said.text.startswith(f"In {place}: ahp blocked: no-key"), said
    unknown = ask(call("Bash", command=f"cd {place} && git commit -qam y && git push origin topic"))
    assert unknown.code == 0 and f"In {place}: ahp: nothing judges this push: git does not come to ahp" in unknown.text
    assert not (place / ".git/ahp").exists()


def test_what_is_committed_there_and_other_repositories_are_nobodys_business(
    project: Repo, remote: str, ask: Ask, call: Call, tmp_path: Path
) -> None:
    clone = cloned(project, remote, tmp_path / "clone")
    clone.write("b.py", "KEY\n")
    clone.add()
    other = Repo(tmp_path / "other")
    other.root.mkdir()
    other.git("init", "--quiet")
    other.git("remote", "add", "origin", "https://git.test/other")
    other.commit("key", **{"b.py": "KEY\n"})
    for command in (
        f"git -C {clone.root} commit -m key",
        f"cd {clone.root} && git status && git push --dry-run",
        f"cd {other.root} && git push origin HEAD",
        f"cd {tmp_path} && git push",
        f"git clone {remote} {tmp_path}/new && ls {tmp_path}/new && git push origin HEAD:refs/heads/x",
        f"git clone https://git.test/other {tmp_path}/new && cd {tmp_path}/new && git push",
    ):
        assert ask(call("Bash", command=command)) == QUIET, command


def test_a_clone_that_the_call_itself_makes_pushes_nothing(
    project: Repo, remote: str, ask: Ask, call: Call, tmp_path: Path
) -> None:
    for command in (
        f"git clone . {tmp_path}/new && cd {tmp_path}/new && git commit -qam x && git push",
        f"git clone {remote} {tmp_path}/new; git -C {tmp_path}/new push origin x",
        f"git clone file://{project.root}/.git new && cd new && git push",
        f"cd {tmp_path} && git clone {remote} && cd there && git push",
    ):
        said = ask(call("Bash", command=command))
        assert said.code == 2 and "the call itself clones it; push in a call of its own" in said.text, command


def test_a_push_by_address_from_elsewhere_is_refused(
    project: Repo, remote: str, ask: Ask, call: Call, tmp_path: Path
) -> None:
    new, bare = tmp_path / "new", tmp_path / "bare.git"
    project.git("clone", "--quiet", "--bare", str(project.root), str(bare))
    clone = cloned(project, remote, tmp_path / "clone")
    for command in (
        f"git init -q {new}; cd {new}; git fetch -q {project.root} x; git push {remote} FETCH_HEAD:refs/heads/main",
        f"git init -q ../new && cd ../new && git push -q file://{remote} HEAD:main",
        f"cd {bare} && git push {remote} topic:main",
        f"git -C {bare} push origin topic:main",
        f"git -C {clone.root} push {remote} HEAD:main",
    ):
        said = ask(call("Bash", command=command))
        assert said.code == 2 and "to a remote of this project" in said.text, (command, said)
    project.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    for command in (
        f"git push {remote} HEAD:refs/heads/x",
        f"git -C {tmp_path}/side push origin side",
        f"git -C {tmp_path}/side push {remote} side",
        f"git init -q {new} && cd {new} && git push https://git.test/other HEAD",
    ):
        assert ask(call("Bash", command=command)).code == 0, command


def test_a_clone_that_takes_another_branch_for_the_default_one_pushes_nothing(
    project: Repo, remote: str, ask: Ask, call: Call, tmp_path: Path
) -> None:
    project.git("remote", "set-head", "origin", "main")
    project.git("checkout", "-q", "-b", "feature")
    clone = cloned(project, str(project.root), tmp_path / "clone")
    command = f"cd {clone.root} && git push origin HEAD:main"
    said = ask(call("Bash", command=command))
    assert said.code == 2 and "feature is the default branch, not main" in said.text, said
    clone.git("remote", "set-head", "origin", "main")
    said = ask(call("Bash", command=command))
    assert said.code == 2 and "ahp blocked: main" in said.text, said


def moved_by(project: Repo, ask: Ask, call: Call, command: str, session: str = "s1") -> str:
    """What is told after a call that runs `command`, whatever was said before it."""
    before = ask(call("Bash", command=command, session=session))
    done = project.run("sh", "-c", command)
    assert done.returncode == 0, (before, done.stderr)
    return ask(call("Bash", "PostToolUse", session=session, command=command)).text


def test_a_push_that_nothing_judged_is_told_after_the_call(
    project: Repo, remote: str, ask: Ask, call: Call, tmp_path: Path
) -> None:
    project.git("checkout", "-q", "-b", "topic")
    project.git("commit", "-q", "--allow-empty", "-m", "work")
    head = project.head()
    script = project.write("ship.sh", 'set -- push --no-"verify" origin topic:main\ngit "$@" -q\n')
    said = moved_by(project, ask, call, f"sh {script}")
    assert "refs/remotes/origin/main" in said and head[:10] in said and "no push of that was judged" in said
    project.git("commit", "-q", "--allow-empty", "-m", "more")
    other = tmp_path / "other"
    command = f"git init -q {other}; cd {other}; git fetch -q {project.root} topic; git push -q {remote} FETCH_HEAD:"
    assert "refs/heads/x" in moved_by(project, ask, call, f"{command}refs/heads/x")
    assert moved_by(project, ask, call, "git fetch -q origin") == ""
    assert moved_by(project, ask, call, "git push -q origin topic") == ""
    assert moved_by(project, ask, call, "git push -q origin :x") == ""
    assert moved_by(project, ask, call, "ls") == ""

"""ahp.hosts.git.push_command: pushes as git tells its hook of them, and as they were asked for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ahp.hosts.git import push_command
from ahp.hosts.git.push_command import PushCommand
from ahp.protocol.event import PushRef
from ahp.system import terminal
from tests.conftest import Repo
from tests.hosts.git.gated import Gated

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the command line of a process is read from /proc")

RULES = """\
version: 1
rules:
  no-force: {at: pre-push, block: push.is_force, message: "force to {push.ref}"}
"""


@pytest.fixture
def behind(gated: Gated, tmp_path: Path) -> Gated:
    """A clone whose main left what somebody else pushed since, and whose tag `v1` is another one there."""
    gated.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    gated.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    gated.git("tag", "v1")
    gated.git("push", "-q", "--no-verify", "origin", "main", "main:topic", "v1")
    gated.git("clone", "-q", str(tmp_path / "remote.git"), str(tmp_path / "else"))
    other = Repo(tmp_path / "else")
    other.commit("theirs", **{"theirs.txt": "1\n"})
    other.git("push", "-q")
    gated.policy(RULES)
    gated.commit("mine", **{"mine.txt": "1\n"})
    gated.git("branch", "topic")
    gated.git("tag", "-f", "v1")
    return gated


@on_linux
@pytest.mark.slow
def test_what_git_rejects_by_itself_is_not_called_forced(behind: Gated) -> None:
    for arguments, words in {
        ("push", "origin", "main"): "fetch first",
        ("push", "--force-with-lease", "origin", "topic:other"): "new branch",
        ("push", "origin", "main", "+topic"): "fetch first",
        ("push", "--force-if-includes", "origin", "HEAD"): "fetch first",
        ("push", "-o", "-f", "origin", "main"): "does not support push options",
        ("push", "origin", "v1"): "already exists",
    }.items():
        said = behind.say(*arguments)
        assert words in said.text and "ahp:" not in said.text, (arguments, said.text)


@pytest.mark.slow
def test_what_is_forced_is_judged_as_that(behind: Gated, tmp_path: Path) -> None:
    there = Repo(tmp_path / "remote.git").git("rev-parse", "main")
    behind.git("config", "alias.over", "!git push -uf origin")
    for arguments in (
        ("push", "--force", "origin", "main"),
        ("push", f"--force-with-l=main:{there}", "origin", "main"),
        ("push", "origin", "+main"),
        ("push", "origin", "+HEAD"),
        ("push", "origin", "+HEAD:refs/heads/main"),
        ("push", "origin", "topic", "+refs/heads/*:refs/heads/*"),
        ("-c", "remote.origin.push=+refs/heads/main:refs/heads/main", "push", "origin"),
        ("-c", "remote.origin.push=+refs/heads/*:refs/heads/*", "push", "origin", "main"),
        ("-c", "remote.origin.mirror=true", "push", "origin"),
        ("push", "--mir", "origin"),
        ("over", "main"),
        ("push", "-f", "origin", "v1"),
    ):
        said = behind.say(*arguments)
        assert said.code == 1 and "refused by no-force" in said.text, (arguments, said.text)


def test_a_command_that_is_not_known_may_be_a_forced_one(behind: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    repo, ref = behind.repository(), PushRef("refs/heads/main", "1" * 40, "refs/heads/main", "2" * 40)
    for lines, forced in (
        ([], None),
        ([["sh", "-c", "git push"]], None),
        ([["sh"], [], ["git", "push"]], None),
        ([["git", "hook", "run", "pre-push"], ["/usr/bin/git", "-C", "push", "push"]], False),
        ([["git", "subtree", "push", "-f"], ["git", "push", "-q"]], False),
        ([["/usr/libexec/git-core/git-push", "-f"]], True),
    ):
        monkeypatch.setattr(terminal, "commands", lambda lines=lines: iter(lines))
        assert PushCommand(repo, "origin").forces(ref) is forced, lines
    behind.write(".git/remotes/origin", "URL: x\nPush: +refs/heads/main:refs/heads/main\n")
    assert PushCommand(repo, "origin").forces(ref) is None


@pytest.mark.parametrize(
    ("refspec", "concerned"),
    [
        *[(one, True) for one in ("a/b", "b", "refs/heads/a/b", "HEAD", "@", "", ":", "x:dir/c", "x:c", "x:refs/*")],
        *[(one, False) for one in ("a", "c", "x:b", "x:r/c", "refs/heads/b", "x:refs/tags/c")],
    ],
)
def test_which_ref_a_refspec_moves(refspec: str, concerned: bool) -> None:
    ref = PushRef("refs/heads/a/b", "1" * 40, "refs/heads/dir/c", "2" * 40)
    assert push_command._concerns(refspec, ref) is concerned

"""A project policy that git has and the work tree lacks: nobody may commit as if there had never been one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.hosts.git import gated as making
from tests.hosts.git.gated import Gated

BLOCKS = 'version: 1\nrules:\n  all: {at: [pre-commit, pre-push], block: "files.changed_count > 0", message: stop}\n'


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Gated:
    made = making.make(tmp_path_factory.mktemp("template") / "repo")
    made.write(".ahp/hooks.yaml", BLOCKS)
    made.git("add", "-f", ".ahp/hooks.yaml")
    made.git("commit", "--quiet", "--no-verify", "-m", "policy")
    return made


@pytest.fixture
def ruled(template: Gated, tmp_path_factory: pytest.TempPathFactory) -> Gated:
    """A repository whose policy is committed and refuses every change; one file is staged."""
    made = making.copy(template, tmp_path_factory.mktemp("copy") / "repo")
    made.write("a/new.txt")
    made.git("add", "a/new.txt")
    return made


def remove(ruled: Gated) -> None:
    (ruled.root / ".ahp" / "hooks.yaml").unlink()


def empty(ruled: Gated) -> None:
    ruled.write(".ahp/hooks.yaml", "")


def remove_staged(ruled: Gated) -> None:
    ruled.git("rm", "--quiet", "-f", ".ahp/hooks.yaml")


def link_to_nothing(ruled: Gated) -> None:
    remove(ruled)
    (ruled.root / ".ahp" / "hooks.yaml").symlink_to("nothing")


def rename_folder(ruled: Gated) -> None:
    (ruled.root / ".ahp").rename(ruled.root / ".old")


def leave_out(ruled: Gated) -> None:
    ruled.git("update-index", "--refresh")  # the copy has time stamps of its own
    ruled.git("sparse-checkout", "set", "--cone", "a")


@pytest.mark.parametrize("lose", [remove, empty, remove_staged, link_to_nothing, rename_folder, leave_out])
def test_a_policy_that_the_work_tree_lacks_is_no_free_pass(ruled: Gated, lose: Callable[[Gated], None]) -> None:
    lose(ruled)
    said = ruled.say("commit", "-m", "x")
    assert said.code != 0
    assert "git has this policy, but the work tree does not" in said.text
    assert "git restore" in said.text and "ahp uninstall git" in said.text
    told = ruled.say("commit", "-m", "x", env={"CLAUDECODE": "1"})
    assert told.code != 0 and "git restore" in told.text and "uninstall" not in told.text


def test_a_push_is_refused_too(ruled: Gated) -> None:
    remove(ruled)
    ruled.git("init", "--quiet", "--bare", "../bare")
    said = ruled.say("push", "../bare", "HEAD:refs/heads/other")
    assert said.code != 0 and "the work tree does not" in said.text


def test_what_is_restored_judges_again(ruled: Gated) -> None:
    remove_staged(ruled)
    ruled.git("restore", "--staged", "--worktree", "--source=HEAD", ".ahp/hooks.yaml")
    assert "refused by all" in ruled.say("commit", "-m", "x").text


def test_where_git_knows_no_policy_nobody_judges(ruled: Gated) -> None:
    ruled.git("commit", "--quiet", "--no-verify", "-m", "x")
    ruled.git("checkout", "--quiet", "HEAD~2")  # before there was one
    ruled.write("b.txt")
    ruled.git("add", "b.txt")
    assert ruled.say("commit", "-m", "x").code == 0


def test_an_empty_policy_that_was_committed_as_such_judges_nothing(ruled: Gated) -> None:
    empty(ruled)
    ruled.git("commit", "--quiet", "--no-verify", "-am", "no rules any more")
    ruled.write("b.txt")
    ruled.git("add", "b.txt")
    assert ruled.say("commit", "-m", "x").code == 0

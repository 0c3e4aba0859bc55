"""ahp.hosts.git.mirror: what `git push --mirror` deletes is judged as far as it can be known."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import Repo
from tests.hosts.git.gated import Gated

BRANCH = 'keep-b: {at: pre-push, block: "push.is_delete and branch.name == \'b\'", message: "deletes {push.ref}"}'
TAGS = 'keep-tags: {at: pre-push, block: "push.is_delete and push.is_tag", message: "deletes {push.ref}"}'
MAIN = "keep-main: {at: pre-push, block: push.is_delete and branch.is_default, message: deletes the default branch}"
OTHERS = """\
  no-force: {at: pre-push, block: push.is_force, message: forced}
  names: {at: pre-push, block: "not push.is_delete and branch.name == 'c'", message: a name}
  refs: {at: pre-push, block: "push.ref == 'refs/tags/v1'", message: a tag}
"""
LISTED = "push --prune origin '+refs/*:refs/*'"


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the command line of a process is read from /proc")


@pytest.fixture
def remote(gated: Gated, tmp_path: Path) -> Repo:
    """What `gated` knows as origin: with the branches `b` and `other` and the tag `v1`, which are not here."""
    made = Repo(tmp_path / "remote.git")
    gated.git("init", "-q", "--bare", str(made.root))
    gated.git("remote", "add", "origin", str(made.root))
    gated.git("push", "-q", "--no-verify", "origin", "main", "main:b", "main:refs/tags/v1")
    made.git("branch", "other", "main")
    return made


def _policy(gated: Gated, *rules: str) -> None:
    gated.policy("version: 1\nrules:\n" + "".join([f"  {rule}\n" for rule in rules]) + OTHERS)


def test_a_rule_that_needs_the_name_of_what_is_deleted_refuses(gated: Gated, remote: Repo) -> None:
    _policy(gated, 'all: {at: pre-push, block: "push.is_delete and push.ref != \'x\'", message: "deletes {push.ref}"}')
    for arguments in (("push", "--mirror", "origin"), ("-c", "remote.origin.mirror=true", "push", "origin")):
        said = gated.say(*arguments)
        assert said.code == 1 and "refused by all" in said.text and "push.ref is missing" in said.text
    assert remote.git("branch", "--list", "b").strip() == "b"


def test_only_rules_about_deletions_are_asked_of_what_is_not_known(gated: Gated, remote: Repo) -> None:
    _policy(gated, MAIN)
    assert gated.say("push", "-q", "--dry-run", "--mirror", "origin") == (0, "")
    _policy(gated, TAGS)
    said = gated.say("push", "--mirror", "origin")
    assert said.code == 1 and "refused by keep-tags" in said.text and "push.is_tag is missing" in said.text
    assert f"git {LISTED}\n" in said.text
    assert said.text.count("ahp: push refused") == 1
    said = gated.say("-c", "remote.origin.mirror=true", "push", "origin")
    assert f"git -c remote.origin.mirror=false {LISTED}\n" in said.text
    # What is named there is listed by git, and judged as what it is.
    said = gated.say("-c", "remote.origin.mirror=false", "push", "--prune", "origin", "+refs/*:refs/*")
    assert said.code == 1 and "deletes 'refs/tags/v1'" in said.text
    remote.git("tag", "-d", "v1")
    assert gated.say("push", "-q", "--prune", "origin", "+refs/*:refs/*").code == 0
    assert remote.git("for-each-ref", "--format=%(refname)", "refs/heads") == "refs/heads/main"


def test_a_default_branch_that_is_not_here_may_be_deleted(gated: Gated, remote: Repo) -> None:
    _policy(gated, MAIN)
    gated.git("branch", "-m", "main", "renamed")
    said = gated.say("push", "--mirror", "origin")
    assert said.code == 1 and "refused by keep-main" in said.text and "branch.is_default is missing" in said.text


def test_a_new_mirror_loses_nothing_that_a_rule_of_the_default_branch_is_about(
    gated: Gated, remote: Repo, tmp_path: Path
) -> None:
    gated.git("init", "-q", "--bare", str(tmp_path / "backup.git"))
    _policy(gated, MAIN, BRANCH.replace("'b'", "'main'"))
    assert "refused by keep-b" in gated.say("push", "--mirror", str(tmp_path / "backup.git")).text
    _policy(gated, MAIN)
    assert gated.say("push", "-q", "--mirror", str(tmp_path / "backup.git")) == (0, "")

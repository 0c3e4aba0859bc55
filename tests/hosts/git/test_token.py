"""One Python start a quiet commit: what the first hook leaves for the later ones (design §9)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.hosts.git import token
from ahp.system.errors import AhpError
from tests.hosts.git import gated as making
from tests.hosts.git.gated import Gated

QUIET = "version: 1\nrules:\n  many: {at: pre-commit, block: files.changed_count > 100}\n"
MESSAGE = QUIET + "  wip: {at: commit-msg, block: commit.subject.startswith('wip')}\n"
AFTER = QUIET + "  after: {at: post-commit, aid: files.changed_count > 100}\n"


def starts(of: Path) -> list[str]:
    """The hooks that started Python since the last look."""
    found = [line.split()[1] if line.startswith("/") else line.split()[0] for line in of.read_text().splitlines()]
    of.write_text("")
    return found


def commit(gated: Gated, name: str, *options: str) -> None:
    gated.write(name)
    gated.add(name)
    assert gated.say("commit", "-q", "-m", "x", *options).code == 0


def test_a_quiet_commit_starts_python_once(gated: Gated, tmp_path: Path) -> None:
    gated.policy(QUIET)
    count = making.count_starts(gated, tmp_path)
    commit(gated, "a.txt")
    assert len(count.read_text().splitlines()) == 1
    assert starts(count) == ["pre-commit"]
    gated.git("checkout", "-q", "--detach")
    commit(gated, "b.txt")
    assert starts(count) == ["pre-commit"]
    gated.git("checkout", "-q", "--orphan", "fresh")
    commit(gated, "c.txt")
    assert starts(count) == ["pre-commit"]


def test_a_quiet_commit_in_a_linked_worktree_starts_python_once(gated: Gated, tmp_path: Path) -> None:
    gated.policy(QUIET)
    gated.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = Gated(tmp_path / "linked")
    count = making.count_starts(gated, tmp_path)
    commit(linked, "a.txt")
    assert starts(count) == ["pre-commit"]


def test_a_quiet_merge_starts_python_once(gated: Gated, tmp_path: Path) -> None:
    gated.git("checkout", "-q", "-b", "side")
    gated.commit("side", "--no-verify", **{"a.txt": "1\n"})
    gated.git("checkout", "-q", "main")
    gated.commit("main", "--no-verify", **{"b.txt": "1\n"})
    gated.policy("version: 1\nrules:\n  many: {at: pre-merge-commit, block: files.changed_count > 100}\n")
    count = making.count_starts(gated, tmp_path)
    assert gated.say("merge", "-q", "--no-edit", "side").code == 0
    assert starts(count) == ["pre-merge-commit"]


def test_a_rule_on_the_message_starts_commit_msg_and_one_afterwards_post_commit(gated: Gated, tmp_path: Path) -> None:
    count = making.count_starts(gated, tmp_path)
    gated.policy(MESSAGE)
    commit(gated, "a.txt")
    assert starts(count) == ["pre-commit", "commit-msg"]
    gated.policy(AFTER)
    commit(gated, "b.txt")
    assert starts(count) == ["pre-commit", "post-commit"]


def test_without_pre_commit_the_later_hooks_work(gated: Gated, tmp_path: Path) -> None:
    gated.policy(QUIET)
    count = making.count_starts(gated, tmp_path)
    commit(gated, "a.txt", "--no-verify")
    assert starts(count) == ["post-commit"]


def test_a_word_counts_once_and_for_its_git_process_and_head_only(gated: Gated, tmp_path: Path) -> None:
    gated.policy(QUIET)
    commit(gated, "a.txt")
    left = gated.root / ".git" / "ahp-token"
    assert left.read_bytes() == b""
    count = making.count_starts(gated, tmp_path)
    gated.write("b.txt")
    gated.add()
    # A word that claims to be for this commit, but by another process.
    left.write_text("1 refs/heads/main quiet quiet forged\n")
    assert gated.say("commit", "-q", "-m", "x", "--no-verify").code == 0
    assert starts(count) == ["post-commit"]
    assert [record["reason"] for record in gated.log("bypass")] == ["no pre-commit hook judged this commit"]


def test_the_word_of_an_aborted_commit_is_not_believed_later(gated: Gated, tmp_path: Path) -> None:
    gated.policy(QUIET)
    gated.write("a.txt")
    gated.add()
    assert gated.say("commit", "-m", "").code != 0  # judged, then git refuses the empty message
    assert (gated.root / ".git" / "ahp-token").read_bytes() != b""
    assert gated.say("commit", "-q", "-m", "x", "--no-verify").code == 0
    # The content was judged and allowed a moment ago: nothing went round anything.
    assert gated.log("bypass") == []


def test_a_token_tells_what_was_left(gated: Gated) -> None:
    repo = gated.repository()
    assert token.find(repo, "7") is None
    token.leave(repo, "7", "git:7:a", message=True, after=False)
    found = token.find(repo, "7")
    assert found is not None
    assert (found.parent, found.head, found.message, found.after, found.attempt) == (
        "7",
        "refs/heads/main",
        True,
        False,
        "git:7:a",
    )
    assert token.find(repo, "8") is None
    token.withdraw(repo)
    assert token.find(repo, "7") is None


def test_a_token_that_cannot_be_written_is_an_error_and_taking_it_back_is_not(gated: Gated) -> None:
    repo = gated.repository()
    os.mkdir(gated.root / ".git" / "ahp-token")
    with pytest.raises(AhpError, match="cannot write"):
        token.leave(repo, "7", "git:7:a", message=True, after=False)
    token.withdraw(repo)

"""One Python start a quiet commit: what the first hook leaves for the later ones (design §9)."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from ahp.hosts.git import staged, token
from ahp.hosts.git.githooks import Hook
from ahp.protocol.event import Actor, Workspace
from ahp.system.errors import AhpError
from tests.hosts.git import gated as making
from tests.hosts.git.conftest import Ask
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
    assert starts(count)[-1] == "post-commit"


def test_where_nobody_types_the_message_one_start_judges_content_and_message(gated: Gated, tmp_path: Path) -> None:
    gated.policy(MESSAGE)
    commit(gated, "a.txt")  # from here on it is known that messages are judged
    count = making.count_starts(gated, tmp_path)
    commit(gated, "b.txt")
    assert starts(count) == ["commit-msg"]
    judged = [record["hook"] for record in gated.log("verdict")][-2:]
    assert judged == ["pre-commit", "commit-msg"]
    assert gated.log("bypass") == []


def test_content_left_to_commit_msg_is_refused_there(gated: Gated) -> None:
    gated.policy(MESSAGE)
    commit(gated, "a.txt")
    gated.policy(MESSAGE + "  never: {at: pre-commit, block: \"'c.txt' in files.changed\", message: not this one}\n")
    gated.write("c.txt")
    gated.add()
    said = gated.say("commit", "-q", "-m", "feat: x")
    assert said.code != 0
    assert "not this one" in said.text


def test_only_a_commit_leaves_its_content_to_commit_msg(gated: Gated) -> None:
    gated.policy(MESSAGE + "  never: {at: pre-commit, block: \"'c.txt' in files.changed\", message: not this one}\n")
    commit(gated, "a.txt")
    gated.write("c.txt")
    gated.add()
    said = gated.say("hook", "run", "pre-commit", env={"GIT_EDITOR": ":"})
    assert said.code != 0
    assert "not this one" in said.text


@pytest.mark.parametrize("name", ["prepare-commit-msg", "commit-msg.before-ahp"])
def test_what_another_hook_hides_from_the_index_is_judged_before(gated: Gated, name: str) -> None:
    gated.policy(MESSAGE + "  never: {at: pre-commit, block: \"'c.txt' in files.changed\", message: not this one}\n")
    commit(gated, "a.txt")
    hides = gated.root / ".git" / "hooks" / name
    hides.write_text("#!/bin/sh\nexec git rm --cached -q c.txt\n")
    hides.chmod(0o755)
    gated.write("c.txt")
    gated.add()
    said = gated.say("commit", "-q", "-m", "feat: x")
    assert said.code != 0
    assert "not this one" in said.text


def test_hooks_of_gits_settings_may_change_the_index_so_content_is_judged_before(gated: Gated, tmp_path: Path) -> None:
    """git 2.54 runs them before the hook of the folder; older ones read the settings and run nothing."""
    gated.policy(MESSAGE)
    commit(gated, "a.txt")
    count = making.count_starts(gated, tmp_path)
    gated.git("config", "hook.mine.command", "true")
    commit(gated, "b.txt")
    assert starts(count) == ["pre-commit", "commit-msg"]


def test_wherever_git_finds_our_hooks_one_start_judges_both(gated: Gated, tmp_path: Path) -> None:
    gated.policy(MESSAGE)
    commit(gated, "a.txt")
    gated.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = Gated(tmp_path / "linked")
    linked.write(".ahp/hooks.yaml", MESSAGE)
    commit(linked, "b.txt")  # from here on it is known there, too
    count = making.count_starts(gated, tmp_path)
    commit(linked, "c.txt")
    assert starts(count) == ["commit-msg"]
    for folder in (".git/hooks", str(gated.root / ".git" / "hooks")):
        gated.git("config", "core.hooksPath", folder)
        commit(gated, f"{len(folder)}.txt")
        assert starts(count) == ["commit-msg"]


def test_a_longer_token_leaves_nothing_that_counts(gated: Gated) -> None:
    repo = gated.repository()
    token.leave(repo, "1234567", "git:1234567:abcdef", message=True, after=True)
    token.leave(repo, "7", "git:7:a", message=False, after=False)
    assert token.find(repo, "1234567") is None
    found = token.find(repo, "7")
    assert found is not None and found.attempt == "git:7:a"


@pytest.mark.parametrize(("name", "believes"), [("commit-msg", True), ("post-commit", True), ("pre-push", False)])
def test_what_begins_a_git_command_is_an_attempt_of_its_own(gated: Gated, name: str, believes: bool) -> None:
    repo = gated.repository()
    token.leave(repo, "7", "forged", message=True, after=True)
    where = Workspace(repo.root, repo.ahp_dir, repo.env, repo)
    assert (Hook(name, "7", [], Actor("agent", "claude"), repo, where).attempt() == "forged") is believes


def test_with_an_editor_the_content_is_judged_before_the_message_is_typed(gated: Gated, tmp_path: Path) -> None:
    gated.policy(MESSAGE)
    commit(gated, "a.txt")
    count = making.count_starts(gated, tmp_path)
    gated.write("b.txt")
    gated.add()
    gated.run("git", "-c", "core.editor=echo feat: typed >", "commit", "-q")
    assert starts(count) == ["pre-commit", "commit-msg"]


def test_without_our_commit_msg_pre_commit_judges_itself(gated: Gated, tmp_path: Path) -> None:
    gated.policy(MESSAGE)
    commit(gated, "a.txt")
    count = making.count_starts(gated, tmp_path)
    theirs = gated.root / ".git" / "hooks" / "commit-msg"
    theirs.unlink()
    theirs.write_text("#!/bin/sh\nexit 0\n")
    theirs.chmod(0o755)
    commit(gated, "b.txt")
    assert starts(count)[0] == "pre-commit"


def test_without_pre_commit_the_later_hooks_work(gated: Gated, tmp_path: Path) -> None:
    gated.policy(QUIET)
    count = making.count_starts(gated, tmp_path)
    commit(gated, "a.txt", "--no-verify")
    assert starts(count) == ["post-commit"]


def test_a_word_counts_once_and_for_its_git_process_and_head_only(gated: Gated, tmp_path: Path) -> None:
    gated.policy(QUIET)
    commit(gated, "a.txt")
    left = gated.root / ".git" / "ahp-token"
    assert left.read_bytes().startswith(b"-\n")
    count = making.count_starts(gated, tmp_path)
    gated.write("b.txt")
    gated.add()
    # A word that claims to be for this commit, but by another process.
    left.write_text(f"1 refs/heads/main quiet quiet forged {gated.git('write-tree')}")
    assert gated.say("commit", "-q", "-m", "x", "--no-verify").code == 0
    assert starts(count) == ["post-commit"]


def test_the_word_of_an_aborted_commit_is_not_believed_later(gated: Gated, tmp_path: Path) -> None:
    gated.policy(QUIET)
    gated.write("a.txt")
    gated.add()
    assert gated.say("commit", "-m", "").code != 0  # judged, then git refuses the empty message
    assert b" quiet quiet " in (gated.root / ".git" / "ahp-token").read_bytes().splitlines()[0]
    assert gated.say("commit", "-q", "-m", "x", "--no-verify").code == 0
    # The content was judged and allowed a moment ago: nothing went round anything.
    assert gated.log("bypass") == []


def test_a_token_tells_what_was_left(gated: Gated) -> None:
    repo = gated.repository()
    assert token.find(repo, "7") is None
    token.leave(repo, "7", "git:7:a", message=True, after=False, tree="ab12")
    found = token.find(repo, "7")
    assert found is not None
    assert (found.deferred, found.attempt, found.tree) == ("", "git:7:a", "ab12")
    assert token.find(repo, "8") is None
    token.withdraw(repo)
    assert token.find(repo, "7") is None


def test_a_token_that_cannot_be_written_is_an_error_and_taking_it_back_is_not(gated: Gated) -> None:
    repo = gated.repository()
    os.mkdir(gated.root / ".git" / "ahp-token")
    with pytest.raises(AhpError, match="cannot write"):
        token.leave(repo, "7", "git:7:a", message=True, after=False)
    token.withdraw(repo)


def test_another_commit_of_the_same_git_process_is_another_attempt(gated: Gated, ask: Ask) -> None:
    gated.policy(QUIET)
    assert ask("pre-commit") == (0, "")
    assert ask("pre-commit") == (0, "")
    first, second = [record["attempt"] for record in gated.log("verdict")]
    assert first.startswith("git:1:")
    assert second.startswith("git:1:")
    assert token.find(gated.repository(), "1") is not None


def test_the_later_hooks_belong_to_the_attempt_of_the_first(gated: Gated, ask: Ask, tmp_path: Path) -> None:
    gated.policy(MESSAGE + "  after: {at: post-commit, aid: files.changed_count > 100}\n")
    (tmp_path / "MSG").write_text("words\n")
    assert ask("pre-commit") == (0, "")
    assert ask("commit-msg", str(tmp_path / "MSG")) == (0, "")
    assert ask("post-commit")[0] == 0
    assert len({record["attempt"] for record in gated.log("verdict")}) == 1
    assert [hook for hook, _ in gated.judged()] == ["pre-commit", "commit-msg", "post-commit"]


def test_a_mark_that_cannot_be_taken_away_is_an_error(gated: Gated) -> None:
    mark = gated.root / ".git" / "ahp-message"
    token.allow_deferring(gated.repository(), True)
    assert mark.exists()
    token.allow_deferring(gated.repository(), True)
    token.allow_deferring(gated.repository(), False)
    assert not mark.exists()
    mark.mkdir()
    with pytest.raises(AhpError, match="cannot remove"):
        token.allow_deferring(gated.repository(), False)


SECRET = MESSAGE + "  s: {at: pre-commit, each: l in diff.added, block: \"'SECRET' in l.text\", message: a secret}\n"
BREAKS = "ahp: this commit breaks s, and what was judged is another tree: a secret; a push of it is refused\n"


def stage(gated: Gated, text: str) -> None:
    gated.policy(SECRET)
    gated.write("f.txt", text)
    gated.add()


@pytest.mark.parametrize("left", ["", "7 refs/heads/main work quiet git:7:a -\n", "1 refs/heads/main work quiet x -\n"])
def test_without_a_word_of_the_log_commit_msg_judges_the_content(
    gated: Gated, ask: Ask, tmp_path: Path, left: str
) -> None:
    """No token, that of another commit at the same time, and a forged one: none of them lets anything pass."""
    stage(gated, "SECRET\n")
    (gated.root / ".git" / "ahp-token").write_text(left)
    (tmp_path / "MSG").write_text("words\n")
    code, said = ask("commit-msg", str(tmp_path / "MSG"))
    assert (code, "refused by s" in said) == (1, True)


@pytest.mark.parametrize("parent", ["1", "7"])
def test_what_the_log_says_was_let_pass_is_not_asked_about_twice(
    gated: Gated, ask: Ask, tmp_path: Path, parent: str
) -> None:
    """Also where another program calls both hooks, so that each has another parent."""
    stage(gated, "plain\n")
    (tmp_path / "MSG").write_text("words\n")
    assert ask("pre-commit", parent="1") == (0, "")
    assert ask("commit-msg", str(tmp_path / "MSG"), parent=parent) == (0, "")
    assert [hook for hook, _ in gated.judged()] == ["pre-commit", "commit-msg"]


def test_what_was_let_pass_for_another_head_or_another_person_is_asked_about(
    gated: Gated, ask: Ask, tmp_path: Path
) -> None:
    stage(gated, "plain\n")
    (tmp_path / "MSG").write_text("words\n")
    assert ask("pre-commit") == (0, "")
    assert ask("commit-msg", str(tmp_path / "MSG"), env={"CLAUDECODE": "1"}) == (0, "")
    gated.git("commit", "-q", "--allow-empty", "--no-verify", "-m", "x")
    assert ask("commit-msg", str(tmp_path / "MSG"), env={"CLAUDECODE": "1"}) == (0, "")
    judged = [hook for hook, _ in gated.judged() if hook != "post-commit"]
    assert judged == ["pre-commit", *2 * ["pre-commit", "commit-msg"]]


def test_a_commit_of_another_tree_than_was_judged_is_told_of(gated: Gated) -> None:
    """A hook of git's own process forges the token; where it names the tree, only the push will tell."""
    stage(gated, "plain\n")
    judged = gated.git("write-tree").strip()
    stage(gated, "SECRET\n")
    forges = gated.root / ".git" / "hooks" / "prepare-commit-msg"
    forges.write_text(f'#!/bin/sh\necho "$PPID refs/heads/main quiet quiet x {judged}" >.git/ahp-token\n')
    forges.chmod(0o755)
    assert gated.say("commit", "-q", "-n", "-m", "x") == (0, BREAKS)
    assert [record["rules"] for record in gated.log("bypass")] == [["s"]]


def test_an_index_that_changes_after_it_was_read_changes_nothing_of_what_is_judged(
    gated: Gated, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage(gated, "SECRET\n")
    bad = gated.git("write-tree").strip()
    stage(gated, "plain\n")
    monkeypatch.setattr(staged, "ahead", staged.Staged(bad, None, None))
    assert ask("pre-commit")[0] == 1
    good = gated.git("write-tree").strip()
    stage(gated, "SECRET\n")
    monkeypatch.setattr(staged, "ahead", staged.Staged(good, None, None))
    assert ask("pre-commit") == (0, "")
    assert (gated.root / ".git" / "ahp-token").read_text().split()[5] == good


def test_an_index_whose_kept_trees_were_forged_is_judged_as_git_will_commit_it(gated: Gated) -> None:
    """git commits the tree that the index keeps beside its entries, and looks no further (gitformat-index)."""
    stage(gated, "SECRET\n")
    bad = gated.git("write-tree").strip()
    stage(gated, "plain\n")
    good = gated.git("write-tree").strip()
    index = gated.root / ".git" / "index"
    data = index.read_bytes()[:-20]
    assert bytes.fromhex(good) in data
    data = data.replace(bytes.fromhex(good), bytes.fromhex(bad))
    index.write_bytes(data + hashlib.sha1(data, usedforsecurity=False).digest())
    said = gated.say("commit", "-q", "-m", "x")
    assert (said.code, "refused by s" in said.text) == (1, True)


def test_post_commit_knows_the_index_that_was_judged_and_nothing_is_left_of_others(gated: Gated) -> None:
    gated.policy("version: 1\nrules: {n: {at: pre-commit, block: \"'bad' in files.changed\", message: bad}}\n")
    git = gated.root / ".git"

    def left() -> list[str]:
        return sorted(path.name for path in git.glob("ahp-index*"))

    commit(gated, "a.txt")
    assert (git / "index").samefile(git / "ahp-judged") and left() == []
    gated.git("commit", "-q", "--amend", "--no-edit")  # of the same index
    assert (git / "index").samefile(git / "ahp-judged") and left() == []
    gated.write("bad")
    gated.add()
    assert gated.say("commit", "-q", "-m", "x").code == 1
    assert not (git / "index").samefile(git / "ahp-judged") and left() == []
    gated.git("reset", "-q", "--hard")
    gated.write("a.txt", "other\n")
    gated.write("b.txt", "b\n")
    gated.add()
    assert gated.say("commit", "-q", "-m", "x", "--", "a.txt") == (0, "")  # of an index that git throws away
    assert left() == []

"""Commits that no hook judged are noticed (design §9)."""

from __future__ import annotations

import pytest

from ahp.hosts.git import bypass
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
from tests.hosts.git.conftest import Ask
from tests.hosts.git.gated import Gated

QUIET = "version: 1\nrules:\n  many: {at: [pre-commit, pre-merge-commit], block: files.changed_count > 100}\n"
NOTICE = "ahp: no pre-commit hook judged this commit; it is logged\n"
SILENT = ("-c", "core.hooksPath=/dev/null")
UNJUDGED = "no pre-commit hook judged this commit"


@pytest.fixture
def quiet(gated: Gated) -> Gated:
    gated.policy(QUIET)
    return gated


def test_no_verify_is_noticed_with_the_commit_and_its_change(quiet: Gated) -> None:
    quiet.write("a.txt")
    quiet.add()
    assert quiet.say("commit", "-q", "-m", "x", "--no-verify") == (0, NOTICE)
    (record,) = quiet.log("bypass")
    assert (record["commit"], record["reason"], record["hook"]) == (quiet.head(), UNJUDGED, "post-commit")
    assert record["change"].startswith("change1:")
    assert (record["subject"], record["host"]) == ("main", "git")


def test_a_cherry_pick_is_logged_quietly(quiet: Gated) -> None:
    quiet.git("checkout", "-q", "-b", "side")
    picked = quiet.commit("side", "--no-verify", **{"b.txt": "1\n"})
    quiet.git("checkout", "-q", "main")
    quiet.commit("moved", **{"c.txt": "1\n"})
    known = len(quiet.log("bypass"))
    said = quiet.say("cherry-pick", picked)
    assert said.code == 0
    assert "ahp:" not in said.text
    assert [record["commit"] for record in quiet.log("bypass")[known:]] == [quiet.head()]


def test_a_commit_whose_content_was_judged_on_another_branch_is_no_bypass(quiet: Gated) -> None:
    quiet.git("checkout", "-q", "-b", "side")
    picked = quiet.commit("side", **{"b.txt": "1\n"})
    quiet.git("checkout", "-q", "main")
    quiet.commit("moved", **{"c.txt": "1\n"})
    assert quiet.say("cherry-pick", picked).code == 0
    assert quiet.log("bypass") == []


def test_what_was_refused_and_then_forced_is_a_bypass(quiet: Gated) -> None:
    quiet.policy(QUIET.replace("> 100", "> 0"))
    quiet.write("a.txt")
    quiet.add()
    assert quiet.say("commit", "-m", "x").code == 1
    assert quiet.say("commit", "-q", "-m", "x", "--no-verify") == (0, NOTICE)
    assert len(quiet.log("bypass")) == 1


def test_content_that_changed_after_it_was_judged_is_noticed(quiet: Gated) -> None:
    # prepare-commit-msg runs between the judging and the commit, and may stage something.
    quiet.policy(QUIET + "  after: {at: post-commit, aid: files.changed_count > 100}\n")
    hook = quiet.write(".git/hooks/prepare-commit-msg", "#!/bin/sh\necho late >late.txt\ngit add late.txt\n", 0o755)
    assert hook.exists()
    quiet.write("a.txt")
    quiet.add()
    said = quiet.say("commit", "-q", "-m", "x")
    if "late.txt" in quiet.git("show", "--name-only", "--format=", "HEAD"):
        assert said.text == "ahp: what was judged is not what was committed; it is logged\n"
        assert [r["reason"] for r in quiet.log("bypass")] == ["what was judged is not what was committed"]
    else:  # this git commits the tree it showed to pre-commit
        assert quiet.log("bypass") == []


def test_without_rules_for_commits_nothing_could_be_gone_round(gated: Gated) -> None:
    gated.policy("version: 1\nrules:\n  many: {at: pre-push, block: files.changed_count > 100}\n")
    gated.write("a.txt")
    gated.add()
    assert gated.say("commit", "-q", "-m", "x", "--no-verify") == (0, "")
    assert gated.log("bypass") == []


def merged(gated: Gated) -> None:
    """`main` and a side of two commits, joined without a commit yet; no rule is about merges."""
    gated.policy(QUIET.replace(", pre-merge-commit", ""))
    gated.git("init", "-q", "--bare", "../bare")
    gated.git("push", "-q", "--no-verify", "../bare", "main")
    gated.git("remote", "add", "origin", "../bare")
    gated.git("fetch", "-q", "origin")
    gated.git("checkout", "-q", "-b", "side")
    gated.commit("one", **{"b.txt": "1\n"})
    gated.commit("two", **{"c.txt": "2\n"})
    gated.git("checkout", "-q", "main")
    gated.commit("moved", **{"d.txt": "3\n"})
    gated.git("merge", "-q", "--no-ff", "--no-commit", "side")


def test_a_merge_that_only_joins_what_was_judged_is_no_bypass(gated: Gated) -> None:
    merged(gated)
    gated.git("merge", "--abort")
    gated.git("merge", "-q", "--no-ff", "-m", "join", "side")
    assert "ahp:" not in gated.say("push", "origin", "main").text
    assert gated.log("bypass") == []


def test_a_merge_that_brings_something_of_its_own_is_one(gated: Gated) -> None:
    merged(gated)
    gated.write("evil.txt")
    gated.write("d.txt", "evil\n")
    gated.add()
    gated.git(*SILENT, "commit", "-q", "-m", "join")
    assert "1 of the pushed commits passed no pre-commit hook" in gated.say("push", "origin", "main").text
    assert [record["commit"] for record in gated.log("bypass")] == [gated.head()]


def test_a_commit_made_by_plumbing_is_noticed_at_the_push(quiet: Gated) -> None:
    tree = quiet.git("mktree", stdin=b"")
    made = quiet.git("commit-tree", tree, "-p", "HEAD", "-m", "plumbing")
    quiet.git("update-ref", "refs/heads/main", made)
    assert quiet.log("bypass") == []
    other = quiet.root.parent / "remote.git"
    quiet.git("init", "-q", "--bare", str(other))
    said = quiet.say("push", "-q", str(other), "main")
    assert said.code == 0
    # The first commit of the template is older than the gate: nobody could judge it, and nobody is accused.
    assert "1 of the pushed commits passed no pre-commit hook; that is logged" in said.text
    assert made in [record["commit"] for record in quiet.log("bypass")]
    assert quiet.say("push", "-q", str(other), "main:again") == (0, "")
    assert len(quiet.log("bypass")) == 1


def test_what_another_remote_has_was_not_made_here(quiet: Gated) -> None:
    theirs = quiet.root.parent / "theirs.git"
    quiet.git("init", "-q", "--bare", str(theirs))
    made = quiet.git("commit-tree", quiet.git("mktree", stdin=b""), "-p", "HEAD", "-m", "a colleague's")
    quiet.git(*SILENT, "push", "-q", str(theirs), f"{made}:refs/heads/main")
    quiet.git("remote", "add", "theirs", str(theirs))
    quiet.git("fetch", "-q", "theirs")
    quiet.git("merge", "-q", "--ff-only", "theirs/main")
    mine = quiet.root.parent / "mine.git"
    quiet.git("init", "-q", "--bare", str(mine))
    assert quiet.say("push", "-q", str(mine), "main") == (0, "")


def test_a_log_that_cannot_be_written_is_said_and_refuses_nothing(
    quiet: Gated, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise JournalUnwritable("no room for it")

    quiet.write("c.txt")
    quiet.add()
    quiet.git(*SILENT, "commit", "-q", "-m", "silent")
    monkeypatch.setattr(Journal, "append", full)
    assert ask("post-commit") == (0, f"ahp: no room for it\n{NOTICE}")


def test_a_rebase_is_logged_quietly(quiet: Gated) -> None:
    quiet.git("checkout", "-q", "-b", "side")
    quiet.commit("side", "--no-verify", **{"b.txt": "1\n"})
    quiet.git("checkout", "-q", "main")
    quiet.commit("moved", **{"c.txt": "1\n"})
    quiet.git("checkout", "-q", "side")
    said = quiet.say("rebase", "-q", "main")
    assert said == (0, "")
    assert quiet.log("bypass")[-1]["commit"] == quiet.head()


def test_the_hook_after_a_commit_in_this_process(quiet: Gated, ask: Ask) -> None:
    quiet.write("a.txt")
    quiet.add()
    quiet.git(*SILENT, "commit", "-q", "-m", "x")
    assert ask("post-commit") == (0, NOTICE)
    assert ask("post-commit") == (0, "")  # noticed once
    assert len(quiet.log("bypass")) == 1
    quiet.write("b.txt")
    quiet.add()
    assert ask("pre-commit") == (0, "")
    quiet.write("c.txt")
    quiet.add()
    quiet.git(*SILENT, "commit", "-q", "-m", "y")
    assert "what was judged is not what was committed" in ask("post-commit")[1]
    assert quiet.log("bypass")[-1]["reason"] == "what was judged is not what was committed"


def test_a_push_in_this_process_notices_what_nobody_judged(quiet: Gated, ask: Ask) -> None:
    quiet.write("a.txt")
    quiet.add()
    quiet.git(*SILENT, "commit", "-q", "-m", "x")
    line = f"refs/heads/main {quiet.head()} refs/heads/main {'0' * 40}\n".encode()
    code, said = ask("pre-push", "origin", "url", stdin=line)
    assert (code, "1 of the pushed commits passed no pre-commit hook" in said) == (0, True)
    assert len(quiet.log("bypass")) == 1
    assert ask("pre-push", "origin", "url", stdin=line) == (0, "")
    gone = f"(delete) {'0' * 40} refs/heads/main {quiet.head()}\n".encode()
    assert ask("pre-push", "origin", "url", stdin=gone) == (0, "")


def test_a_rebase_in_this_process_is_not_told(quiet: Gated, ask: Ask) -> None:
    tree = quiet.git("mktree", stdin=b"")
    made = quiet.git("commit-tree", tree, "-p", "HEAD", "-m", "x")
    quiet.git("update-ref", "-m", "rebase (pick): x", "refs/heads/main", made)
    assert ask("post-commit") == (0, "")
    assert len(quiet.log("bypass")) == 1


def test_the_log_is_read_only_so_far_back(quiet: Gated, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    quiet.commit("x", **{"a.txt": "1\n"})
    quiet.commit("y", **{"b.txt": "1\n"})
    monkeypatch.setattr(bypass, "_LINES", 0)
    assert ask("post-commit") == (0, NOTICE)

"""Commits that break a rule and that no hook was asked about are told at once and logged; nobody is accused else."""

from __future__ import annotations

import pytest

from ahp.hosts.git import bypass
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
from tests.hosts.git.conftest import Ask
from tests.hosts.git.gated import Gated

POLICY = """\
version: 1
rules:
  bad:
    at: pre-commit
    each: l in diff.added
    block: contains([l.text], 'BAD')
    finding: {file: l.path, line: l.line}
    message: a bad line
  many: {at: pre-commit, prompt: files.changed_count > 1, message: "{files.changed_count} files"}
"""
SAID = "ahp: this commit breaks bad, and no hook was asked: a bad line (a.txt:1); a push of it is refused\n"
SILENT = ("-c", "core.hooksPath=/dev/null")


@pytest.fixture
def here(gated: Gated) -> Gated:
    gated.policy(POLICY)
    gated.git("init", "-q", "--bare", "../remote.git")
    gated.git("remote", "add", "origin", "../remote.git")
    return gated


def staged(of: Gated, **files: str) -> None:
    for name, text in files.items():
        of.write(name, text)
    of.add()


def test_a_clean_commit_that_skipped_the_hook_is_no_bypass(here: Gated) -> None:
    staged(here, a="1\n")
    assert here.say("commit", "-q", "-m", "x", "--no-verify") == (0, "")
    assert here.log("bypass") == []


def test_what_no_verify_brings_past_a_rule_is_told_at_once_and_logged_once(here: Gated) -> None:
    staged(here, **{"a.txt": "BAD\n"})
    assert here.say("commit", "-q", "-m", "x", "--no-verify") == (0, SAID)
    (record,) = here.log("bypass")
    assert (record["commit"], record["hook"], record["rules"]) == (here.head(), "post-commit", ["bad"])
    assert record["change"].startswith("change1:")
    assert (record["subject"], record["host"]) == ("main", "git")
    assert here.say("push", "-q", "origin", "main").code == 1
    assert len(here.log("bypass")) == 1


def test_what_was_refused_and_then_forced_is_one(here: Gated) -> None:
    staged(here, **{"a.txt": "BAD\n"})
    assert here.say("commit", "-m", "x").code == 1
    assert here.say("commit", "-q", "-m", "x", "--no-verify") == (0, SAID)
    assert len(here.log("bypass")) == 1


def test_an_amend_of_what_no_hook_was_asked_about_is_refused_at_the_push_until_it_is_right(here: Gated) -> None:
    staged(here, **{"a.txt": "BAD\n"})
    here.say("commit", "-q", "-n", "-m", "x")
    assert here.say("commit", "-q", "--amend", "-m", "y") == (0, "")
    assert here.say("push", "-q", "origin", "main").code == 1
    staged(here, **{"a.txt": "good\n"})
    assert here.say("commit", "-q", "--amend", "--no-edit") == (0, "")
    assert here.say("push", "-q", "origin", "main") == (0, "")


def test_a_verdict_on_a_commit_is_none_on_the_merge_that_brings_the_same(here: Gated) -> None:
    here.policy(POLICY + "  big: {at: pre-merge-commit, block: \"'big' in files.changed\", message: big}\n")
    here.git("checkout", "-q", "-b", "side")
    staged(here, big="1\n")
    here.say("commit", "-q", "-m", "side")
    here.git("checkout", "-q", "main")
    assert here.say("merge", "-q", "--no-ff", "--no-edit", "side").code == 1
    assert "this commit breaks big, and no hook was asked: big" in here.say("commit", "-n", "--no-edit").text


def test_a_commit_on_top_of_what_no_hook_was_asked_about_is_its_own(here: Gated) -> None:
    staged(here, **{"a.txt": "BAD\n"})
    here.say("commit", "-q", "-n", "-m", "x")
    staged(here, b="1\n")
    assert here.say("commit", "-q", "-m", "y") == (0, "")


def test_what_takes_the_policy_along_is_judged_by_the_one_before(gated: Gated) -> None:
    gated.commit_policy(POLICY)
    gated.policy(POLICY.replace("contains([l.text], 'BAD')", "l.text == 'never'"))
    staged(gated, **{"a.txt": "BAD\n"})
    gated.git("add", "-f", ".ahp/hooks.yaml")
    assert gated.say("commit", "-q", "-n", "-m", "x") == (0, SAID)


def test_without_a_remote_the_commit_that_takes_the_policy_away_is_told(gated: Gated) -> None:
    gated.commit_policy(POLICY)
    code, said = gated.say("revert", "--no-edit", "HEAD")
    assert code == 0 and "ahp: this commit takes the policy away, so that nobody judges what comes after it;" in said
    assert "ahp: " not in gated.say("revert", "--no-edit", "HEAD").text
    gated.git("checkout", "-q", "-b", "topic")
    gated.git("rm", "-q", ".ahp/hooks.yaml")
    assert "ahp: " not in gated.say("commit", "-n", "-m", "gone").text  # that of main judges on


def test_a_warning_is_logged_and_left_to_the_push(here: Gated) -> None:
    staged(here, a="1\n", b="1\n")
    assert here.say("commit", "-q", "-m", "x", "--no-verify") == (0, "")
    assert [record["rules"] for record in here.log("bypass")] == [["many"]]
    assert "warned by many" in here.say("push", "-q", "origin", "main").text


def test_what_was_told_at_the_commit_is_no_bypass(here: Gated) -> None:
    staged(here, a="1\n", b="1\n")
    assert "warned by many" in here.say("commit", "-q", "-m", "x").text
    assert here.say("push", "-q", "origin", "main") == (0, "")
    assert here.log("bypass") == []


def test_content_that_changed_after_it_was_judged_is_refused_at_the_push(here: Gated) -> None:
    # prepare-commit-msg runs between the judging and the commit, and may stage something.
    here.write(".git/hooks/prepare-commit-msg", "#!/bin/sh\necho BAD >late.txt\ngit add late.txt\n", 0o755)
    staged(here, a="1\n")
    assert here.say("commit", "-q", "-m", "x").code == 0
    came = "late.txt" in here.git("show", "--name-only", "--format=", "HEAD")  # as git has it
    assert here.say("push", "-q", "origin", "main").code == int(came)


def test_replayed_commits_are_judged_at_the_push_and_nobody_is_accused(here: Gated) -> None:
    here.git("checkout", "-q", "-b", "side")
    staged(here, **{"a.txt": "BAD\n"})
    here.git(*SILENT, "commit", "-q", "-m", "x")
    picked = here.head()
    here.git("checkout", "-q", "main")
    here.commit("moved", **{"c.txt": "1\n"})
    here.git("checkout", "-q", "side")
    assert here.say("rebase", "-q", "main") == (0, "")
    here.git("checkout", "-q", "main")
    here.git(*SILENT, "cherry-pick", picked)
    assert here.say("push", "-q", "origin", "main").code == 1
    assert here.log("bypass") == []


@pytest.mark.parametrize("made", [("cherry-pick", "side~1"), ("revert", "--no-edit", "side")])
def test_one_pick_or_revert_is_told_at_once_and_nobody_is_accused(here: Gated, made: tuple[str, ...]) -> None:
    here.git("checkout", "-q", "-b", "side")
    staged(here, **{"a.txt": "BAD\n"})
    here.git(*SILENT, "commit", "-q", "-m", "there")
    here.git("rm", "-q", "a.txt")
    here.git(*SILENT, "commit", "-q", "-m", "gone")
    if made[0] == "cherry-pick":
        here.git("checkout", "-q", "main")
        here.commit("moved", **{"c.txt": "1\n"})  # else the pick may be the very commit of the side
    said = here.say(*made)
    assert said.code == 0
    assert SAID in said.text
    assert here.log("bypass") == []


def test_a_commit_made_by_plumbing_is_noticed_at_the_push(here: Gated) -> None:
    blob = here.git("hash-object", "-w", "--stdin", stdin=b"BAD\n")
    tree = here.git("mktree", stdin=f"100644 blob {blob}\ta.txt\n".encode())
    made = here.git("commit-tree", tree, "-p", "HEAD", "-m", "plumbing")
    here.git("update-ref", "refs/heads/main", made)
    assert here.say("push", "-q", "origin", "main").code == 1
    assert [record["commit"] for record in here.log("bypass")] == [made]


def test_a_log_that_cannot_be_written_is_said_and_refuses_nothing(
    here: Gated, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise JournalUnwritable("no room for it")

    staged(here, **{"a.txt": "BAD\n"})
    here.git(*SILENT, "commit", "-q", "-m", "silent")
    monkeypatch.setattr(Journal, "append", full)
    assert ask("post-commit") == (0, f"ahp: no room for it\n{SAID}")


def test_the_hook_after_a_commit_in_this_process(here: Gated, ask: Ask) -> None:
    staged(here, **{"a.txt": "BAD\n"})
    here.git(*SILENT, "commit", "-q", "-m", "x")
    assert ask("post-commit") == (0, SAID)
    assert ask("post-commit") == (0, "")  # noticed once
    assert len(here.log("bypass")) == 1


def test_without_rules_for_commits_nothing_is_looked_at(gated: Gated, ask: Ask) -> None:
    gated.policy("version: 1\nrules:\n  many: {at: pre-push, block: files.changed_count > 100}\n")
    staged(gated, a="1\n")
    gated.git(*SILENT, "commit", "-q", "-m", "x")
    assert ask("post-commit") == (0, "")
    assert gated.log("bypass") == []


def test_the_log_is_read_only_so_far_back(here: Gated, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    staged(here, **{"a.txt": "BAD\n"})
    here.git(*SILENT, "commit", "-q", "-m", "x")
    assert ask("post-commit") == (0, SAID)
    monkeypatch.setattr(bypass, "_LINES", 0)
    assert ask("post-commit") == (0, SAID)

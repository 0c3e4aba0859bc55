"""What climbs at commits, and what does not (design §8)."""

from __future__ import annotations

import pytest

from tests.hosts.git.gated import Gated

POLICY = """\
version: 1
escalation: {ladder: [prompt, control, block], after: 1}
rules:
  size: {at: pre-commit, prompt: files.changed_count > 1, message: large}
  subject: {at: commit-msg, block: "not matches(commit.subject, '^fix: ')"}
"""
REFUSED = "  never: {at: pre-commit, block: \"'a' in files.changed\", message: never}\n"


def commit_two(gated: Gated, message: str = "fix: x", **env: str) -> tuple[int, str]:
    for name in "ab":
        with (gated.root / name).open("a") as file:
            file.write("more\n")
    gated.add()
    said = gated.say("commit", "-m", message, env=env)
    return said.code, said.text


def test_what_another_rule_stopped_climbs_nothing(gated: Gated) -> None:
    gated.policy(POLICY)
    for _ in range(4):
        assert "refused by subject" in commit_two(gated, "bad")[1]
    code, text = commit_two(gated)
    assert (code, "warning 1" in text) == (0, True)
    assert "warning 2" in commit_two(gated)[1]
    code, text = commit_two(gated)
    assert (code, "refused after 2 warnings" in text) == (1, True)


def test_what_an_aborted_editor_stopped_climbs_nothing(gated: Gated) -> None:
    gated.policy(POLICY)
    for name in "ab":
        gated.write(name, "x\n")
    gated.add()
    for _ in range(3):
        assert gated.say("commit", env={"GIT_EDITOR": "false"}).code
    assert "warning 1" in commit_two(gated)[1]
    assert "warning 2" in commit_two(gated)[1]


def test_an_amended_commit_is_another_attempt(gated: Gated) -> None:
    gated.policy(POLICY)
    assert "warning 1" in commit_two(gated)[1]
    gated.write("a", "y\n")
    gated.write("b", "y\n")
    gated.add()
    assert "warning 2" in gated.say("commit", "--amend", "--no-edit").text


@pytest.mark.parametrize(("touched", "starts_anew"), [("a", False), ("abcd", True)])
def test_a_small_commit_does_not_mend_a_large_one(gated: Gated, touched: str, starts_anew: bool) -> None:
    gated.policy(POLICY.replace("> 1", "> 4"))
    for attempt in range(2):
        for name in "abcdefgh":
            gated.write(name, f"{attempt}\n")
        gated.add()
        said = gated.say("commit", "-m", "fix: all").text
        if attempt == 0:
            for name in touched:
                gated.write(name, "noise\n")
            gated.add()
            assert gated.say("commit", "-m", "fix: some").code == 0
    assert ("warning 1" if starts_anew else "warning 2") in said


def test_the_end_of_an_episode_tells_how_much_of_it_changed(gated: Gated) -> None:
    gated.policy(POLICY)
    commit_two(gated)
    gated.write("a", "noise\n")
    gated.add()
    assert gated.say("commit", "-m", "fix: one of two").code == 0
    (ended,) = gated.log("episode-end")
    assert (ended["reason"], ended["covered"], ended["files"]) == ("mended", 1, 2)


def test_where_the_file_of_a_finding_changed_nothing_is_left_to_ask(gated: Gated) -> None:
    rule = "{at: pre-commit, each: p in files.modified, prompt: p == 'b.tmp', finding: {file: p}}"
    gated.policy(f"version: 1\nrules:\n  tmp: {rule}\n")
    gated.write("b.tmp", "0\n")
    gated.add()
    gated.say("commit", "-m", "fix: begin")
    gated.write("b.tmp", "x\n")
    gated.add()
    gated.say("commit", "-m", "fix: it")
    gated.git("rm", "-q", "b.tmp")
    assert gated.say("commit", "-m", "fix: gone").code == 0
    (ended,) = gated.log("episode-end")
    assert ended["reason"] == "mended" and "covered" not in ended


def test_how_long_the_policy_remembers_is_known_to_every_reader(gated: Gated) -> None:
    gated.policy(POLICY.replace("after: 1}", "after: 1, forget_after: 60d}"))
    commit_two(gated)
    (signal,) = gated.log("signal")
    assert signal["forget_after"] == 60 * 86400
    assert signal["head"] and signal["head"] != gated.head()


def give_up(gated: Gated, *names: str) -> None:
    """A commit of these files that is warned of, and whose editor is closed."""
    for name in names:
        with (gated.root / name).open("a") as file:
            file.write("given up\n")
    gated.add()
    assert gated.say("commit", env={"GIT_EDITOR": "false"}).code
    gated.git("reset", "-q", "--hard")


@pytest.mark.parametrize("options", [(), ("--no-verify",)])
def test_what_was_given_up_climbs_nothing_when_another_commit_moves_head(
    gated: Gated, options: tuple[str, ...]
) -> None:
    gated.policy(POLICY)
    assert "warning 1" in commit_two(gated, "fix: 1")[1]
    give_up(gated, "a", "b", "c", "d")
    gated.write("z", "z\n")
    gated.add("z")
    gated.git("commit", "-q", *options, "-m", "fix: z")
    assert "warning 2" in commit_two(gated, "fix: 2")[1]


def test_what_was_given_up_climbs_nothing_when_a_pull_moves_head(gated: Gated) -> None:
    gated.policy(POLICY)
    gated.git("branch", "other")
    gated.git("worktree", "add", "-q", "../other", "other")
    other = Gated(gated.root.parent / "other")
    for name in "abcd":
        other.write(name, "theirs\n")
    other.add()
    other.git("commit", "-q", "-n", "-m", "theirs")
    give_up(gated, "a", "b", "c", "d")
    gated.git("merge", "-q", "--ff-only", "other")
    assert "warning 1" in commit_two(gated)[1]


def test_what_another_hook_reformats_after_it_was_warned_of_counts(gated: Gated) -> None:
    gated.policy(POLICY)
    ours = gated.root / ".git" / "hooks" / "pre-commit"
    inner = ours.with_name("inner")
    inner.write_bytes(ours.read_bytes())
    inner.chmod(0o755)
    ours.write_text('#!/bin/sh\n.git/hooks/inner "$@" || exit\necho formatted >>a; git add a\n')
    assert "warning 1" in commit_two(gated)[1]
    assert "warning 2" in commit_two(gated)[1]


def test_without_a_reflog_a_commit_counts_once_head_has_moved(gated: Gated) -> None:
    gated.policy(POLICY)
    gated.git("config", "core.logAllRefUpdates", "false")
    for log in (gated.root / ".git" / "logs").rglob("*"):
        if log.is_file():
            log.unlink()
    assert "warning 1" in commit_two(gated)[1]
    assert "warning 2" in commit_two(gated)[1]


def test_a_warning_beside_a_refusal_promises_nothing(gated: Gated) -> None:
    gated.policy(POLICY + REFUSED)
    for _ in range(3):
        code, text = commit_two(gated)
        assert (code, "warned by size" in text or "size: large" in text) == (1, True), text
        assert "time" not in text and "blocks" not in text
    gated.policy(POLICY)
    assert "warning 1" in commit_two(gated)[1]
    assert "warning 2" in commit_two(gated)[1]

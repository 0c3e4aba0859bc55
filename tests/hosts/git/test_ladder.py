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
    assert (code, "1st time" in text) == (0, True)
    assert "2nd time" in commit_two(gated)[1]
    code, text = commit_two(gated)
    assert (code, "3rd time; it blocks now" in text) == (1, True)


def test_what_an_aborted_editor_stopped_climbs_nothing(gated: Gated) -> None:
    gated.policy(POLICY)
    for name in "ab":
        gated.write(name, "x\n")
    gated.add()
    for _ in range(3):
        assert gated.say("commit", env={"GIT_EDITOR": "false"}).code
    assert "1st time" in commit_two(gated)[1]
    assert "2nd time" in commit_two(gated)[1]


def test_an_amended_commit_is_another_attempt(gated: Gated) -> None:
    gated.policy(POLICY)
    assert "1st time" in commit_two(gated)[1]
    gated.write("a", "y\n")
    gated.write("b", "y\n")
    gated.add()
    assert "2nd time" in gated.say("commit", "--amend", "--no-edit").text


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
    assert ("1st time" if starts_anew else "2nd time") in said


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

from __future__ import annotations

import json
import sys

import pytest

from ahp.cli import try_
from ahp.cli.main import run
from ahp.hosts.history import Tally
from tests.conftest import Repo

POLICY = """
rules:
  size: {at: pre-commit, prompt: files.changed_count > 1, message: "{files.changed_count} files"}
  subject: {at: commit-msg, block: commit.subject == 'bad', shadow: true, message: a bad subject}
  main: {at: pre-push, block: branch.is_default}
"""


@pytest.fixture(autouse=True)
def inside(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)
    repo.write(".ahp/hooks.yaml", POLICY)
    repo.commit("root", **{"a.txt": "1\n"})
    repo.commit("bad", **{"a.txt": "2\n"})
    repo.commit("good", **{"a.txt": "3\n", "b.txt": "3\n"})


def test_the_whole_policy_is_tried_on_all_commits(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["try"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "the last 3 commits: 1 blocked, 1 warned"
    assert lines[1].startswith("  size     1 warned, last ") and lines[1].endswith(": 2 files")
    assert lines[2].startswith("  subject  1 blocked, last ")
    assert lines[3] == "  main cannot be tried on commits" and len(lines) == 4


def test_rules_that_matched_nothing_are_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    try_.show(Tally(), {f"r{number}": number < 12 for number in range(24)}, {})
    (line,) = capsys.readouterr().out.splitlines()[1:]
    assert line == "  12 rules matched nothing, 12 rules cannot be tried on commits"


def test_one_rule_lists_the_commits_it_spoke_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["try", "subject"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "the last 3 commits: 1 blocked, 0 warned"
    assert lines[2].endswith("  block  a bad subject bad")


def test_a_merge_that_is_asked_at_two_triggers_is_listed_once(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(
        ".ahp/hooks.yaml", "rules: {m: {at: [pre-commit, pre-merge-commit], block: \"'c.txt' in files.changed\"}}"
    )
    repo.git("switch", "-q", "-c", "side", "HEAD~1")
    repo.commit("side", **{"s.txt": "s\n"})
    repo.git("merge", "-q", "--no-commit", "main")
    repo.write("c.txt", "by hand\n")
    repo.git("add", "c.txt")
    repo.git("commit", "-q", "-m", "Merge main")
    assert run(["try", "m"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_a_rule_that_kept_silent_says_so(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["try", "subject", "--range", "HEAD~1..HEAD"]) == 0
    assert capsys.readouterr().out == "1 commit: 0 blocked, 0 warned\n  subject matched nothing\n"


def test_names_are_not_cut_by_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    try_.show(Tally(1), {"a-rule": True, "another-rule": False}, {})
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines[1:])) <= 40
    told = "a-rule matched nothing, another-rule cannot be tried on commits"
    assert len(lines) > 2 and " ".join(" ".join(lines[1:]).split()) == told


def test_another_policy_can_be_tried(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write("other.yaml", "rules: {one: {at: pre-commit, block: files.changed_count == 1}}")
    assert run(["try", "one", "--policy", "other.yaml"]) == 0
    assert capsys.readouterr().out.startswith("the last 3 commits: 2 blocked, 0 warned\n")


def test_json_holds_every_signal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["try", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["judged"] == 3 and found["rules"] == ["size", "subject", "main"] and found["unjudged"] == []
    assert [(one["subject"], one["rule"], one["level"]) for one in found["said"]] == [
        ("good", "size", "prompt"),
        ("bad", "subject", "block"),
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["siz"], "no rule is called siz; did you mean `size`?"),
        (["main"], "main is asked at pre-push; the past is judged at pre-commit"),
        (["--range", "nosuch"], "there is no commit 'nosuch'; a range is A..B"),
    ],
)
def test_what_cannot_be_tried_is_said(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["try", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_without_rules_there_is_nothing_to_try(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(".ahp/hooks.yaml", "version: 1\n")
    assert run(["try"]) == 2
    assert "`ahp init` writes one" in capsys.readouterr().err


def test_long_lists_are_cut_and_unjudged_commits_told(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(23):
        repo.commit("bad", **{"c.txt": f"{number}\n"})
    oid = repo.git("rev-parse", "HEAD~3:c.txt")
    (repo.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    assert run(["try", "subject"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "the last 26 commits: 22 blocked, 0 warned"
    assert sum("could not be judged" in line for line in lines) == 2
    assert lines[-1] == "and 2 more"

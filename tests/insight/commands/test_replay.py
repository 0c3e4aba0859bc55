"""`ahp replay` in a repository whose commits the gate judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ahp.cli.main import run
from tests.hosts.git import gated as making
from tests.hosts.git.gated import Gated

POLICY = """\
version: 1
rules:
  keys: {at: pre-commit, prompt: "any(p.endswith('.key') for p in files.changed)"}
  size: {at: pre-commit, prompt: files.changed_count > 2}
"""


@pytest.fixture
def past(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gated:
    """Three commits after the policy's: one with a key, one of three files, one of nothing remarkable."""
    gated = making.make(tmp_path / "repo")
    gated.commit_policy(POLICY)
    for names in (["a.key"], ["a", "b", "c"], ["a"]):
        for name in names:
            with (gated.root / name).open("a") as file:
                file.write("more\n")
        gated.add()
        assert gated.say("commit", "-m", " ".join(names)).code == 0
    monkeypatch.chdir(gated.root)
    return gated


def test_nothing_changes_until_the_policy_does(past: Gated, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", "--fail-on-change"]) == 0
    assert capsys.readouterr().out.endswith("nothing changes\n")


def test_a_stricter_level_is_decided_though_the_log_has_no_file_names(
    past: Gated, capsys: pytest.CaptureFixture[str]
) -> None:
    past.policy(POLICY.replace('prompt: "any', 'block: "any').replace("> 2", "> 1"))
    assert run(["replay", "--fail-on-change"]) == 1
    out = capsys.readouterr().out
    assert "blocks gained\n  keys: prompt → block, 1 time\n" in out
    assert max(map(len, out.splitlines())) <= 80
    assert run(["replay", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(one["rule"], one["before"], one["after"], one["count"]) for one in found["changes"]] == [
        ("keys", "prompt", "block", 1)
    ]
    assert found["changes"][0]["examples"][0]["hook"] == "pre-commit" and found["refuses"] == 1


def test_a_policy_of_a_file_or_a_commit(past: Gated, capsys: pytest.CaptureFixture[str]) -> None:
    past.write("other.yaml", POLICY.replace("> 2", "> 3"))
    assert run(["replay", "--policy", "other.yaml"]) == 0
    out = capsys.readouterr().out
    assert "other changes\n  size: prompt → silent, 1 time\n    such as " in out
    assert "files.changed_count = 3" in out
    assert run(["replay", "--policy", "HEAD", "--since", "1h"]) == 0
    assert "nothing changes" in capsys.readouterr().out


def test_what_cannot_be_decided_names_the_fact(past: Gated, capsys: pytest.CaptureFixture[str]) -> None:
    past.policy(POLICY.replace("'.key'", "'.pem'"))
    assert run(["replay", "--fail-on-change"]) == 0
    out = capsys.readouterr().out
    assert "not decidable\n  keys: silent → undecided, 2 times (the log lacks files.changed)\n" in out


def test_an_empty_log_says_so(past: Gated, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["replay", "--since", "2099-01-01"]) == 0
    assert capsys.readouterr().out == "the log has no evaluation since 2099-01-01\n"


def test_who_committed_is_known_though_no_rule_asked_then(past: Gated, capsys: pytest.CaptureFixture[str]) -> None:
    past.write("d", "d\n")
    past.add()
    assert past.say("commit", "-m", "d", env={"CLAUDECODE": "1"}).code == 0
    past.write("other.yaml", POLICY + "  agents: {at: pre-commit, block: actor.kind == 'agent'}\n")
    assert run(["replay", "--policy", "other.yaml"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "agents: silent → block, 1 time such as" in out and "actor.kind = 'agent'" in out and "undecided" not in out

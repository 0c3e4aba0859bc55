"""Commands where the work tree's policy is not the committed one: whose is what (authority §2.7)."""

from __future__ import annotations

import json

import pytest

from ahp.cli import main
from tests.conftest import Repo

COMMITTED = """\
version: 1
limits: {most: 1}
rules:
  size: {at: pre-commit, block: files.changed_count > limits.most, message: too many}
"""
WORKING = COMMITTED.replace("most: 1", "most: 5").replace(
    "size:", "own: {at: pre-commit, prompt: files.changed_count > 0}\n  size:"
)


@pytest.fixture
def here(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo.commit("policy", **{".ahp/hooks.yaml": COMMITTED})
    repo.write(".ahp/hooks.yaml", WORKING)
    for name in ("a.txt", "b.txt"):
        repo.write(name)
        repo.add(name)
    monkeypatch.chdir(repo.root)
    return repo


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    capsys.readouterr()
    code = main.run(list(arguments))
    return code, capsys.readouterr().out


def test_check_asks_both_and_says_whose_a_signal_is(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "check", "pre-commit")
    assert code == 1
    assert "refused by size\n" in out and "warned by own of the work tree's policy\n" in out
    assert "takes effect once it is committed: git commit .ahp/hooks.yaml" in out
    code, out = run(capsys, "check", "pre-commit", "--format", "json")
    told = json.loads(out)
    assert {s["context"]["rule"]: s["context"]["origin"] for s in told["signals"]} == {
        "size": "committed",
        "own": "working",
    }
    assert told["working"] not in ("", told["policy"])


def test_an_action_of_the_work_tree_alone_tells_what_it_waits_for(
    here: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    form = "  form: {at: pre-commit, control: files.changed_count > 0, action: {type: run, command: [touch, made]}}\n"
    here.write(".ahp/hooks.yaml", COMMITTED + form)
    code, out = run(capsys, "check", "pre-commit")
    assert code == 1 and not (here.root / "made").exists()
    assert "; its action waits until this policy is committed" in out
    here.git("commit", "-q", "--no-verify", "-m", "policy", ".ahp/hooks.yaml")
    assert "waits until" not in run(capsys, "check", "pre-commit")[1]


def test_explain_shows_the_rules_of_both(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = run(capsys, "explain", "pre-commit")
    assert "[yes] size — refuses  (committed: .ahp/hooks.yaml:4:" in out
    assert "\nno, 1: size (working)\n" in out
    _, out = run(capsys, "explain", "pre-commit", "--format", "json")
    assert [(r["rule"], r["origin"], r["outcome"]) for r in json.loads(out)["rules"]] == [
        ("size", "committed", "true"),
        ("own", "working", "true"),
        ("size", "working", "false"),
    ]


def test_a_fact_that_both_define_is_told_twice(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = run(capsys, "facts", "pre-commit", "--format", "json")
    told = json.loads(out)
    assert told["facts"]["limits.most"]["value"] == 1
    assert told["working"]["limits.most"]["value"] == 5
    assert "files.changed_count" not in told["working"]
    _, out = run(capsys, "facts", "pre-commit")
    assert "by the work tree's policy" in out


def test_another_policy_is_named_by_its_commit_or_its_file(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    _, out = run(capsys, "policy", "show", "--policy", "HEAD")
    assert "size" in out and "own" not in out
    _, out = run(capsys, "policy", "show")
    assert "own" in out
    assert run(capsys, "policy", "lint", "--policy", "HEAD") == (0, "")
    here.write("other.yaml", "version: 1\nrules: {x: {at: pre-commit, block: nonsense > 1}}\n")
    code, out = run(capsys, "policy", "lint", "--policy", "other.yaml")
    assert code == 2 and "other.yaml:2:" in out
    code, out = run(capsys, "try", "--policy", "HEAD")
    assert code == 0 and "size" in out and "own" not in out
    assert run(capsys, "trust", "--list", "--policy", "HEAD") == (0, "the policy runs no command\n")
    assert main.run(["policy", "lint", "--policy", "nowhere"]) == 2

"""`ahp explain ID`: all there is to know about one signal."""

from __future__ import annotations

import json

import pytest

from ahp.cli.main import run
from tests.conftest import Repo

POLICY = """\
version: 1
rules:
  names:
    at: pre-commit
    each: p in files.changed
    block: p.startswith('bad')
    finding: {file: p}
    message: a bad name
    fix: [rename it, "or ask {files.changed_count} others"]
"""


@pytest.fixture
def signal(repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """The beginning of the id of a block with two findings."""
    repo.write(".ahp/hooks.yaml", POLICY)
    repo.commit("first", **{"a.txt": "1"})
    for name in ("bad1", "bad2"):
        repo.write(name)
        repo.add(name)
    monkeypatch.chdir(repo.root)
    assert run(["run", "pre-commit", "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    return str(told["signals"][0]["header"]["id"])[:8]


def test_a_signal_is_told_with_its_rule_findings_steps_and_answers(
    repo: Repo, signal: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["explain", signal]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("refused by ") and ", by human, at pre-commit, 20" in lines[0]
    assert [line for line in lines if line.startswith("  bad")] == ["  bad1", "  bad2"]
    assert "rule: .ahp/hooks.yaml:6:12" in lines
    assert not any("sha256:" in line for line in lines) and lines[-1] == "the whole record: --format json"
    assert lines.index("  bad2") < lines.index("rule: .ahp/hooks.yaml:6:12")  # the values come first
    assert [line.partition("  (")[0] for line in lines if line.startswith(("  each", "  cond", "fix", "answer"))] == [
        "  each: p in files.changed",
        "  condition: p.startswith('bad')",
        "fix: rename it",
        "fix: or ask {files.changed_count} others",
        f"answer: ahp respond {signal} retry_after_fix",
        f'answer: ahp respond {signal} proceed_with_risk --reason "…"',
        f"answer: ahp respond {signal} abort",
    ]
    assert all("  (" in line for line in lines if line.startswith("answer"))  # and each says what it does
    monkeypatch.setenv("CLAUDECODE", "1")
    assert run(["explain", signal]) == 0
    said = capsys.readouterr().out
    assert "answer: " not in said  # it was a person's
    assert f"for a person: ahp respond {signal} proceed_with_risk --reason" in said


def test_what_let_a_signal_pass_is_told_and_nothing_is_asked_for(
    repo: Repo, signal: str, capsys: pytest.CaptureFixture[str], person: list[str]
) -> None:
    assert run(["respond", signal, "proceed_with_risk", "--reason", "x"]) == 0
    capsys.readouterr()
    assert run(["run", "pre-commit", "--format", "json"]) == 0
    capsys.readouterr()
    assert run(["log", "--kind", "signal", "--format", "json"]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert run(["explain", last["id"][:8]]) == 0
    said = capsys.readouterr().out
    assert f"it passed all the same: by the answer to {last['overrides']} (claimed)\n" in said
    assert "answer: ahp" not in said


def test_a_rule_of_commits_is_found_for_a_signal_of_a_push(
    repo: Repo, signal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = repo.root / ".ahp/hooks.yaml"
    policy.write_text(POLICY.replace("pre-commit", "commit-msg"))
    assert run(["explain", signal]) == 0
    assert "rule: .ahp/hooks.yaml:6:12\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (POLICY.replace("'bad'", "'bad1'"), "(changed since)"),
        ("version: 1\nrules: {other: {at: pre-commit, block: 'false', message: no}}\n", "has no such rule any more"),
        ("rules: [", "cannot be read"),
    ],
)
def test_a_policy_that_is_another_now_is_told(
    repo: Repo, signal: str, capsys: pytest.CaptureFixture[str], policy: str, said: str
) -> None:
    repo.write(".ahp/hooks.yaml", policy)
    assert run(["explain", signal, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["rule"] == "names" and told["findings_total"] == 2
    assert said in told["explained"]["rule_at"]


def test_a_rule_is_explained_wherever_it_is_asked(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.root)
    rule = "{at: [pre-push, pre-commit], block: files.changed_count > 3}"
    repo.write(".ahp/hooks.yaml", f"rules: {{many: {rule}, other: {{at: pre-commit, prompt: branch.is_detached}}}}\n")
    assert run(["explain", "many", "--facts", "{files: {changed_count: 9}}"]) == 1
    said = capsys.readouterr().out
    assert said.count("files.changed_count > 3 = true") == 2 and "other" not in said
    assert said.index("pre-commit on") < said.index("pre-push on")
    assert run(["explain", "many", "--facts", "{files: {changed_count: 1}}", "--format", "json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [[rule["rule"] for rule in one["rules"]] for one in told] == [["many"], ["many"]]


@pytest.mark.parametrize(
    ("word", "hint"),
    [("mnay", "did you mean `many`?"), ("pre-comit", "did you mean `pre-commit`?"), ("zz", "`ahp log`")],
)
def test_a_word_that_is_nothing_here_is_told_with_what_is_near(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str, hint: str
) -> None:
    monkeypatch.chdir(repo.root)
    repo.write(".ahp/hooks.yaml", "rules: {many: {at: pre-push, block: push.is_force}}\n")
    assert run(["explain", word]) == 2
    said = capsys.readouterr().err
    assert f"no trigger, rule or signal is called '{word}'; " in said and hint in said


def test_a_rule_shows_each_condition_once_with_its_value(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "{at: pre-commit, when: branch.name=='main', block: files.changed_count>1 and branch.name=='main'}"
    repo.write(".ahp/hooks.yaml", f"version: 1\nrules: {{wide: {rule}}}\n")
    repo.commit("first", **{"a.txt": "1"})
    monkeypatch.chdir(repo.root)
    assert run(["explain", "wide"]) == 0
    assert [line.strip() for line in capsys.readouterr().out.splitlines()[3:-2]] == [
        "branch.name = 'main'",
        "files.changed_count = 0",
        "when branch.name=='main' = true",
        "files.changed_count>1 and branch.name=='main' = false",
        "files.changed_count > 1 = false",
        "branch.name == 'main' = true",
    ]


def test_of_one_rule_only_what_it_misses_is_told(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = (
        "{covered: {at: pre-push, prompt: coverage.current < 80, on_missing: skip}, "
        "tested: {at: pre-push, when: branch.is_detached, prompt: tests.total == 0}}"
    )
    repo.write(".ahp/hooks.yaml", f"version: 1\nrules: {rules}\n")
    repo.commit("first", **{"a.txt": "1"})
    monkeypatch.chdir(repo.root)
    assert run(["explain", "pre-push"]) == 0
    whole = capsys.readouterr().out
    assert whole.startswith("pre-push on main, environment development: passes\n\n[?] covered — cannot be decided: cov")
    assert "\nnot asked, their `when` does not hold, 1: tested\n" in whole
    assert run(["explain", "tested", "--facts", "{branch: {is_detached: true}}"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("pre-push on main, environment development\n") and "missing tests.total" in said
    assert "missing coverage" in whole and "coverage" not in said


def test_a_push_is_explained_with_what_is_said_of_its_commits(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    size = "  size: {at: pre-push, block: files.changed_count > 9}\n"
    size += "  covered: {at: pre-push, block: coverage.current < 9}\n"
    merge = "  merge: {at: pre-merge-commit, block: files.changed_count > 0}\n"
    repo.commit("first", **{".ahp/hooks.yaml": POLICY + size + merge})
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("second", bad1="1")
    repo.write("bad1", "2")  # so that no report is of what is pushed
    monkeypatch.chdir(repo.root)
    assert run(["explain", "pre-push"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("pre-push on side, environment development: is refused\n") and "\nno, 1: size\n" in said
    assert "ahp: push refused by names" in said.partition("with its commits and the tickets that it moves:\n")[2]
    assert said.count("covered is not decidable here") == 1
    repo.git("checkout", "-q", "-f", "main")
    repo.git("merge", "-q", "--no-ff", "--no-commit", "side")
    assert run(["explain", "pre-commit"]) == 1
    assert "[yes] merge — refuses" in capsys.readouterr().out

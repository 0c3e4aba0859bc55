"""`ahp check` and `ahp run`: the gate asked by hand."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from ahp.cli import main
from ahp.system import environ
from tests.conftest import Repo

DATA = Path(__file__).parent.parent / "data"
POLICY = """\
version: 1
rules:
  size: {at: pre-commit, block: files.changed_count > 1, message: "{files.changed_count} files", fix: [split it]}
  warn: {at: pre-commit, prompt: files.changed_count > 0}
"""
SEED = "version: 1\nlimits: {protected: [main]}\n" + (DATA / "seed_002.yaml").read_text()


@pytest.fixture
def here(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """The repository that the process stands in, with the policy POLICY."""
    repo.commit("first", README="text\n")
    repo.write(".git/info/exclude", "/.ahp/\n")
    repo.write(".ahp/hooks.yaml", POLICY)
    monkeypatch.chdir(repo.root)
    monkeypatch.setattr(environ, "current", lambda: dict(os.environ))
    return repo


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    code = main.run(list(arguments))
    out, err = capsys.readouterr()
    assert not err or code == 2, err
    return code, out + err


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out = run(capsys, *arguments, "--format", "json")
    verdict: dict[str, Any] = json.loads(out)
    assert code == (verdict["decision"] == "deny")
    return verdict


def log(repo: Repo) -> list[dict[str, Any]]:
    path = repo.root / ".git" / "ahp" / "signals.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_nothing_to_say_is_silence(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "check", "pre-commit") == (0, "")


def test_where_no_policy_judges_that_is_said(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    here.write(".ahp/hooks.yaml", "")
    assert main.run(["check", "pre-commit"]) == 0
    assert capsys.readouterr() == ("", "ahp: no policy judges here, so everything passes; `ahp init` writes one\n")
    assert main.run(["explain", "pre-commit"]) == 0
    assert "no rule of a policy is asked here" in capsys.readouterr().out


def test_on_a_terminal_silence_is_said(
    here: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    code, out = run(capsys, "check", "pre-commit")
    assert code == 0 and out.startswith("ahp: pre-commit: nothing to say; nothing is staged (git add); ")
    assert run(capsys, "explain", "pre-commit")[1].endswith("ahp explain ID, as `ahp log` shows it\n")
    here.write("a.txt")
    here.add()
    assert "nothing is staged" not in run(capsys, "explain", "pre-commit")[1]


def test_a_check_judges_and_leaves_no_trace(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a.txt", "b.txt"):
        here.write(name)
    here.add()
    code, out = run(capsys, "check", "pre-commit")
    assert code == 1
    assert "refused by size\n  2 files\n  - split it" in out
    assert log(here) == []
    assert not (here.root / ".git" / "ahp" / "index").exists()


def test_a_run_is_logged(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    here.write("a.txt")
    here.add()
    code, out = run(capsys, "run", "pre-commit")
    assert code == 0
    assert "warned by warn" in out
    records = log(here)
    told = [(r["kind"], r.get("rule")) for r in records]
    assert told == [("genesis", None), ("policy", None), ("signal", "warn"), ("verdict", None)]
    assert (records[2]["host"], records[2]["decision"]) == ("cli", "warn")
    here.git("rm", "-q", "--cached", "a.txt")
    assert run(capsys, "run", "pre-commit") == (0, "")
    assert log(here)[-1]["decision"] == "allow"


def test_an_agent_reads_its_words(
    here: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    here.write("a.txt")
    here.add()
    assert run(capsys, "check", "pre-commit")[1].startswith("ahp note: ")


def test_facts_replace_what_would_be_gathered(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    here.write("facts.yaml", "files: {changed_count: 7}\n")
    verdict = ask(capsys, "check", "pre-commit", "--facts", "facts.yaml")
    assert verdict["decision"] == "deny"
    assert verdict["signals"][0]["payload"] == {
        "level": "blocking",
        "decision": "deny",
        "reason": "7 files",
        "resolvable": True,
        "resolution_path": ["split it"],
    }
    code, out = run(capsys, "run", "pre-commit", "--facts", "facts.yaml")
    assert code == 2
    assert "--facts is for dry commands" in out


@pytest.mark.wings
def test_facts_may_stand_in_the_argument_and_a_call_is_read_as_a_real_one(
    here: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "no-rm: {at: pre-tool-use, block: any(c.program == 'rm' for c in tool.commands), message: no rm}"
    here.write(".ahp/hooks.yaml", f"rules:\n  {rule}\n")
    call = '{tool: {command: "cd x && rm -rf /"}}'
    assert ask(capsys, "check", "pre-tool-use", "--facts", call)["decision"] == "deny"
    code, out = run(capsys, "facts", "pre-tool-use", "--facts", call)
    assert code == 0 and re.search(r'tool.name +str +"shell"', out) and re.search(r"tool.commands .* 2: ", out)
    assert run(capsys, "explain", "pre-tool-use", "--facts", call)[0] == 1


def test_json_holds_the_verdict_of_the_protocol(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    verdict = ask(capsys, "check", "pre-commit")
    assert list(verdict) == ["decision", "trigger", "subject", "signals", "modifications", "dropped", "policy"]
    assert (verdict["decision"], verdict["trigger"], verdict["subject"]) == ("allow", "pre-commit", "main")


def test_an_invalid_policy_is_2_with_its_places(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    here.write(".ahp/hooks.yaml", "version: 1\nrules: {a: {at: pre-comit, block: 1 > 0}, b: 7}\n")
    code, out = run(capsys, "check", "pre-commit")
    assert code == 2
    assert ".ahp/hooks.yaml:2:" in out


def seed_facts(done: int, total: int, changed: int = 1, failed: int = 0, coverage: float = 90.0) -> str:
    return json.dumps(
        {
            "checklist": {"incomplete_count": total - done, "completion_rate": done / total},
            "files": {"changed_count": changed, "changed": [f"f{n:02}" for n in range(changed)]},
            "tests": {"failed_count": failed},
            "coverage": {"current": coverage, "threshold": 80.0},
        }
    )


@pytest.mark.parametrize(
    ("facts", "decision", "signals"),
    [
        (seed_facts(10, 10), "allow", []),
        (seed_facts(1, 3), "deny", [("checklist-validator/1", "block")]),
        (seed_facts(9, 10), "warn", [("checklist-validator/2", "prompt")]),
        (seed_facts(8, 10), "deny", [("checklist-validator/1", "block")]),
        (seed_facts(10, 10, changed=25), "allow_with_modification", [("change-size-limiter/1", "control")]),
        (seed_facts(10, 10, failed=2), "deny", [("test-gate/1", "block")]),
        (seed_facts(10, 10, coverage=70.0), "warn", [("test-gate/2", "prompt")]),
        (seed_facts(10, 10, failed=2, coverage=70.0), "deny", [("test-gate/1", "block"), ("test-gate/2", "prompt")]),
        (seed_facts(9, 10, failed=1), "deny", [("checklist-validator/2", "prompt"), ("test-gate/1", "block")]),
    ],
)
def test_the_seed_s_example_gives_the_verdicts_that_the_design_tells(
    here: Repo, capsys: pytest.CaptureFixture[str], facts: str, decision: str, signals: list[tuple[str, str]]
) -> None:
    here.write(".ahp/hooks.yaml", SEED)
    here.write("facts.json", facts)
    verdict = ask(capsys, "check", "pre-issue-submit", "--facts", "facts.json")
    assert verdict["decision"] == decision
    got = [(s["context"]["rule"], s["header"]["intensity"]) for s in verdict["signals"]]
    assert sorted(got) == sorted(signals)
    if decision == "warn" and signals == [("checklist-validator/2", "prompt")]:
        (dropped,) = verdict["dropped"]
        assert dropped["rule"] == "checklist-validator/1"
        assert dropped["why"].startswith("refined by checklist-validator/2")


def test_the_seed_s_large_change_is_split_into_batches(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    here.write(".ahp/hooks.yaml", SEED.replace("changed_count > 20", "changed_count > 2").replace(": 10", ": 2"))
    for name in ("a", "b", "c"):
        here.write(name)
    facts = json.loads(seed_facts(10, 10))
    del facts["files"]
    here.write(".ahp/facts.json", json.dumps(facts))
    verdict = ask(capsys, "check", "pre-issue-submit", "--facts", ".ahp/facts.json")
    assert verdict["decision"] == "allow_with_modification"
    (change,) = verdict["modifications"]
    assert (change["target"], change["original"], change["updated"]) == ("batch_size", 3, 2)
    assert change["batches"] == [["a", "b"], ["c"]]


def test_without_evidence_the_seed_s_rules_say_which_fact_is_missing(
    here: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    here.write(".ahp/hooks.yaml", SEED)
    here.write("facts.json", json.dumps({**json.loads(seed_facts(10, 10)), "tests": {}}))
    verdict = ask(capsys, "check", "pre-issue-submit", "--facts", "facts.json")
    assert verdict["decision"] == "warn"
    (signal,) = verdict["signals"]
    assert signal["context"]["rule"] == "test-gate/1"
    assert signal["payload"]["message"].startswith("cannot tell: tests.failed_count is missing")


@pytest.fixture
def pushing(here: Repo) -> Repo:
    """`here`, where the upstream has all but a commit that breaks the rule `size`."""
    here.git("init", "-q", "--bare", str(here.root.parent / "remote.git"))
    here.git("remote", "add", "origin", str(here.root.parent / "remote.git"))
    here.git("push", "-q", "-u", "origin", "main")
    here.commit("two", **{"a.txt": "1\n", "b.txt": "1\n"})
    return here


def test_of_a_push_each_commit_is_judged(pushing: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    commit = pushing.git("rev-parse", "HEAD")[:10]
    code, out = run(capsys, "check", "pre-push")
    assert code == 1 and "\nahp: push refused by size\n  2 files\n" in out
    verdict = ask(capsys, "check", "pre-push")
    assert verdict["decision"] == "deny"
    signal = verdict["signals"][0]
    assert signal["context"]["rule"] == "size"
    assert {one["commit"] for one in signal["context"]["findings"]} == {commit}
    assert log(pushing) == []
    pushing.git("reset", "-q", "--hard", "HEAD~1")
    assert run(capsys, "check", "pre-push") == (0, "")


def test_a_push_is_judged_for_real_with_its_commits(pushing: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = run(capsys, "run", "pre-push")
    assert code == 1 and "\nahp: push refused by size (" in out
    told = {(one["kind"], one.get("rule")): one for one in log(pushing)}
    assert (told["signal", "size"]["hook"], told["signal", "size"]["host"]) == ("pre-push", "cli")
    assert told["verdict", None]["decision"] == "deny"


def test_of_a_push_that_is_stated_the_range_alone_is_judged(pushing: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "check", "pre-push", "--facts", '{"push": {"is_force": false}}') == (0, "")


def test_a_push_that_nobody_judges_passes(pushing: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    pushing.git("add", "-f", ".ahp/hooks.yaml")
    pushing.git("commit", "-q", "-m", "a policy")
    pushing.git("rm", "-q", ".ahp/hooks.yaml")
    pushing.git("commit", "-q", "-m", "none")
    pushing.git("push", "-q")
    pushing.commit("two", **{"c.txt": "1\n", "d.txt": "1\n"})
    assert main.run(["check", "pre-push"]) == 0
    assert capsys.readouterr().err.startswith("ahp: no policy judges here")


def test_facts_of_a_name_that_nobody_has_are_no_facts(here: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["check", "pre-commit", "--facts", "{filse: {changed_count: 9}}"]) == 2
    assert "there are no facts `filse`; did you mean `files`?" in capsys.readouterr().err
    here.write(".ahp/hooks.yaml", "facts: {filse: {run: [x], parse: exit}}\nrules: {}\n")
    assert main.run(["check", "pre-commit", "--facts", "{filse: {exit_code: 0}}"]) == 0

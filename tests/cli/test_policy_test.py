from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ahp.cli.main import run
from tests.conftest import Repo

POLICY = """
rules:
  size: {at: pre-commit, prompt: files.changed_count > 3}
  never: {at: pre-push, block: push.is_force}
hooks:
  pre-issue-submit:
    - name: boxes
      rules:
        - {id: open, condition: checklist.incomplete_count > 0, intensity: block}
        - {id: last, condition: checklist.incomplete_count > 0 and checklist.completion_rate > 0.8, intensity: prompt}
"""
GOOD = """
- {name: many, trigger: pre-commit, facts: {files: {changed_count: 4}}, expect: {decision: warn}}
- name: nearly
  trigger: pre-issue-submit
  facts: {checklist: {incomplete_count: 1, completion_rate: 0.9}}
  expect: {signals: [{rule: boxes/last}]}
"""
BAD = """\
- {name: "few\\u0001 <files>", trigger: pre-commit, facts: {files: {changed_count: 1}}, expect: {decision: deny}}
"""


@pytest.fixture(autouse=True)
def inside(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)
    repo.write(".ahp/hooks.yaml", POLICY)


def test_all_tests_of_the_project_are_run_and_what_they_reach_is_told(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write(".ahp/tests/b.yaml", GOOD)
    repo.write(".ahp/tests/note.txt", "no test")
    assert run(["policy", "test"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["rule", "trigger", "matched", "silent", "undecided"]
    assert ["size", "pre-commit", "1", "0", "0"] in lines and ["never", "pre-push", "never", "0", "0"] in lines
    assert " ".join(lines[-1]) == "2 of 2 tests hold; 3 of 4 rules reached"


def test_rules_of_packs_that_no_test_reached_are_counted(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(".ahp/hooks.yaml", f"extends: [core]\n{POLICY}")
    repo.write(".ahp/tests/b.yaml", GOOD)
    assert run(["policy", "test"]) == 0
    out = capsys.readouterr().out
    assert "never" in out and "key-files" not in out and "rules of packs that no test reached are left out" in out
    assert run(["policy", "test", "--all"]) == 0
    out = capsys.readouterr().out
    assert "key-files" in out and "left out" not in out
    named = {line.split()[0] for line in out.splitlines()[1:-1] if " for " not in line}
    assert f" of {len(named)} rules reached" in out  # one that is asked at two triggers is one rule


def test_a_test_that_fails_is_named_with_its_place_and_the_exit_code_is_one(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write(".ahp/tests/a.yaml", BAD)
    assert run(["policy", "test"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(".ahp/tests/a.yaml:1: failed: few")
    assert "    decision: expected deny, got allow\n" in out and "\x01" not in out


def test_a_fact_that_a_test_left_out_is_told_with_what_to_do(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(
        ".ahp/tests/a.yaml",
        "- {name: a, trigger: pre-commit, facts: {files: {added: []}}, expect: {decision: allow}}\n",
    )
    assert run(["policy", "test"]) == 1
    out = capsys.readouterr().out
    assert "    got signal: size (prompt): cannot tell: files.changed_count is missing" in out
    assert "\na namespace that a test gives is whole: give the missing fact, too, or" in out


@pytest.mark.parametrize("on_missing", ["block", "prompt", "skip"])
def test_a_rule_that_could_not_be_decided_was_not_silent(
    repo: Repo, capsys: pytest.CaptureFixture[str], on_missing: str
) -> None:
    repo.write(".ahp/hooks.yaml", POLICY.replace("changed_count > 3", f"changed_count > 3, on_missing: {on_missing}"))
    repo.write(".ahp/tests/a.yaml", "- {name: a, trigger: pre-commit, facts: {files: {added: []}}, expect: {}}\n")
    assert run(["policy", "test"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["size", "pre-commit", "never", "0", "1"] in lines


def test_json_holds_tests_and_rules(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(
        ".ahp/tests/a.yaml",
        GOOD + BAD + "- {name: w, trigger: pre-commit, facts: {files: {changed_count: x}}, expect: {}}",
    )
    assert run(["policy", "test", "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [test["decision"] for test in found["tests"]] == ["warn", "warn", "allow", None]
    assert found["tests"][0]["line"] == 2 and found["tests"][2]["faults"] == ["decision: expected deny, got allow"]
    never = {"rule": "never", "trigger": "pre-push", "asked": 0, "spoke": 0, "undecided": 0, "own": True}
    assert never in found["rules"]


def test_junit_is_xml_with_a_case_a_test(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(".ahp/tests/a.yaml", BAD)
    repo.write(".ahp/tests/b.yml", GOOD)
    assert run(["policy", "test", "--format", "junit"]) == 1
    root = ElementTree.fromstring(capsys.readouterr().out)
    assert (root.get("tests"), root.get("failures")) == ("3", "1")
    (failure,) = root.iter("failure")
    assert failure.get("message") == "decision: expected deny, got allow"
    assert next(case.get("name") for case in root.iter("testcase")) == ".ahp/tests/a.yaml:1 few\ufffd <files>"


def test_files_and_another_policy_can_be_named_outside_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").write_text("rules: {size: {at: pre-commit, block: files.changed_count > 3}}")
    (tmp_path / "t.yaml").write_text(
        "- {name: x, trigger: pre-commit, facts: {files: {changed_count: 9}}, expect: {decision: deny}}"
    )
    assert run(["policy", "test", "t.yaml", "--policy", "policy.yaml"]) == 0
    assert "1 of 1 tests hold; 1 of 1 rules reached" in capsys.readouterr().out


def test_the_user_s_and_the_local_layer_take_no_part(repo: Repo, home: Path) -> None:
    layer = "rules: {mine: {at: pre-commit, block: files.changed_count > 0}}"
    repo.write(".ahp/hooks.local.yaml", layer)
    (home / ".ahp").mkdir()
    (home / ".ahp/hooks.yaml").write_text(layer)
    repo.write(".ahp/tests/a.yaml", GOOD)
    assert run(["policy", "test"]) == 0


def test_mistakes_of_all_files_are_named_at_once_and_the_exit_code_is_two(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write(".ahp/tests/a.yaml", "- {name: x}\n")
    repo.write(".ahp/tests/b.yaml", "name: x\n")
    assert run(["policy", "test"]) == 2
    said = capsys.readouterr().err
    assert ".ahp/tests/a.yaml:1:3" in said and ".ahp/tests/b.yaml:1:1" in said


def test_without_a_test_it_says_where_to_write_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "test"]) == 2
    assert "write .ahp/tests/NAME.yaml" in capsys.readouterr().err

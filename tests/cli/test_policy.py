from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from ahp.cli.main import run
from tests.conftest import Repo

POLICY = "rules: {a: {at: [pre-commit, pre-push], block: files.changed_count > 3, fix: [split it]}}\n"


@pytest.fixture(autouse=True)
def inside(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)
    repo.write(".ahp/hooks.yaml", POLICY)


def test_at_a_terminal_a_valid_policy_is_said_to_be_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(["policy", "lint"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "ahp: the policy is valid, and there is no advice"
    monkeypatch.setitem(sys.modules, "z3", None)
    assert run(["policy", "lint"]) == 0
    assert "compared by their normal forms; to prove more:" in capsys.readouterr().out


def test_lint_says_nothing_of_a_good_policy_and_stores_it(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "lint"]) == 0
    assert capsys.readouterr().out == ""
    assert list((repo.root / ".git/ahp/cache").glob("*/pre-push"))


def test_lint_names_every_mistake_and_exits_with_two(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(".ahp/hooks.yaml", "rules:\n  a: {at: pre-psh, block: x.y}\n  b: {at: pre-push}\n")
    assert run(["policy", "lint"]) == 2
    out = capsys.readouterr().out.splitlines()
    assert [line.split(": ")[0] for line in out] == [".ahp/hooks.yaml:2:11", ".ahp/hooks.yaml:3:3"]
    assert run(["policy", "lint", "--format", "json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["valid"] is False
    assert found["problems"][0]["line"] == 2 and found["problems"][0]["mended"] == ""


def test_lint_advises_on_folders_and_files_of_nearly_the_right_name(
    repo: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "{{at: pre-commit, prompt: \"any(glob(f, ['{}', '*.py', 'docs/', 'other/x']) for f in files.changed)\"}}"
    repo.write("migrations/a.py")
    repo.write(".ahp/waivers.yml")
    repo.write(".ahp/hooks.yaml", f"rules:\n  a: {rule.format('migration/**')}\n  b: {rule.format('migrations/**')}\n")
    assert run(["policy", "lint"]) == 0
    folder, file = capsys.readouterr().out.splitlines()
    said = "the pattern `migration/**` is about a folder that is not here; did you mean `migrations`?  (advice)"
    assert folder == f".ahp/hooks.yaml:2:32: {said}"
    assert file == ".ahp/waivers.yml:1:1: is not read; the file is called waivers.yaml  (advice)"


@pytest.mark.wings
def test_lint_advises_on_tests_and_the_runners_settings(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    told = {
        ".ahp/tests/a.yaml": (
            "- {name: x, trigger: pre-push, expect: {signals: [{rule: aa}]}}",
            "1:58: no rule 'aa' is asked at pre-push; did you mean `a`?",
        ),
        ".ahp/tests/c.yml": ("- {name: x, trigger: pre-psh, expect: {}}", "1:22: there is no trigger 'pre-psh'"),
        ".ahp/agent.yaml": ("max_token: 3", "1:1: max_token: no such name; did you mean max_tokens?"),
    }
    for path, (text, _) in told.items():
        repo.write(path, text)
    (repo.root / ".ahp/tests/b.yaml").symlink_to("nowhere")
    assert run(["policy", "lint"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4 and all(line.endswith("  (advice)") for line in lines)
    assert ".ahp/tests/b.yaml:1:1: there is no such file  (advice)" in lines
    for path, (_, what) in told.items():
        assert any(line.startswith(f"{path}:{what}") for line in lines), (path, lines)
    assert run(["policy", "lint", ".ahp/hooks.yaml"]) == 0
    assert capsys.readouterr().out == "", "a file by itself"
    shutil.rmtree(repo.root / ".ahp/tests")
    repo.write(".ahp/tests")
    repo.write(".ahp/agent.yaml", "a: [")
    assert run(["policy", "lint"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("/.ahp/tests: Not a directory  (advice)") and lines[1].startswith(".ahp/agent.yaml:1:")
    assert run(["policy", "test"]) == 2
    assert "/.ahp/tests: Not a directory" in capsys.readouterr().err


def test_lint_names_the_mistakes_of_waivers_too(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(".ahp/waivers.yaml", "- {rule: a, subjct: x, reason: y, approver: z, expires: 2020-01-01}\n")
    assert run(["policy", "lint"]) == 2
    assert "unknown key 'subjct'; did you mean `subject`?" in capsys.readouterr().out


def test_lint_gives_advice_on_waivers_that_do_not_hold(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    waiver = "- {{rule: {}, subject: x, reason: y, approver: z, expires: 2020-01-01}}\n"
    repo.write(".ahp/waivers.yaml", waiver.format("a") + waiver.format("gone"))
    assert run(["policy", "lint"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == ".ahp/waivers.yaml:1:3: waiver of a on x expired on 2020-01-01  (advice)"
    assert said[1].startswith(".ahp/waivers.yaml:2:3: waiver of gone") and len(said) == 2


def test_lint_says_that_there_was_nothing_to_check(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    (repo.root / ".ahp/hooks.yaml").unlink()
    assert run(["policy", "lint"]) == 0
    said = capsys.readouterr()
    assert said.out == "" and said.err == "the policy has no rules; `ahp init` writes one\n"


def test_lint_gives_advice_and_passes(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(".ahp/hooks.yaml", "mode: observe\n" + POLICY)
    assert run(["policy", "lint"]) == 0
    assert capsys.readouterr().out.endswith("(advice)\n")


def test_lint_checks_one_file_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "other.yaml"
    other.write_text("rules: {a: {at: pre-push, blok: x}}")
    assert run(["policy", "lint", str(other)]) == 2
    assert f"{other}:1:27: unknown key `blok`" in capsys.readouterr().out
    other.write_text(POLICY)
    assert run(["policy", "lint", str(other)]) == 0


def test_show_prints_the_merged_policy_with_layers_and_waivers(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(".ahp/hooks.local.yaml", "rules: {b: {at: pre-push, block: push.is_force}}\n")
    repo.write(
        ".ahp/waivers.yaml",
        "- {rule: a, subject: FEAT-1, reason: moving, approver: ann, expires: 2020-01-01}\n",
    )
    assert run(["policy", "show"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n  a  block  if files.changed_count > 3 waived for FEAT-1 until 2020-01-01 [project]\n") == 2
    assert "\n  b  block  if push.is_force [local]\n" in out
    assert "expired on 2020-01-01" in out
    assert run(["policy", "show", "--all"]) == 0
    assert "\n  b  block  if push.is_force [local] sha256:" in capsys.readouterr().out
    assert run(["policy", "show", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [rule["rule"] for rule in found["rules"]] == ["a", "a", "b"]
    assert found["rules"][0]["waived"][0]["subject"] == "FEAT-1"


def test_show_prints_settings_as_a_policy_file_has_them(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    escalation = "{ladder: [prompt, block], after: 2, forget_after: 36h}"
    lint = "{run: [ruff, check, .], extract: {}, timeout: 500ms}"
    limits = "{protected: [main, '*'], most: 30, ticket: 'a: b'}"
    policy = f"escalation: {escalation}\nlimits: {limits}\nfacts: {{lint: {lint}}}\n"
    repo.write(".ahp/hooks.yaml", policy)
    assert run(["policy", "show", "--all"]) == 0
    out = capsys.readouterr().out
    assert f"  escalation        {escalation}  [project]\n" in out
    assert "  limits.protected  [main, '*']  [project]\n" in out
    assert "  limits.most       30  [project]\n" in out
    assert "  limits.ticket     a: b  [project]\n" in out
    assert "timeout: 500ms" in out


def test_show_cuts_long_values(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(".ahp/hooks.local.yaml", f"limits: {{long: {'x' * 500}}}\n")
    assert run(["policy", "show"]) == 0
    assert f"limits.long  {'x' * 160}… (500 characters)  [local]" in capsys.readouterr().out
    assert run(["policy", "show", "--all"]) == 0
    assert f"limits.long  {'x' * 500}  [local]" in capsys.readouterr().out


def test_an_invalid_policy_cannot_be_shown(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.write(".ahp/hooks.yaml", "rules: 1\n")
    assert run(["policy", "show"]) == 2
    assert ".ahp/hooks.yaml:1:8" in capsys.readouterr().err


def test_schema_is_a_json_schema_with_a_description_for_every_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["$schema"].endswith("2020-12/schema")
    assert "pre-push" in schema["properties"]["hooks"]["propertyNames"]["enum"]
    for model in [schema, *schema["$defs"].values()]:
        for name, entry in model["properties"].items():
            assert entry.get("description"), name
    suggestions = schema["$defs"]["ShortRule"]["properties"]["suggestions"]["items"]["anyOf"]
    assert {"type": "string"} in suggestions


def test_diff_compares_a_commit_with_the_work_tree(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("z3", reason="the extra `proofs` is not installed")
    repo.add()
    repo.commit()
    assert run(["policy", "diff"]) == 0
    assert capsys.readouterr().out == "no rule judges otherwise than at HEAD\n"
    repo.write(".ahp/hooks.yaml", POLICY.replace("> 3", "> 30"))
    assert run(["policy", "diff", "HEAD"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("weaker: a at pre-commit: condition: `files.changed_count > 3` became")
    assert out[1] == "  with files.changed_count 4 this passes now"
    repo.write(".ahp/hooks.yaml", POLICY.replace("}}", "}, new: {at: pre-push, prompt: push.is_force}}"))
    assert run(["policy", "diff"]) == 0
    assert capsys.readouterr().out == "stronger: new at pre-push: added\n"
    repo.write(".ahp/hooks.yaml", POLICY.replace("> 3", "> 30"))
    assert run(["policy", "diff", "--format", "json"]) == 0
    assert [change["verdict"] for change in json.loads(capsys.readouterr().out)] == ["weaker", "weaker"]


def test_packs_are_listed_with_what_they_are_about_here(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.commit("add", **{"app/Dockerfile": "FROM scratch\n", "package-lock.json": "{}", "vendor/x.go": "package x\n"})
    assert run(["policy", "packs", "--format", "json"]) == 0
    found = {entry["name"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert found["docker"]["example"] == "app/Dockerfile" and not found["docker"]["chosen"]
    assert found["supply-chain"]["example"] == "package-lock.json"
    assert found["core"]["chosen"]
    assert found["terraform"]["example"] == found["rust"]["example"] == ""
    assert run(["policy", "packs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines]
    assert names[0] == "core" and names.index("docker") < names.index("terraform")
    assert "fits: app/Dockerfile" in lines[names.index("docker")]


def test_packs_are_found_by_a_word_of_their_rules(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "packs", "Migration"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("sql ") and "sql-edited-migration" in said and "docker" not in said
    assert run(["policy", "packs", "nosuchword"]) == 1

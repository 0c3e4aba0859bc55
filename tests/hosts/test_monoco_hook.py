"""What Monoco's hooks are told, and what the adapter makes of answers that are none."""

from __future__ import annotations

import json
import runpy
import sys
import types
from pathlib import Path
from types import SimpleNamespace

import pytest

from ahp.cli.main import run
from ahp.hosts.monoco.host import answer
from tests.conftest import PROJECT, Repo
from tests.tickets.memory import draft, place

POLICY = """\
version: 1
rules:
  open-boxes: {at: pre-issue-submit, block: checklist.incomplete_count > 0, fix: ["finish {checklist.incomplete}"]}
  large: {at: pre-issue-submit, prompt: files.changed_count < 99, message: look twice}
  told: {at: post-issue-submit, aid: issue.id != '', message: reviewers are told}
"""
PATH = place("FEAT-0001")


@pytest.fixture
def lab(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    text = draft("FEAT-0001").replace("stage: draft", "stage: doing")
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, PATH: text})
    repo.git("checkout", "-q", "-b", "FEAT-0001-a-thing")
    monkeypatch.chdir(repo.root)
    return repo


def test_a_refusal_names_what_refuses_and_what_to_do(lab: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hook", "monoco", "pre-issue-submit", "feat-0001"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["decision"], told["suggestions"]) == ("deny", ["finish 'It works'"])
    assert told["message"].startswith("open-boxes (")
    assert "look twice" not in told["message"]


def test_what_passes_with_a_word_is_a_warning(lab: Repo) -> None:
    lab.write(PATH, (lab.root / PATH).read_text().replace("[ ]", "[x]"))
    told = answer("pre-issue-submit", "FEAT-0001")
    assert (told["decision"], str(told["message"]).endswith("): look twice")) == ("warn", True)
    told = answer("post-issue-submit", "FEAT-0001")
    assert (told["decision"], "reviewers are told" in str(told["message"])) == ("warn", True)
    assert answer("pre-issue-start", "FEAT-0001") == {"decision": "allow", "message": "", "suggestions": []}


@pytest.mark.parametrize("issue", ["FEAT-0404", "login"])
def test_what_cannot_be_judged_is_denied_before_and_told_after(issue: str, lab: Repo) -> None:
    assert answer("pre-issue-submit", issue)["decision"] == "deny"
    lab.write(".ahp/hooks.yaml", "version: 1\nrules: {x: {at: nowhere}}\n")
    before, after = answer("pre-issue-submit", "FEAT-0001"), answer("post-issue-submit", "FEAT-0001")
    assert (before["decision"], after["decision"]) == ("deny", "warn")
    assert ".ahp/hooks.yaml:2" in str(before["message"])


@pytest.mark.parametrize(
    "arguments", [[], ["exec"], ["pre-issue-submit"], ["pre-commit", "x"], ["pre-issue-open", "x"]]
)
def test_the_command_is_for_what_was_installed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hook", "monoco", *arguments]) == 2
    assert "ahp exec -- monoco" in capsys.readouterr().err


def test_the_shim_s_call_ends_as_its_command_does(lab: Repo) -> None:
    assert run(["hook", "monoco", "exec", "sh", "-c", "exit 3"]) == 3


@pytest.fixture
def adapter(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """The adapter's names, with as much of Monoco as its import needs."""
    loader = types.ModuleType("monoco.core.loader")
    loader.FeatureModule, loader.FeatureMetadata = type("FeatureModule", (), {}), SimpleNamespace  # type: ignore[attr-defined]
    for name in ("monoco", "monoco.core"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "monoco.core.loader", loader)
    return runpy.run_path(str(PROJECT / "hooks/monoco/adapter.py"))


def asking(adapter: dict[str, object], script: str) -> tuple[str, str, list[str]]:
    """What the adapter makes of an `ahp` that is this shell script."""
    told = adapter["told"]
    assert isinstance(told, types.FunctionType)
    told.__globals__.update(COMMAND=["/bin/sh", "-c", script], TIMEOUT=60.0)
    decision, message, suggestions = told("pre-issue-submit", "FEAT-0001", "")
    return decision, message, suggestions


def test_the_adapter_hands_on_what_ahp_says(adapter: dict[str, object], tmp_path: Path) -> None:
    said = """echo '{"decision": "warn", "message": "m", "suggestions": ["s", 1]}'"""
    assert asking(adapter, said) == ("warn", "m", ["s", "1"])


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("true", "JSONDecodeError"),
        ("echo '[]'", "TypeError"),
        ("echo '{}'", "KeyError"),
        ("""echo '{"decision": "sure", "message": "", "suggestions": []}'""", "it decided 'sure'"),
        ("echo gone wrong >&2; exit 2", "gone wrong"),
        ("exit 3", "exit code 3"),
        ("kill -9 $$", "exit code -9"),
    ],
)
def test_an_answer_that_is_none_is_a_refusal(script: str, why: str, adapter: dict[str, object]) -> None:
    decision, message, suggestions = asking(adapter, script)
    assert (decision, why in message) == ("deny", True)
    assert "ahp uninstall monoco" in suggestions[0]


def test_an_ahp_that_never_ends_is_killed_with_all_it_started(adapter: dict[str, object], tmp_path: Path) -> None:
    told = adapter["told"]
    assert isinstance(told, types.FunctionType)
    told.__globals__.update(COMMAND=["/bin/sh", "-c", f"(sleep 5; touch {tmp_path}/late) & sleep 60"], TIMEOUT=0.3)
    decision, message, _ = told("pre-issue-submit", "FEAT-0001", str(tmp_path))
    assert (decision, "TimeoutExpired" in message) == ("deny", True)


@pytest.mark.parametrize(("argv", "refused"), [(["monoco", "issue", "submit", "X"], True), (["monoco", "info"], False)])
def test_a_monoco_that_the_adapter_does_not_know_moves_no_issue(
    argv: list[str], refused: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "monoco", None)
    monkeypatch.setattr(sys, "argv", argv)
    with pytest.raises(SystemExit if refused else ImportError):
        runpy.run_path(str(PROJECT / "hooks/monoco/adapter.py"))
    assert ("cannot join Monoco's hooks" in capsys.readouterr().err) is refused


def test_what_somebody_around_the_command_says_is_not_said_twice(lab: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answer("post-issue-submit", "FEAT-0001")["decision"] == "warn"
    monkeypatch.setenv("AHP_FOLLOWED", "start FEAT-0002,submit FEAT-0001")
    assert answer("post-issue-submit", "feat-0001") == {"decision": "allow", "message": "", "suggestions": []}
    assert answer("pre-issue-submit", "FEAT-0001")["decision"] == "deny"

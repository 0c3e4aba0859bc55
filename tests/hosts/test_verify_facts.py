"""What `ahp verify` finds, as facts of a policy: by the presets, behind a person's trust, with nothing left running."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ahp
from ahp.cli.main import run
from tests.runner.verification.projects import PYTEST, program, write
from tests.system.test_descendants import LINUX, alive

POLICY = """\
version: 1
facts: {checks: {preset: verify}, unit: {preset: verify-tests}, style: {preset: verify-lint}}
rules:
  green:
    at: pre-commit
    block: checks.is_red and checks.type != 'passed' and len(checks.summary) > 0
    message: "{checks.type}: {checks.summary}"
    on_missing: skip
  failures:
    at: pre-commit
    each: f in unit.findings
    prompt: unit.type == 'test_failure' and not unit.ok and f.line > 0
    finding: {file: f.path, line: f.line, message: "{f.message}"}
    on_missing: skip
  style: {at: pre-commit, prompt: style.count > 0, on_missing: skip}
"""


@pytest.fixture
def gate(repo: Any, person: list[str], monkeypatch: pytest.MonkeyPatch) -> ahp.Gate:
    monkeypatch.chdir(repo.root)
    tests = {"test_it.py": "def test_a():\n    assert 1 == 2\n", "ruff.toml": "", "a.py": "import os\n"}
    write(repo.root, **{"pytest.ini": PYTEST, ".gitignore": "__pycache__/\n", ".ahp/hooks.yaml": POLICY, **tests})
    repo.add()
    repo.git("commit", "-q", "-m", "first")
    write(repo.root, **{"b.txt": "x"})
    repo.add()
    return ahp.Gate(str(repo.root))


def test_nothing_runs_before_a_person_has_accepted_it(gate: ahp.Gate, repo: Any) -> None:
    program(repo.root / ".venv/bin/python", "touch ran")
    assert gate.judge("pre-commit").decision == "allow"
    assert not (repo.root / "ran").exists()


@pytest.mark.slow
def test_the_runner_s_checks_are_facts(
    gate: ahp.Gate, repo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["trust"]) == 0
    other = program(tmp_path / "bin/ahp", f"touch {tmp_path}/called")  # `ahp` is the one that judges
    assert other
    monkeypatch.setenv("PATH", f"{tmp_path}/bin", prepend=":")
    write(repo.root, **{"ahp/__init__.py": "raise SystemExit(9)\n"})  # nor is it one of the project's
    verdict = gate.judge("pre-commit")
    told = {signal.context["rule"]: signal for signal in verdict.signals}
    assert verdict.decision == "deny"
    assert "pytest: 1 test failed, 0 passed" in str(told["green"].payload)
    assert told["failures"].context["findings"][0]["file"] == "test_it.py"
    assert "style" in told
    assert not (tmp_path / "called").exists()
    write(repo.root, **{"test_it.py": "def test_a(): pass\n", "a.py": "x = 1\n"})
    repo.add()
    assert gate.judge("pre-commit").decision == "allow"


@LINUX
def test_nothing_that_a_command_fact_started_survives_it(
    repo: Any, person: list[str], monkeypatch: pytest.MonkeyPatch, an_hour_passes_at: Callable[[Path], None]
) -> None:
    monkeypatch.chdir(repo.root)
    an_hour_passes_at(repo.root / "pid")
    started = "setsid sh -c 'echo $$ > pid; exec sleep 600' & while [ ! -s pid ]; do sleep 0.01; done; sleep 600"
    slow = {"run": ["sh", "-c", started], "timeout": "300s"}
    rule = {"at": "pre-commit", "prompt": "slow.exit_code > 0", "on_missing": "skip"}
    write(repo.root, **{".ahp/hooks.yaml": json.dumps({"version": 1, "facts": {"slow": slow}, "rules": {"x": rule}})})
    assert run(["trust"]) == 0
    ahp.Gate(str(repo.root)).judge("pre-commit")
    assert not alive(int((repo.root / "pid").read_text()))

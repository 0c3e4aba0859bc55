"""Presets know what the tools print, and what runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ahp.facts import command_output, extract
from ahp.policy.presets import PRESETS
from ahp.policy.rule import Policy

from .conftest import Errors, Load

SARIF = (
    '{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "ruff"}}, "results": [{"ruleId": "F401", "message": '
    '{"text": "unused"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.py"}, "region": '
    '{"startLine": 3}}}]}]}]}'
)


def facts(name: str, printed: str) -> dict[str, object]:
    """The numbers that the preset reads in what its tool printed."""
    spec = PRESETS[name]
    output = command_output.read(printed.encode(), 1, spec["parse"], "/r", ".")
    found: dict[str, object] = {"count": output.count}
    for field, given in spec.get("extract", {}).items():
        expression, kind = (given, "int") if isinstance(given, str) else (given["value"], given["type"])
        found[field] = extract.value(extract.plan(expression, spec["parse"]), kind, output.value)
    return found


@pytest.mark.parametrize(
    ("name", "printed", "expected"),
    [
        ("ruff", SARIF, {"count": 1}),
        ("mypy", "a.py:1: error: bad  [x]\na.py:1: note: see\n", {"error_count": 1}),
        ("mypy", "", {"error_count": 0, "lines": []}),
        ("eslint", '[{"errorCount": 2}, {"errorCount": 0}]', {"count": 2, "error_count": 2}),
        (
            "pytest",
            '<testsuite tests="2"><testcase name="a"><failure/></testcase><testcase name="b"/></testsuite>',
            {"count": 1, "failed_count": 1, "total": 2},
        ),
    ],
)
def test_they_read_what_the_tools_print(name: str, printed: str, expected: dict[str, Any]) -> None:
    assert facts(name, printed).items() >= expected.items()


def test_pytest_s_report_and_exit_code_come_out_of_its_command(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("def test_a(): pass\ndef test_b(): assert 0\n")
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        PRESETS["pytest"]["run"], cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 1
    assert facts("pytest", done.stdout).items() >= {"failed_count": 1, "total": 2}.items()
    output = command_output.read(done.stdout.encode(), 1, "junit", str(tmp_path), ".")
    assert [(found["path"], found["line"]) for found in output.findings] == [("test_x.py", 2)]
    assert [path.name for path in tmp_path.iterdir() if "tmp" in path.name] == []


def command(policy: Policy) -> Any:
    return policy.raw.facts["lint"].value


def test_a_key_beside_a_preset_takes_its_place(load: Load) -> None:
    text = "facts: {lint: {preset: ruff, timeout: 7s}}\nrules: {a: {at: pre-commit, prompt: lint.count > 0}}"
    made = command(load(text))
    assert (made.run[:2], made.parse, made.timeout) == (["ruff", "check"], "sarif", 7.0)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("preset: ruf", "did you mean `ruff`?"),
        ("preset: ruff, timout: 3s", "unknown key `timout`; did you mean `timeout`?"),
        ("preset: [ruff]", "preset"),
        ("parse: json", "needs `run`, a program and its arguments, or a `preset`"),
    ],
)
def test_mistakes_beside_a_preset_are_told(errors: Errors, spec: str, said: str) -> None:
    assert any(said in error for error in errors(f"facts: {{lint: {{{spec}}}}}"))

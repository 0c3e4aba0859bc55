"""Presets know what the tools print, and what runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

from ahp.facts import command_facts, command_output
from ahp.policy.presets import PRESETS, Preset
from ahp.policy.rule import Policy

from .conftest import Errors, Load

SARIF = (
    '{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "ruff"}}, "results": [{"ruleId": "F401", "message": '
    '{"text": "unused"}, "locations": [{"physicalLocation": {"artifactLocation": {"uri": "a.py"}, "region": '
    '{"startLine": 3}}}]}]}]}'
)


def facts(name: Preset, printed: str) -> dict[str, object]:
    """The numbers that the preset reads in what its tool printed."""
    spec = PRESETS[name]
    output = command_output.read(printed.encode(), 1, spec["parse"], "/r", ".")
    found: dict[str, object] = {"count": output.count}
    for field, given in spec.get("extract", {}).items():
        expression, kind = (given, "int") if isinstance(given, str) else (given["value"], given["type"])
        found[field] = command_facts.value(command_facts.plan(expression, spec["parse"]), kind, output.value)
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
def test_they_read_what_the_tools_print(name: Preset, printed: str, expected: dict[str, Any]) -> None:
    assert facts(name, printed).items() >= expected.items()


@pytest.mark.slow
def test_pytest_s_report_and_exit_code_come_out_of_its_command(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text("def test_a(): pass\ndef test_b(): assert 0\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")  # else a folder above may be taken for the project's
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        PRESETS["pytest"]["run"], cwd=tmp_path, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 1
    assert facts("pytest", done.stdout).items() >= {"failed_count": 1, "total": 2}.items()
    output = command_output.read(done.stdout.encode(), 1, "junit", str(tmp_path), ".")
    assert [(found["path"], found["line"]) for found in output.findings] == [("test_x.py", 2)]
    assert [path.name for path in tmp_path.iterdir() if "tmp" in path.name] == []


SETTINGS = """\
[tool.ruff]
fix = true
unsafe-fixes = true
show-fixes = true
output-format = "grouped"
cache-dir = "kept"
[tool.mypy]
pretty = true
color_output = true
show_absolute_path = true
show_error_context = true
error_summary = true
install_types = true
non_interactive = true
files = "a.py"
[tool.pytest.ini_options]
addopts = "--color=yes -vv --pdb --junit-prefix=x"
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ruff", {"count": 1}),
        ("mypy", {"count": 1, "error_count": 1}),
        ("mypy-configured", {"count": 1, "error_count": 1}),
        ("pytest", {"failed_count": 1, "total": 1}),
    ],
)
@pytest.mark.slow
def test_a_project_s_settings_make_no_check_write_or_print_for_people(
    name: Preset, expected: dict[str, Any], tmp_path: Path
) -> None:
    texts = {
        "pyproject.toml": SETTINGS,
        "a.py": "import os\n\n\ndef f() -> int:\n    return 'x'\n",
        "test_a.py": "def test_a():\n    assert 0\n",
    }
    for path, text in texts.items():
        (tmp_path / path).write_text(text)
    done = subprocess.run(
        PRESETS[name]["run"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "FORCE_COLOR": "1", "TERM": "xterm"},
        timeout=60,
    )
    assert facts(name, done.stdout).items() >= expected.items(), done.stdout + done.stderr
    assert "\x1b" not in done.stdout
    assert {path: (tmp_path / path).read_text() for path in texts} == texts
    assert not (tmp_path / "kept").exists()
    if name.startswith("mypy"):
        assert done.stdout.startswith("a.py:5: error: ")


def test_each_preset_has_its_command() -> None:
    assert set(PRESETS) == set(get_args(Preset))


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

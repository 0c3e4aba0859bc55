"""docs/runner.md and docs/runner-reference.md say what the code does, and `import ahp` loads no model SDK.

Set AHP_TEST_WRITE_DOCS=1 to write the generated part anew.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ahp.runner.config import AgentConfig
from ahp.runner.run.run_state import MOVES
from ahp.runner.scripted import load_script

PROJECT = Path(__file__).resolve().parent.parent.parent
DOC = (PROJECT / "docs" / "runner.md").read_text("utf-8")
PAGE = PROJECT / "docs" / "runner-reference.md"
REFERENCE = PAGE.read_text("utf-8")
BEGIN = "AHP_TEST_WRITE_DOCS=1 pytest tests/runner/test_runner_docs.py -->\n"
END = "<!-- end of the generated part -->"
SOURCE = "\n".join(path.read_text("utf-8") for path in (PROJECT / "ahp" / "runner").rglob("*.py"))


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table under a heading."""
    table = REFERENCE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    found = [line for line in table.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[2:]]


def quoted(cells: list[str]) -> set[str]:
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def generated() -> str:
    """The tables of states and settings, as the code has them."""
    words = {"None": "null", "True": "true", "False": "false"}
    lines = ["", "## States", "", "| from | to |", "| --- | --- |"]
    for state, moves in MOVES.items():
        lines.append(f"| {state.value} | {', '.join(sorted(to.value for to in moves))} |")
    lines += ["", "## Circuit breakers", "", "Keys of `.ahp/agent.yaml`.", ""]
    lines += ["| setting | default | meaning |", "| --- | --- | --- |"]
    for name, field in AgentConfig.model_fields.items():
        default = words.get(str(field.default), str(field.default).removesuffix(".0"))
        lines.append(f"| `{name}` | {default} | {' '.join(str(field.description).split())} |")
    return "\n".join([*lines, "", ""])


def test_the_states_and_settings_are_those_of_the_code() -> None:
    head, _, rest = REFERENCE.partition(BEGIN)
    fresh = head + BEGIN + generated() + END + rest.partition(END)[2]
    if os.environ.get("AHP_TEST_WRITE_DOCS"):
        PAGE.write_text(fresh, "utf-8")
    assert PAGE.read_text("utf-8") == fresh


def emitted() -> Iterator[tuple[str, set[str]]]:
    """(kind, names of its fields) of every event that the source writes."""
    for path in (PROJECT / "ahp" / "runner").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if not isinstance(node, ast.Call):
                continue
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name.strip("_") == "events" and node.args and isinstance(node.args[0], ast.Constant):
                yield str(node.args[0].value), {str(keyword.arg) for keyword in node.keywords}


def test_every_event_is_told_with_its_fields() -> None:
    told = {row[0].strip("`"): set(re.findall(r"\w+", row[1])) for row in rows("Events")}
    made = dict(emitted())
    assert set(made) == set(told)
    assert {kind: fields - told[kind] for kind, fields in made.items() if fields - told[kind]} == {}


def test_the_examples_work(repo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("first", **{".ahp/hooks.yaml": "version: 1\n"})
    monkeypatch.chdir(repo.root)
    [script] = re.findall(r"```yaml\n(.*?)```", DOC, re.DOTALL)
    repo.write("script.yaml", script)
    assert load_script("script.yaml").task == "what is the weather in Beijing?"
    [code] = re.findall(r"```python\n(.*?)```", DOC, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["turn"].answer == "hello"


def test_every_stop_reason_is_told() -> None:
    made = set(
        re.findall(
            r'"((?:BUDGET|MODEL|GATE|ISSUE|CONTEXT|CHECKOUT|VERIFICATION|MAX|PLAN|NO(?=_EV))_[A-Z]+|DEADLOCK|DONE)"',
            SOURCE,
        )
    )
    told = quoted([row[0] for row in rows("How a run ends")])
    assert made == told


def test_importing_ahp_and_the_runner_loads_no_model_sdk() -> None:
    code = "import sys, ahp, ahp.runner.run.agent, ahp.runner.commands.agent; "
    code += "print({'openai', 'anthropic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout == b"set()\n"

"""docs/embedding.md: its example runs as it stands, and says what the page says."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable
from importlib.resources import files
from typing import Any

import pytest

from ahp import Gate
from ahp.system import environ
from tests.conftest import PROJECT, Repo

PAGE = (PROJECT / "docs" / "embedding.md").read_text(encoding="utf-8")
Run = Callable[[str, dict[str, Any], Callable[[dict[str, Any]], tuple[str, bool]]], str]


def block(language: str) -> str:
    """The first one; tests/integrations has those of frameworks."""
    return str(re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[0])


@pytest.fixture
def run_tool(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The example's function, in a project with the page's policy."""
    monkeypatch.setattr(environ, "current", lambda: dict(os.environ))
    monkeypatch.chdir(repo.root)
    repo.commit("policy", **{".ahp/hooks.yaml": block("yaml")})
    names: dict[str, Any] = {}
    exec(block("python"), names)
    run: Run = names["run_tool"]
    return run


@pytest.mark.wings
def test_a_refused_call_does_not_run_and_the_model_reads_why(run_tool: Run) -> None:
    said = run_tool("bash", {"command": "rm -rf build"}, lambda given: pytest.fail("it ran"))
    assert re.sub(r"\b[0-9a-f]{8}\b", "3f0c2a1b", said) + "\n" == block("text")


@pytest.mark.wings
def test_changed_arguments_run_and_a_failure_brings_advice(run_tool: Run) -> None:
    seen = []
    said = run_tool("bash", {"command": "sleep 90", "timeout": 600}, lambda given: (str(seen.append(given)), False))
    assert seen == [{"command": "sleep 90", "timeout": 60}]
    assert said.startswith("ahp changed this: short-calls (")
    said = run_tool("bash", {"command": "make"}, lambda given: ("no rule", True))
    assert said.startswith("no rule\nahp note: ") and said.endswith("): read the error before you try again")


def test_what_cannot_be_judged_does_not_run(run_tool: Run, repo: Repo) -> None:
    repo.git("update-ref", "-d", "HEAD")  # nobody has committed a policy, so the file alone judges
    repo.write(".ahp/hooks.yaml", "rules: [")
    said = run_tool("bash", {"command": "ls"}, lambda given: pytest.fail("it ran"))
    assert said.startswith("refused: ") and "hooks.yaml" in said


def test_the_page_names_every_argument() -> None:
    for method in (Gate, Gate.judge):
        for name in inspect.signature(method).parameters:
            assert name == "self" or name in PAGE
    assert {name for name in vars(Gate) if not name.startswith("_")} - {"event"} == {"judge", "text", "respond"}


def test_the_package_is_typed() -> None:
    assert files("ahp").joinpath("py.typed").is_file()

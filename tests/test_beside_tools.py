"""ahp beside the real pre-commit and prek, in both orders of install and uninstall (design §9). `make test-tools`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import Repo

pytestmark = pytest.mark.tools

AHP = str(Path(sys.executable).with_name("ahp"))
# Its one hook leaves a trace, so that a test can tell whether it ran.
CONFIG = """\
repos:
  - repo: local
    hooks:
      - {id: trace, name: trace, entry: sh -c 'echo ran >> .git/trace', language: system, always_run: true}
"""
POLICY = """\
version: 1
rules:
  no-txt: {at: pre-commit, block: "any(glob(path, '**/*.txt') for path in files.changed)", fix: [write markdown]}
"""


@pytest.fixture(params=["pre-commit", "prek"])
def tool(request: pytest.FixtureRequest) -> str:
    """The path of the peer that `make test-tools` put on PATH."""
    program = shutil.which(request.param)
    if program is None:
        pytest.fail(f"{request.param} is not on PATH: run these tests with `make test-tools`")
    return program


@pytest.fixture
def shared(repo: Repo) -> Repo:
    """A repository with a policy that blocks text files and a configuration that leaves a trace, no hook installed."""
    repo.write(".ahp/hooks.yaml", POLICY)
    repo.write(".pre-commit-config.yaml", CONFIG)
    repo.add()
    repo.commit("Set up")
    return repo


def call(repo: Repo, *argv: str) -> None:
    done = repo.run(*argv)
    assert done.returncode == 0, os.fsdecode(done.stdout + done.stderr)


def tool_runs(repo: Repo) -> bool:
    """Whether a commit that the policy allows reaches the peer's hook."""
    trace = repo.root / ".git/trace"
    trace.unlink(missing_ok=True)
    repo.commit("Allowed", **{"page.md": f"{repo.head()}\n"})
    return trace.exists()


def ahp_blocks(repo: Repo) -> bool:
    """Whether a commit that the policy refuses is refused; either way it is undone."""
    head = repo.head()
    repo.write("notes.txt")
    repo.add("notes.txt")
    repo.run("git", "commit", "--quiet", "--message", "Refused")
    blocked = repo.head() == head
    repo.git("reset", "--quiet", "--hard", head)
    return blocked


def install(repo: Repo, program: str) -> None:
    call(repo, program, "install", *(["git"] if program == AHP else []))


def uninstall(repo: Repo, program: str) -> None:
    call(repo, program, "uninstall", *(["git"] if program == AHP else []))


@pytest.mark.parametrize("ahp_first", [True, False], ids=["ahp-first", "tool-first"])
def test_both_run_whichever_came_first(shared: Repo, tool: str, ahp_first: bool) -> None:
    for program in [AHP, tool] if ahp_first else [tool, AHP]:
        install(shared, program)
    assert tool_runs(shared)
    assert ahp_blocks(shared)


@pytest.mark.parametrize("ahp_leaves", [True, False], ids=["ahp-leaves", "tool-leaves"])
@pytest.mark.parametrize("ahp_first", [True, False], ids=["ahp-first", "tool-first"])
def test_the_one_that_stays_still_runs(shared: Repo, tool: str, ahp_first: bool, ahp_leaves: bool) -> None:
    for program in [AHP, tool] if ahp_first else [tool, AHP]:
        install(shared, program)
    uninstall(shared, AHP if ahp_leaves else tool)
    assert tool_runs(shared) == ahp_leaves
    assert ahp_blocks(shared) != ahp_leaves


@pytest.mark.parametrize("ahp_first", [True, False], ids=["ahp-first", "tool-first"])
def test_installing_twice_changes_nothing(shared: Repo, tool: str, ahp_first: bool) -> None:
    for program in ([AHP, tool] if ahp_first else [tool, AHP]) * 2:
        install(shared, program)
    assert tool_runs(shared)
    assert (shared.root / ".git/trace").read_text() == "ran\n"
    assert ahp_blocks(shared)


def test_nothing_is_left_when_both_are_gone(shared: Repo, tool: str) -> None:
    for program in (AHP, tool):
        install(shared, program)
    for program in (AHP, tool):
        uninstall(shared, program)
    assert not tool_runs(shared)
    assert not ahp_blocks(shared)

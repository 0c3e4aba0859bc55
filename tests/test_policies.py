"""The policies that the project shows and measures with are valid, and judge what they say they judge."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.conftest import Repo

PROJECT = Path(__file__).resolve().parent.parent
AHP = str(Path(sys.executable).with_name("ahp"))
SHOWN = sorted([*PROJECT.glob("bench/policies/*.yaml"), PROJECT / "demo/hooks.yaml", PROJECT / ".ahp/hooks.yaml"])


@pytest.mark.slow
@pytest.mark.parametrize("policy", SHOWN, ids=lambda path: str(path.relative_to(PROJECT)))
def test_a_policy_of_the_project_is_valid(policy: Path, repo: Repo) -> None:
    done = repo.run(AHP, "policy", "lint", str(policy))
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_of_the_bench_policy_fires_on_an_ordinary_commit(repo: Repo) -> None:
    repo.write(".ahp/hooks.yaml", (PROJECT / "bench/policies/quiet.yaml").read_text())
    repo.git("switch", "--quiet", "--create", "feature/bench")
    repo.commit("first", **{"a.txt": "text\n"})
    repo.write("a.txt", "other text\n")
    repo.add("a.txt")
    done = repo.run(AHP, "check", "pre-commit", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert b'"signals": []' in done.stdout


@pytest.mark.slow
def test_the_demo_runs_to_its_end(repo: Repo) -> None:
    done = repo.run("sh", str(PROJECT / "demo/demo.sh"))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]

"""A command's facts that were not gathered yet are pending, not absent: `has` and `default` wait for them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ahp.cli.main import run
from ahp.hosts.asking import around
from ahp.policy import compile as compiling
from ahp.policy import layers, trust
from ahp.policy.sources import FileSource
from ahp.protocol.event import Actor
from tests.conftest import Repo


def denied(repo: Repo, rule: str) -> bool:
    command = f"[{sys.executable}, -c, \"open('ran', 'w'); print('one'); raise SystemExit(3)\"]"
    extract = 'extract: {lines: {value: output, type: "list[str]"}}, parse: lines'
    repo.write(".ahp/hooks.yaml", f"facts: {{n: {{run: {command}, {extract}}}}}\nrules: {{r: {rule}}}\n")
    where = around(str(repo.root))
    read = trust.in_folder(where.root)
    specs = compiling.commands(layers.load(FileSource(where.root)))
    trust.accept(where.journal, {name: trust.digest(spec, read) for name, spec in specs.items()}, Actor("human"))
    return run(["check", "pre-commit"]) == 1


@pytest.fixture(autouse=True)
def inside(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)
    repo.write("a.txt")
    repo.add()


@pytest.mark.parametrize(
    "rule",
    [
        "{at: pre-commit, block: has(n.exit_code) and n.exit_code == 3}",
        "{at: pre-commit, block: 'default(n.exit_code, 0) == 3'}",
        "{at: pre-commit, block: not has(n.exit_code) or n.exit_code == 3}",
        "{at: pre-commit, block: has(n.lines) and files.changed_count == 1}",
        "{at: pre-commit, when: has(n.exit_code), block: n.exit_code == 3}",
        "{at: pre-commit, when: 'default(n.exit_code, 0) == 3', block: files.changed_count == 1}",
        "{at: pre-commit, each: p in files.changed, block: 'default(n.exit_code, 0) == 3 and p == ''a.txt'''}",
    ],
)
def test_the_command_runs_and_its_facts_decide(repo: Repo, rule: str) -> None:
    assert denied(repo, rule)
    assert (repo.root / "ran").exists()


@pytest.mark.parametrize(
    "rule",
    [
        "{at: pre-commit, block: files.changed_count > 9 and has(n.exit_code)}",
        "{at: pre-commit, when: files.changed_count > 9, block: 'default(n.exit_code, 0) == 3'}",
    ],
)
def test_a_rule_that_is_decided_without_it_does_not_run_it(repo: Repo, rule: str) -> None:
    assert not denied(repo, rule)
    assert not Path(repo.root, "ran").exists()


def test_a_command_that_gives_nothing_is_absent_in_the_end(repo: Repo) -> None:
    rule = "{at: pre-commit, block: has(n.exit_code), on_missing: skip}"
    repo.write(".ahp/hooks.yaml", f"facts: {{n: {{run: [no-such-program-here]}}}}\nrules: {{r: {rule}}}\n")
    assert run(["check", "pre-commit"]) == 0

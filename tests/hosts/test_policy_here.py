"""Which policy commands look at, where the work tree has none of its own."""

from __future__ import annotations

import os

import pytest

from ahp.cli.main import run
from ahp.hosts import asking, policy_here
from ahp.hosts.git import policy_checks
from ahp.hosts.git.policy_checks import ClonePolicies
from ahp.system.worktree import WorkTreeView
from tests.conftest import Repo

POLICY = """\
facts: {lint: {run: [sh, lint.sh]}}
rules: {a: {at: pre-commit, block: lint.count > 3}, b: {at: pre-push, prompt: files.changed_count > 3}}
"""


@pytest.fixture(autouse=True)
def committed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, "src/a.py": "1\n", "lib/a.py": "1\n"})


def rules(repo: Repo) -> list[str]:
    return [rule.key for rule in policy_here.of_work_tree(asking.around(str(repo.root))).rules]


def test_of_a_sparse_checkout_head_s_is_looked_at_by_every_command(
    repo: Repo, capsys: pytest.CaptureFixture[str], person: list[str]
) -> None:
    repo.git("sparse-checkout", "set", "--cone", "src")
    assert not (repo.root / ".ahp").exists()
    assert rules(repo) == ["a", "b"]
    assert run(["trust"]) == 0
    assert person == ["ahp: may this command run from now on?"]
    capsys.readouterr()
    for command in (["policy", "lint"], ["policy", "show"], ["try"], ["policy", "diff"]):
        assert run(command) == 0, command
        said = capsys.readouterr()
        assert "no rules" not in said.err and "removed" not in said.out, command
    here = asking.repository_here()
    assert policy_checks.committed(ClonePolicies(here, "")).detail == "the work tree's is HEAD's"
    assert "1 accepted" in policy_checks.commands(ClonePolicies(here, "")).detail
    view = WorkTreeView(here)
    assert view.read(".ahp/hooks.yaml") == POLICY.encode() and view.read(".ahp/other.yaml") is None


def test_a_file_that_is_gone_leaves_head_s_and_is_told(repo: Repo) -> None:
    os.unlink(repo.root / ".ahp/hooks.yaml")
    assert rules(repo) == ["a", "b"]
    check = policy_checks.committed(ClonePolicies(asking.repository_here(), ""))
    assert (check.status, check.mend) == ("note", "git restore .ahp")
    repo.git("commit", "-qam", "given up")
    assert rules(repo) == []

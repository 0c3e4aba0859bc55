"""Several policies that judge together, and what a commit's own adds to them."""

from __future__ import annotations

import os
from pathlib import Path

from ahp.policy import policies, tree
from ahp.protocol.event import Actor, Event, Workspace
from ahp.system import git
from tests.conftest import Repo

POLICY = "version: 1\nrules:\n  a: {at: pre-commit, block: files.changed_count > 9}\n"
MORE = POLICY + "  b: {at: pre-commit, block: files.changed_count > 5}\n"


def test_commits_of_one_policy_are_judged_by_one_object(repo: Repo, tmp_path: Path) -> None:
    repo.commit("start", **{".ahp/hooks.yaml": POLICY})
    same = repo.commit("same", f="1\n")
    added = [repo.commit("more", **{".ahp/hooks.yaml": MORE}), repo.commit("on", f="2\n")]
    broken = repo.commit("broken", **{".ahp/hooks.yaml": "rules: [\n"})
    none = repo.commit("none", **{".ahp/hooks.yaml": "version: 1\n"})
    here = git.discover(str(repo.root), dict(os.environ))
    event = Event("pre-push", "git", Actor("human"), Workspace(str(repo.root), str(tmp_path), {}, here), 0.0)
    known = policies.committed([tree.of_commit(here, same, "main")], event.journal)
    found = policies.of_commits(here, [same, *added, broken, none], event, known)
    assert list(found) == added and found[added[0]] is found[added[1]]
    rules = [[rule.key for rule in judge.program.rules] for judge in found[added[0]].at("pre-commit")]
    assert rules == [["a"], ["b"]]
    assert [judge.adds for judge in found[added[0]].at("pre-commit")] == [False, True]

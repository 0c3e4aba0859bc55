"""Rules that people want of files, dependencies and signatures: each is one rule, with tests of both its answers."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml

from ahp.cli import main
from ahp.hosts import policy_test
from ahp.policy import cases
from tests.conftest import Repo

from .conftest import Load

FOLDER = Path(__file__).parent / "wanted"


@pytest.mark.parametrize(("rules", "tests"), [("hooks.yaml", "cases.yaml"), ("awkward.yaml", "awkward_cases.yaml")])
def test_each_wanted_rule_speaks_where_it_should_and_nowhere_else(load: Load, rules: str, tests: str) -> None:
    policy = load((FOLDER / rules).read_text())
    report = policy_test.run(policy, cases.read((FOLDER / tests).read_bytes(), tests, policy))
    assert {one.case.keys.name: one.faults for one in report.outcomes if one.faults} == {}
    assert [rule.rule for rule in report.rules if not rule.spoke or rule.spoke == rule.asked] == []


BROKEN = {
    "Dockerfile": "FROM python:latest\nRUN x\n",
    ".github/workflows/a.yml": "on: [push, pull_request_target]\njobs: {a: {steps: [{uses: a/b@v1}]}}\n",
    "package.json": '{"version": "1", "scripts": {"postinstall": "x"}, "dependencies": {"a": "1"}}\n',
    "pyproject.toml": '[project]\nname = "a"\nversion = "2"\n',
    "src/x.py": "x = 1\n",
    "docs/a.md": "no end",
    "compose.yaml": "services: {a: {privileged: true}}\n",
    "src/gen.py": "x = 1\n",
    "deploy/a.yaml": "spec: {template: {spec: {containers: [{name: a}]}}}\n",
    "a.tf": 'acl = "public-read"\n',
    "package-lock.json": '{"packages": {"node_modules/a": {"version": "1", "license": "AGPL-3.0"}}}\n',
    "tsconfig.json": "{}\n",
    "a.ipynb": '{"cells": [{"outputs": [{"text": "x"}]}]}\n',
    "services/a/x": "1\n",
    "services/b/x": "1\n",
    "packages/a/x": "1\n",
}
FOUND = {
    *("container-user", "base-image", "workflow-permissions", "workflow-target", "pinned-actions", "engines"),
    *("install-scripts", "one-version", "last-newline", "privileged", "notebook-output", "has-a-test", "one-service"),
    *("own-changelog", "one-folder", "programs", "limited-pods", "public-bucket", "licence-header"),
    *("forbidden-licence", "new-dependency", "strict-stays"),
}


def test_they_say_the_same_at_the_commit_the_push_and_in_ci(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.root)
    for name in ("CI", "GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(name, raising=False)
    rules = yaml.safe_load((FOLDER / "hooks.yaml").read_text())["rules"]
    blocks = {key: {"block" if word == "prompt" else word: said for word, said in rules[key].items()} for key in FOUND}
    policy = {"rules": blocks}
    strict = '{"compilerOptions": {"strict": true}}\n'
    repo.commit("start", **{".ahp/hooks.yaml": json.dumps(policy), "tsconfig.json": strict})
    repo.git("init", "-q", "--bare", str(tmp_path / "up.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "up.git"))
    repo.git("push", "-q", "origin", "HEAD")
    repo.git("checkout", "-q", "-b", "topic")
    for path, content in BROKEN.items():
        repo.write(path, content)
    repo.write("run", "x\n", 0o755)
    repo.add()
    assert main.run(["install", "git"]) == 0
    said = os.fsdecode(repo.run("git", "commit", "-qm", "feat: all").stderr)
    assert {rule for rule in FOUND if rule in said} == FOUND
    repo.git("commit", "-q", "--no-verify", "-m", "feat: all")
    pushed = repo.run("git", "push", "origin", "topic")
    assert pushed.returncode == 1
    assert {rule for rule in FOUND if rule in os.fsdecode(pushed.stderr)} == FOUND
    capsys.readouterr()
    assert main.run(["ci", "--output", f"json={tmp_path / 'ci.json'}"]) == 1
    assert {rule for rule in FOUND if rule in (tmp_path / "ci.json").read_text()} == FOUND

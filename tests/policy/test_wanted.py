"""Rules that people want of files, dependencies and signatures: each is one rule, with tests of both its answers."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

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


BASE = {
    "tsconfig.json": '{"compilerOptions": {"strict": true}}\n',
    "package.json": '{"version": "1", "dependencies": {"b": "^1"}}\n',
    "package-lock.json": '{"packages": {"": {"dependencies": {"b": "^1"}}, "node_modules/b": {"version": "1.0.0"}}}\n',
    "pyproject.toml": '[project]\nname = "a"\nversion = "2"\n',
    "lib/gen.py": "# DO NOT EDIT\n",
    ".env.example": "A=1\nB=2\n",
    ".gitattributes": "gen/* linguist-generated\n",
    "gen/a.ts": "let a\n",
    "CODEOWNERS": "services/a/ @a\nservices/b/ @b\n",
    "node/package.json": "{}\n",
}
BROKEN = {
    "Dockerfile": "FROM python:latest\nRUN x\n",
    ".github/workflows/a.yml": "on: [push, pull_request_target]\njobs: {a: {steps: [{uses: a/b@v1}]}}\n",
    "package.json": '{"version": "1", "scripts": {"postinstall": "x"}, "dependencies": {"a": "*", "b": "^2"}}\n',
    "pyproject.toml": '[project]\nname = "a"\nversion = "2"\ndescription = "b"\n',
    "CHANGELOG.md": "# 2\n",
    "src/x.py": "x = 1\n" * 30,
    "docs/a.md": "no end",
    "compose.yaml": "services: {a: {privileged: true}}\n",
    "src/gen.py": "x = 1\n",
    "lib/gen.py": "# DO NOT EDIT\nx = 1\n",
    ".env.example": "A=1\n",
    "gen/a.ts": "let b\n",
    "deploy/a.yaml": "spec: {template: {spec: {containers: [{name: a}]}}}\n",
    "a.tf": 'acl = "public-read"\n',
    "package-lock.json": '{"packages": {"": {"dependencies": {"a": "*", "b": "^2"}}, '
    '"node_modules/a": {"version": "1.0.0", "license": "AGPL-3.0"}, "node_modules/b": {"version": "2.0.0"}}}\n',
    "uv.lock": f"[[package]]\nname = 'c'\nversion = '1'\nsdist = {{upload-time = '{datetime.now(UTC).isoformat()}'}}\n",
    "tsconfig.json": "{}\n",
    "a.ipynb": '{"cells": [{"outputs": [{"text": "x"}]}]}\n',
    "services/a/x": "1\n",
    "services/b/x": "1\n",
    "packages/a/x": "1\n",
    "server/x": "1\n",
    "client/x": "1\n",
    "migrations/1.sql": "x\n",
    "migrations/2.sql": "x\n",
}
NODE = ('{"engines": {"node": "18"}}\n', '{"engines": {"node": "20"}}\n')
ONLY_CI = {"title", "label", "described", "drafts", "approved", "green"}  # they ask about the request
OTHER = {"snapshot-alone", "same-major", "features-have-tests"}  # what they refuse, no other rule's case can be


def wanted() -> dict[str, Any]:
    """All rules that more than CI can ask, as one policy of blocks."""
    parts = [yaml.safe_load((FOLDER / name).read_text()) for name in ("hooks.yaml", "awkward.yaml")]
    made: dict[str, Any] = {name: {} for name in ("limits", "conditions", "rules")}
    for part in parts:
        for name, into in made.items():
            into.update(part.get(name, {}))
    made["rules"] = {
        key: {"block" if word == "prompt" else word: said for word, said in rule.items()}
        for key, rule in made["rules"].items()
        if key not in ONLY_CI
    }
    return made


def named(text: str, rules: set[str]) -> set[str]:
    """Those of the rules that a text names, each as a word of its own."""
    return rules.intersection(re.findall(r"[\w-]+", text))


ALL = wanted()["rules"]
MESSAGE = {key for key, rule in ALL.items() if rule["at"] == "commit-msg"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("branch", "subject", "base", "broken", "found"),
    [
        ("release/1.0", "feat: all", BASE, BROKEN, {*ALL} - MESSAGE - OTHER),
        ("topic/ABC-12", "fix(none): all", BASE, BROKEN, MESSAGE - OTHER),
        ("topic", "feat: more", {}, {"a.py": "1\n"}, {"features-have-tests"}),
        ("topic", "chore: look", {}, {"a.snap": "1\n"}, {"snapshot-alone"}),
        ("topic", "chore: node", {"package.json": NODE[0]}, {"package.json": NODE[1]}, {"same-major"}),
    ],
)
def test_they_say_the_same_at_the_commit_the_push_and_in_ci(
    repo: Repo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    branch: str,
    subject: str,
    base: dict[str, str],
    broken: dict[str, str],
    found: set[str],
) -> None:
    monkeypatch.chdir(repo.root)
    for name in ("CI", "GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(name, raising=False)
    policy = wanted()
    policy["rules"] = {key: rule for key, rule in policy["rules"].items() if key in found}
    repo.commit("start", **{".ahp/hooks.yaml": json.dumps(policy), **base})
    repo.git("init", "-q", "--bare", str(tmp_path / "up.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "up.git"))
    repo.git("push", "-q", "origin", "HEAD")
    repo.git("checkout", "-q", "-b", branch)
    for path, content in broken.items():
        repo.write(path, content)
    if broken is BROKEN:
        repo.write("run", "x\n", 0o755)
        (repo.root / "link").symlink_to("run")
    repo.add()
    assert main.run(["install", "git"]) == 0
    commit = ("commit", "-qm", subject, "--author", "Ann <ann@example.net>")
    said = os.fsdecode(repo.run("git", *commit).stderr)
    # git signs after its last hook.
    assert named(said, found) == found - {"signed"}
    repo.git(*commit, "--no-verify")
    pushed = repo.run("git", "push", "origin", branch)
    assert pushed.returncode == 1
    assert named(os.fsdecode(pushed.stderr), found) == found
    capsys.readouterr()
    assert main.run(["ci", "--output", f"json={tmp_path / 'ci.json'}"]) == 1
    assert named((tmp_path / "ci.json").read_text(), found) == found

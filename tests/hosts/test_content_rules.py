"""Rules about what files say give one verdict at the commit, the push, in CI, of the whole tree and of a tool call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ahp.cli import main
from tests.conftest import Repo

POLICY = """\
version: 1
rules:
  engines:
    at: [pre-commit, pre-push, pre-tool-use]
    when: "'package.json' in files.changed"
    block: not has(at(content.after['package.json'], 'engines.node'))
    message: package.json needs engines.node
  root:
    at: [pre-commit, pre-push, pre-tool-use]
    each: f in files.changed
    block: "glob(f, 'Dockerfile') and any(i.name == 'USER' and i.value == 'root' for i in content.after[f])"
    finding: {file: f}
    message: a container runs as root
  pinned:
    at: [pre-commit, pre-push, pre-tool-use]
    each: f in files.changed
    block: >-
      glob(f, '.github/workflows/*.yml') and
      any(not matches(u, '@[0-9a-f]{40}$') for u in at(content.after[f], 'jobs.*.steps.*.uses'))
    finding: {file: f}
    message: an action is not pinned
  major:
    at: [pre-commit, pre-push]
    each: d in deps.changes
    block: d.level == 'major' and not d.direct
    finding: {file: d.path, message: "{d.name} from {d.before} to {d.after}"}
    message: a major update
"""
LOCK = '{"packages": {"": {"dependencies": {"a": "^1"}}, "node_modules/t": {"version": "%s"}}}'
GOOD = {
    "package-lock.json": LOCK % "1.0.0",
    "package.json": '{"engines": {"node": ">=18"}}',
    "Dockerfile": "FROM a\nUSER app\n",
    ".github/workflows/ci.yml": f"jobs: {{a: {{steps: [{{uses: a/b@{'0' * 40}}}, {{run: x}}]}}}}\n",
}
BAD = {
    "engines": ("package.json", '{"engines": {"npm": "9"}}', "package.json needs engines.node"),
    "root": ("Dockerfile", "FROM a\nUSER root\n", "a container runs as root"),
    "pinned": (".github/workflows/ci.yml", "jobs: {a: {steps: [{uses: a/b@v1}]}}\n", "an action is not pinned"),
}


@pytest.fixture
def work(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A clone on a branch of its own with git's hooks, and the folder of the test."""
    for name in ("CI", "GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(name, raising=False)
    repo.commit("start", **{".ahp/hooks.yaml": POLICY, **GOOD})
    repo.git("clone", "-q", f"file://{repo.root}", str(tmp_path / "work"))
    made = Repo(tmp_path / "work")
    monkeypatch.chdir(made.root)
    for host in ("git", "claude"):
        assert main.run(["install", host]) == 0
    made.git("checkout", "-q", "-b", "topic")
    return made


@pytest.mark.parametrize("rule", BAD)
def test_a_rule_about_contents_refuses_the_same_everywhere(
    work: Repo, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, text, message = BAD[rule]
    work.write(path, text)
    work.add()
    done = work.run("git", "commit", "-qm", "bad")
    assert done.returncode == 1 and f"refused by {rule}".encode() in done.stderr
    work.git("commit", "-q", "--no-verify", "-m", "bad")
    done = work.run("git", "push", "-q", "origin", "topic")
    assert done.returncode == 1 and f"refused by {rule}".encode() in done.stderr
    assert main.run(["ci"]) == 1
    assert f"refused by {rule}" in (said := capsys.readouterr()).out + said.err
    assert main.run(["check", "--all"]) == 1
    assert f"refused by {rule}" in (said := capsys.readouterr()).out + said.err
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "1", "cwd": str(work.root)}
    call |= {"tool_name": "Write", "tool_input": {"file_path": str(work.root / path), "content": text}}
    (hook,) = json.loads((work.root / ".claude/settings.json").read_text())["hooks"]["PreToolUse"][0]["hooks"]
    env = {"CLAUDE_PROJECT_DIR": str(work.root)}
    done = work.run("sh", "-c", hook["command"], stdin=json.dumps(call).encode(), env=env)
    assert b'"deny"' in done.stdout and message.encode() in done.stdout


@pytest.mark.parametrize("rule", BAD)
def test_what_says_what_it_should_passes_everywhere(work: Repo, rule: str) -> None:
    path, *_ = BAD[rule]
    work.write(path, GOOD[path] + "\n")
    work.write("other.txt", "x\n")
    work.add()
    assert work.run("git", "commit", "-qm", "good").returncode == 0
    assert main.run(["ci"]) == 0
    assert main.run(["check", "--all"]) == 0
    assert work.run("git", "push", "-q", "origin", "topic").returncode == 0


def test_a_file_that_does_not_parse_is_named_with_the_reason(work: Repo) -> None:
    work.write("package.json", "{")
    work.write(".github/workflows/ci.yml", "a: [\n")
    work.add()
    done = work.run("git", "commit", "-qm", "bad")
    assert done.returncode == 1 and b"refused by engines" in done.stderr
    assert b".github/workflows/ci.yml cannot be read as data" in done.stderr


def test_a_rule_about_locked_versions_refuses_the_same_at_the_commit_the_push_and_in_ci(
    work: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    work.write("package-lock.json", LOCK % "1.9.9")
    work.add()
    assert work.run("git", "commit", "-qm", "a minor update").returncode == 0
    work.write("package-lock.json", LOCK % "2.0.0")
    work.add()
    done = work.run("git", "commit", "-qm", "a major update")
    assert done.returncode == 1 and b"'t' from '1.9.9' to '2.0.0'" in done.stderr
    work.git("commit", "-q", "--no-verify", "-m", "bad")
    done = work.run("git", "push", "-q", "origin", "topic")
    assert done.returncode == 1 and b"'t' from '1.0.0' to '2.0.0'" in done.stderr
    assert main.run(["ci"]) == 1
    assert "refused by major" in (said := capsys.readouterr()).out + said.err

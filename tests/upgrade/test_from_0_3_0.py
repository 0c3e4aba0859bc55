"""A repository that ahp 0.3.0 was installed in goes on after the upgrade: hooks, log, state, an agent, an open episode.

`installed-0.3.0.tar.gz` is one as that version left it (`ahp install git claude`, then a commit that a rule warned of),
and its remote. `@NAME@` stands for what depends on the machine. The byte code that was kept for faster starts is left
out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tests.hosts.git.gated import Gated, Said

FILE = Path(__file__).with_name("installed-0.3.0.tar.gz")


@pytest.fixture
def upgraded(tmp_path: Path, home: Path) -> Gated:
    with tarfile.open(FILE) as archive:
        archive.extractall(tmp_path, filter="data")
    root = tmp_path / "shop"
    known = {
        "ROOT": str(root),
        "PYTHON": sys.executable,
        "PACKAGE": f"{PROJECT}/ahp/__init__.py",
        "PROGRAM": str(Path(sys.executable).with_name("ahp")),
        "PATHS": repr([str(PROJECT), sysconfig.get_path("purelib")]).replace("'", "'\"'\"'"),
        "USER": f"{os.getuid()}:{home}/.ahp/hooks.yaml",
    }
    git = root / ".git"
    for path in (*(git / "hooks").iterdir(), git / "ahp/agent-hook", git / "ahp/install.json"):
        text = path.read_text()
        for name, value in known.items():
            text = text.replace(f"@{name}@", value)
        path.write_text(text)
    return Gated(root)


def commit(repo: Gated, message: str, **files: str) -> Said:
    for name, text in files.items():
        repo.write(name, text)
    repo.add()
    return repo.say("commit", "-q", "-m", message)


@pytest.mark.slow
def test_commits_and_pushes_are_judged(upgraded: Gated) -> None:
    assert commit(upgraded, "ok fine", a="2\n") == Said(0, "")
    refused = commit(upgraded, "ok not", a="BAD\n")
    assert refused.code == 1 and "refused by no-bad" in refused.text
    refused = commit(upgraded, "not so", a="3\n")
    assert refused.code == 1 and "refused by subject" in refused.text
    assert commit(upgraded, "ok so").code == 0
    assert upgraded.say("push", "-q", "origin", "main") == Said(0, "")
    for number in range(6):
        commit(upgraded, f"ok {number}", a=f"{number}\n")
    refused = upgraded.say("push", "-q", "origin", "main")
    assert refused.code == 1 and "refused by push-size" in refused.text


def test_the_open_episode_climbs_on(upgraded: Gated) -> None:
    assert "large  main  human  ignored 1 time" in ahp(upgraded, "log", "--open").stdout
    assert "warning 2" in commit(upgraded, "ok many again", a="5\n", b="5\n", c="5\n").text
    assert "large  main  human  ignored 2 times" in ahp(upgraded, "log", "--open").stdout


def test_an_agent_s_call_is_judged_by_the_settings_that_were_committed(upgraded: Gated) -> None:
    assert call(upgraded, "ls").returncode == 0
    refused = call(upgraded, "rm a")
    assert refused.returncode == 2 and "no rm" in refused.stderr


@pytest.mark.slow
def test_the_log_is_whole_and_doctor_names_the_one_command_for_each_host(upgraded: Gated) -> None:
    commit(upgraded, "ok fine", a="2\n")
    assert ahp(upgraded, "log", "verify").returncode == 0
    wrong = [line for line in ahp(upgraded, "doctor").stdout.splitlines() if line.startswith("wrong")]
    assert {line.rpartition("fix: ")[2] for line in wrong} <= {"ahp install git", "ahp install claude"}
    assert ahp(upgraded, "install", "git", "claude").returncode == 0
    assert not [line for line in ahp(upgraded, "doctor").stdout.splitlines() if line.startswith("wrong")]
    assert ahp(upgraded, "log", "verify").returncode == 0


def ahp(repo: Gated, *arguments: str) -> subprocess.CompletedProcess[str]:
    asked = [sys.executable, "-c", "from ahp.cli.start import main; main()", *arguments]
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    return subprocess.run(asked, cwd=repo.root, env=env, capture_output=True, text=True)


def call(repo: Gated, command: str) -> subprocess.CompletedProcess[str]:
    """A shell call of Claude Code, by the command that stands in its settings."""
    settings = json.loads((repo.root / ".claude/settings.json").read_text())
    hook = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    payload = {
        "session_id": "s",
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_use_id": command,
        "cwd": str(repo.root),
        "tool_input": {"command": command},
    }
    env = {**os.environ, "CLAUDE_PROJECT_DIR": str(repo.root)}
    return subprocess.run(
        ["sh", "-c", hook], cwd=repo.root, env=env, input=json.dumps(payload), capture_output=True, text=True
    )

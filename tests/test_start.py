"""The first five minutes, as docs/start.md and its Chinese twin print them: each command says what the page shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import OUTSIDE, PROJECT

BLOCK = re.compile(r"```(console|yaml)\n(.*?)```", re.DOTALL)
ID = re.compile(r"\b[0-9a-f]{8}\b")
SLOW = "def lookup(table, key):\n    breakpoint()\n    return table[key]\n"
# What the reader has done before a command: the page says so behind it.
BEFORE = {
    "feat: faster lookup": {"src/lookup.py": SLOW},
    "feat: a table of prices": {"src/lookup.py": "TABLE = {}\n", "migrations/1.sql": "SELECT 1;\n"},
}


class Newcomer:
    """A person, or an agent, with an empty home, nothing in the environment, and a project of twelve commits."""

    def __init__(self, folder: Path, programs: Path, **env: str) -> None:
        self.root = folder / "your/repository"
        self.root.mkdir(parents=True)
        self.env = {"HOME": str(folder), "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "AHP_PATIENCE": "0", **env}
        names = {"user.name": "Ann", "user.email": "ann@example.org", "init.defaultBranch": "main"}
        for name, value in names.items():
            self.run(f"git config --global {name} '{value}'")
        self.run("git init --quiet")
        self.write("pyproject.toml", '[project]\nname = "shop"\nversion = "1"\n')
        for number in range(12):
            self.write("src/lookup.py", f"def lookup(table, key):\n    return table[key + {number}]\n")
            self.run(f"git add . && git commit --quiet -m 'feat: part {number} of the shop'")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")

    def run(self, command: str) -> tuple[int, str]:
        """The exit code, and what a terminal shows."""
        done = subprocess.run(
            ["sh", "-c", command], cwd=self.root, env=self.env, capture_output=True, check=False, encoding="utf-8"
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture(
    scope="module",
    params=[pytest.param("this", marks=pytest.mark.slow), pytest.param("wheel", marks=pytest.mark.tools)],
)
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `ahp` is: the one under test, or one that was installed from a wheel of this tree."""
    if request.param == "this":
        return Path(sys.executable).parent
    folder = tmp_path_factory.mktemp("wheel")
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    python = str(folder / "venv/bin/python")
    for command in (
        [sys.executable, *pip, "wheel", "--no-deps", "--wheel-dir", str(folder), str(PROJECT)],
        [sys.executable, "-m", "venv", str(folder / "venv")],
    ):
        subprocess.run(command, env=OUTSIDE, check=True)
    subprocess.run([python, *pip, "install", *map(str, folder.glob("*.whl"))], env=OUTSIDE, check=True)
    return folder / "venv/bin"


def alike(shown: str, printed: str) -> bool:
    """Whether `printed` is what the page shows: `…` stands for any text or lines, one id is as good as another."""
    pattern = ""
    for line in ID.sub("ID", shown).splitlines():
        pattern += r"(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + "\n"
    return re.fullmatch(pattern, ID.sub("ID", printed)) is not None


@pytest.mark.parametrize(("page", "env"), [("start.md", {}), ("start.zh.md", {"LC_ALL": "zh_CN.UTF-8"})])
def test_each_command_of_the_page_says_what_the_page_shows(
    page: str, env: dict[str, str], programs: Path, tmp_path: Path
) -> None:
    reader = Newcomer(tmp_path, programs, **env)
    typed = 0
    for kind, block in BLOCK.findall((PROJECT / "docs" / page).read_text("utf-8")):
        if kind == "yaml":
            policy = (reader.root / ".ahp/hooks.yaml").read_text("utf-8")
            assert policy.count("\nrules:\n") == 1
            reader.run("git checkout --quiet HEAD -- src")
            reader.write(".ahp/hooks.yaml", policy.replace("\nrules:\n", f"\n{block}"))
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            for name, text in next((files for what, files in BEFORE.items() if what in command), {}).items():
                reader.write(name, text)
            code, printed = reader.run(f"cd .. && cd {Path(command).name}" if command.startswith("cd ") else command)
            assert alike(shown, printed), f"{command}\n{printed}"
            assert code == int("python-debugger" in shown), command
            typed += 1
    assert typed == 10


def test_an_agent_passes_by_what_a_refusal_says(programs: Path, tmp_path: Path) -> None:
    """It reads AGENTS.md or its own settings at most: everything else stands in the answers."""
    agent = Newcomer(tmp_path, programs, CLAUDECODE="1")
    agent.run("mkdir .claude && ahp init && ahp install && git add . && git commit -m 'chore: add ahp'")
    code, brief = agent.run("ahp brief")
    assert code == 0 and "A refusal says why and what to do" in brief and "ahp explain ID" in brief

    call = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Read", "tool_input": {"file_path": "a"}}
    assert agent.run(f"echo '{json.dumps(call)}' | ahp hook claude PreToolUse")[0] == 0  # as its client does
    agent.write("src/lookup.py", SLOW)
    agent.run("git add .")
    asked, before = agent.run("ahp check pre-commit")
    refused, told = agent.run("git commit -m 'feat: faster lookup'")
    assert asked == 1 and refused == 1
    for answer in (before, told):
        assert "src/lookup.py:2" in answer and "Do: remove the line and stage the file again" in answer
    assert "if your user wants it, they run in a terminal: ahp respond" in told
    (signal, *_) = ID.findall(told)
    assert "fix: remove the line" in agent.run(f"ahp explain {signal}")[1]

    agent.write("src/lookup.py", SLOW.replace("    breakpoint()\n", ""))
    agent.run("git add .")
    assert agent.run("ahp check pre-commit")[0] == 0
    assert agent.run("git commit --quiet -m 'feat: faster lookup'") == (0, "")
    assert os.path.exists(agent.root / ".claude/settings.json")

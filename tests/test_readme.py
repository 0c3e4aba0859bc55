"""The quick start of the README is what a new user types, so a test types it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.conftest import Repo

PAGE = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


def quick_start() -> str:
    """The commands of "Use it", without those that bring ahp and the reader to the place."""
    (block, *_) = re.findall(r"```sh\n(.*?)```", PAGE.split("\n## Use it\n")[1], re.DOTALL)
    lines = [line for line in block.splitlines() if not line.startswith(("pip install ", "cd "))]
    assert lines and lines[0].startswith("ahp init && ahp install && ")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "subjects",
    [
        pytest.param([], id="nothing", marks=pytest.mark.slow),
        pytest.param(["First", "More"], id="plain"),
        pytest.param(["feat: a", "fix: b", "docs: c", "ci: d", "chore: e"], id="conventional", marks=pytest.mark.slow),
    ],
)
def test_the_quick_start_leads_to_a_gate_that_only_speaks_when_it_must(repo: Repo, subjects: list[str]) -> None:
    """In a repository without a commit; with some; with some whose messages are conventional."""
    for number, subject in enumerate(subjects):
        repo.commit(subject, **{"src/module.py": f"VALUE = {number}\n", "pyproject.toml": '[project]\nname = "x"\n'})

    done = repo.run("sh", "-e", "-c", quick_start())
    said = os.fsdecode(done.stdout + done.stderr)
    assert done.returncode == 0, said
    assert len(said.splitlines()) <= 15, said
    assert repo.git("log", "-1", "--format=%s") == "chore: add ahp"
    assert repo.git("status", "--short") == ""

    # An ordinary commit prints nothing.
    repo.write("src/module.py", "VALUE = 9\n")
    repo.add()
    done = repo.run("git", "commit", "--quiet", "--message", "fix: another value")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")

    # A secret is refused.
    repo.write("key.txt", "AKIA" + "ABCDEFGHIJ234567\n")
    repo.add()
    done = repo.run("git", "commit", "--quiet", "--message", "fix: a key")
    assert done.returncode == 1 and b"no-secrets" in done.stderr and b"key.txt:1" in done.stderr

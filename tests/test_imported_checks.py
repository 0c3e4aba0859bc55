"""A history of commits under another hook manager, and under ahp with its checks taken over: the same commits are
refused. `make test-tools` runs it with the real tools.
"""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from ahp.hosts import importing
from tests.conftest import Repo
from tests.hosts.git import gated as making
from tests.hosts.git.gated import SILENT, Gated
from tests.hosts.git.test_fixers import trusted

pytestmark = pytest.mark.tools

COMMITS = 40
PRE_COMMIT = """\
exclude: ^vendor/
repos:
  - repo: local
    hooks:
      - {id: tidy, name: tidy, entry: sed -i 's/  */ /g', language: system, types: [python]}
      - {id: no-todo, name: no to-do, entry: to-do, language: pygrep, args: [-i], files: '\\.(py|md)$'}
      - {id: no-env, name: no env, entry: no .env, language: fail, files: '(^|/)\\.env$'}
      - {id: whole, name: whole, entry: "sh -c 'test ! -e broken'", language: system, pass_filenames: false}
"""
LEFTHOOK = """\
pre-commit:
  jobs:
    - name: tidy
      run: sed -i 's/  */ /g' {staged_files}
      glob: "*.{py,txt}"
      exclude: ["vendor/*"]
      stage_fixed: true
    - {name: no-todo, run: "! grep -qi to-do {staged_files}", glob: "*.md"}
    - {name: whole, run: test ! -e broken, env: {X: "1"}}
"""


@pytest.mark.parametrize(("tool", "name", "settings"), [
    ("pre-commit", ".pre-commit-config.yaml", PRE_COMMIT),
    ("lefthook", "lefthook.yml", LEFTHOOK),
])  # fmt: skip
def test_the_same_commits_are_refused(tool: str, name: str, settings: str, tmp_path: Path) -> None:
    if shutil.which(tool) is None:
        pytest.fail(f"{tool} is not on PATH: run these tests with `make test-tools`")
    ours = making.make(tmp_path / "ours")
    ours.write(name, settings)
    ours.write("a.py", "a\n")
    ours.add()
    ours.git(*SILENT, "commit", "-q", "-m", "base")
    theirs = Repo(tmp_path / "theirs")
    shutil.copytree(ours.root, theirs.root, symlinks=True)
    shutil.rmtree(theirs.root / ".git" / "hooks")
    done = theirs.run(tool, "install")
    assert done.returncode == 0, done.stderr
    trusted(ours, importing.read(tool, str(ours.root)).text(tool))
    seen: Counter[str] = Counter()
    chance = random.Random(1)
    for number in range(COMMITS):
        changes = {draw(chance): content(chance) for _ in range(chance.randrange(1, 4))}
        results = [commit(repo, changes) for repo in (theirs, ours)]
        assert results[0] == results[1], f"commit {number}: {changes}"
        seen["refused" if results[0][0] else "passed"] += 1
    assert min(seen["refused"], seen["passed"]) >= COMMITS // 8, seen


def draw(chance: random.Random) -> str:
    return chance.choice(["a.py", "b.py", "docs/a.md", "notes.txt", "vendor/x.py", "conf/.env", "broken", "script"])


def content(chance: random.Random) -> str:
    return "".join(chance.choice(["x\n", "y y\n", "z   z\n", "To-Do\n"]) for _ in range(2)) + f"{chance.random()}\n"


def commit(repo: Repo | Gated, changes: dict[str, str]) -> tuple[bool, str]:
    """Whether a commit of these files is refused, and the tree of the commit that is there then.

    What a fixer has changed is given up after a refusal, as is all else.
    """
    for name, text in changes.items():
        repo.write(name, text)
    repo.git("add", "-A")
    done = repo.run("git", "commit", "-q", "-m", "change")
    tree = repo.git("rev-parse", "HEAD^{tree}")
    repo.git("reset", "-q", "--hard")
    repo.git("clean", "-fdq")
    if (repo.root / "broken").exists():  # once it is there, nothing else could be tried
        repo.git(*SILENT, "rm", "-q", "broken")
        repo.git(*SILENT, "commit", "-q", "-m", "mended")
    return done.returncode != 0, tree

"""A formatter at commit under ahp, the real pre-commit and the real lefthook: the same outcome. `make test-tools`."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import Repo
from tests.hosts.git import gated as making
from tests.hosts.git.gated import SILENT, Gated
from tests.hosts.git.test_fixers import REFUSES, STAGES, trusted

pytestmark = pytest.mark.tools

TREES = 50
TIDY = "sed -i 's/  */ /g'"
PRE_COMMIT = f"""\
repos:
  - repo: local
    hooks:
      - {{id: tidy, name: tidy, entry: {TIDY}, language: system, files: '\\.py$'}}
"""
LEFTHOOK = f"""\
pre-commit:
  jobs:
    - {{run: "{TIDY} {{staged_files}}", glob: "*.py", stage_fixed: true}}
"""


@pytest.fixture
def base(tmp_path: Path) -> Gated:
    """A repository with tidy files and no hooks of anybody's in force."""
    made = making.make(tmp_path / "base")
    for number in range(6):
        made.write(f"pkg/f{number}.py", lines(number))
    made.write("notes.md", lines(9))
    made.add()
    made.git(*SILENT, "commit", "-q", "-m", "base")
    return made


def lines(seed: int) -> str:
    return "".join(f"{seed} line {number}\n" for number in range(40))


def change(repo: Repo, chance: random.Random) -> None:
    """Stages some edits, renames, deletions and new files, and leaves others unstaged, often in the same files."""
    for number in range(6):
        name = f"pkg/f{number}.py"
        staged = edit(lines(number), chance, "staged")
        act = chance.randrange(8)
        if act == 0:
            repo.git("rm", "-q", name)
            continue
        if act == 1:
            repo.git("mv", name, f"moved{number}.py")
            name = f"moved{number}.py"
        if act > 2:
            repo.write(name, staged)
            repo.git("add", name)
        if chance.random() < 0.6:
            repo.write(name, edit((repo.root / name).read_text(), chance, "unstaged"))
    repo.write("notes.md", lines(9) + "a   b\n")
    repo.git("add", "notes.md")
    if chance.random() < 0.5:
        repo.write("new.py", "n   n\n" * 3)
        repo.git("add", "new.py")
    repo.write("untracked.py", "u   u\n")


def edit(text: str, chance: random.Random, word: str) -> str:
    """Some lines replaced or added, half of them untidy."""
    now = text.splitlines()
    for _ in range(chance.randrange(1, 5)):
        space = chance.choice([" ", "    "])
        at = chance.randrange(len(now))
        now[at : at + chance.randrange(2)] = [f"{word}{space}{chance.randrange(1000)}"]
    return "\n".join(now) + "\n"


def outcome(repo: Repo) -> tuple[str, str, dict[str, str]]:
    """The committed tree, the staged one, and the files of the work tree."""
    there = {
        str(path.relative_to(repo.root)): path.read_text()
        for path in sorted(repo.root.rglob("*"))
        if path.is_file()
        and not {".git", ".ahp"} & set(path.relative_to(repo.root).parts)
        and path.name not in (".pre-commit-config.yaml", "lefthook.yml")
    }
    return repo.git("rev-parse", "HEAD^{tree}"), repo.git("write-tree"), there


def beside(base: Gated, tmp_path: Path, tool: str, settings: str, text: str) -> tuple[Gated, Repo]:
    """The repository under ahp with a policy, and under another tool with its settings, which are not tracked."""
    name = {"pre-commit": ".pre-commit-config.yaml", "lefthook": "lefthook.yml"}[tool]
    theirs = Repo(tmp_path / "theirs")
    shutil.copytree(base.root, theirs.root, symlinks=True)
    ours = trusted(making.copy(base, tmp_path / "ours"), text)
    shutil.rmtree(theirs.root / ".git" / "hooks")
    theirs.write(name, settings)
    for repo in (ours, theirs):
        with (repo.root / ".git" / "info" / "exclude").open("a") as file:
            file.write(f"/{name}\n")
    if tool == "pre-commit":
        theirs.git("add", "-f", name)  # it insists on settings without unstaged changes
        theirs.git(*SILENT, "commit", "-q", "-m", "settings")
        shutil.copy(theirs.root / name, ours.root)
        ours.git("add", "-f", name)
        ours.git(*SILENT, "commit", "-q", "-m", "settings")
    done = theirs.run(tool, "install")
    assert done.returncode == 0, done.stderr
    return ours, theirs


def tidied(there: dict[str, str]) -> dict[str, str]:
    return {name: re.sub(" +", " ", text) for name, text in there.items()}


@pytest.mark.parametrize("tool", ["pre-commit", "lefthook"])
def test_fifty_partly_staged_trees_come_out_as_under(tool: str, base: Gated, tmp_path: Path) -> None:
    """Both give up where unstaged edits meet the fix: pre-commit takes all its fixes back, lefthook refuses the commit.
    ahp leaves such a file of the work tree alone.
    """
    if shutil.which(tool) is None:
        pytest.fail(f"{tool} is not on PATH: run these tests with `make test-tools`")
    settings, policy = {"pre-commit": (PRE_COMMIT, REFUSES), "lefthook": (LEFTHOOK, STAGES)}[tool]
    ours, theirs = beside(base, tmp_path, tool, settings, policy)
    starts = {repo.root: repo.head() for repo in (ours, theirs)}
    seen: Counter[str] = Counter()
    for seed in range(TREES):
        said = []
        for repo in (ours, theirs):
            repo.git("reset", "-q", "--hard", starts[repo.root])
            repo.git("clean", "-fdq")
            change(repo, random.Random(seed))
            before, staged = outcome(repo)[2], repo.git("write-tree")
            done = repo.run("git", "commit", "-q", "-m", "x")
            said.append((done.returncode, os.fsdecode(done.stdout + done.stderr)))
        (our_code, our_words), (their_code, their_words) = said
        mine, other = outcome(ours), outcome(theirs)
        kept = {name for name in before if f"{name} has unstaged edits where it was fixed" in our_words}
        assert tidied(mine[2]) == tidied(before), f"{seed}: an edit is lost"
        assert all(mine[2][name] == before[name] for name in kept), seed
        gave_up = "Rolling back fixes" in their_words or "conflict while merging unstaged changes" in their_words
        if tool == "pre-commit" or not gave_up:
            assert (our_code, mine[:2]) == (their_code, other[:2]), f"{seed}: {our_words} {their_words}"
        else:
            assert our_code == 0 and mine[0] == mine[1] != staged, seed
        differ = {name for name in before if mine[2][name] != other[2][name]}
        assert gave_up or differ <= kept, f"{seed}: {differ}"
        seen["lost by them"] += tidied(other[2]) != tidied(before)
        seen["gave up" if gave_up else "differ" if differ else "same"] += 1
    assert seen["same"] >= TREES // 2, seen
    print(tool, dict(seen))

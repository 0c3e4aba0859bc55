"""A history of which it is known what was wrong with it: some commits are bad, and later ones fix them as people do.

A fifth of the fixes say nothing of it in their message, and a third of them change an innocent line, too.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterable
from typing import NamedTuple

from tests.conftest import Repo
from tests.insight.made_log import MadeLog

BEGIN = 1_735_689_600  # 2025-01-01
HOUR = 3600
FILES, LINES = 30, 60
# Rule: how often it speaks of a bad commit, and of a good one.
RULES = {
    "sharp": (0.8, 0.03),
    "good": (0.6, 0.1),
    "rare": (0.3, 0.05),
    "wide": (0.9, 0.3),
    "coin": (0.5, 0.5),
    "quiet": (0.1, 0.1),
    "strict": (0.7, 0.01),
}


class Made(NamedTuple):
    """The commits oldest first, the bad ones, and which rule speaks of which."""

    commits: list[str]
    bad: set[str]
    spoke: dict[str, set[str]]
    end: float


class _Writer:
    """Commits that `git fast-import` makes; `ids` by their number."""

    def __init__(self, chance: random.Random, repo: Repo) -> None:
        self.chance, self.at, self.ids = chance, BEGIN, [""]
        command = ["git", "-C", str(repo.root), "fast-import", "--quiet", "--cat-blob-fd=1"]
        self.git = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.files = [[f"value {n} {line} = 0" for line in range(LINES)] for n in range(FILES)]
        self.count = 0

    def commit(self, message: str, changes: dict[tuple[int, int], str]) -> int:
        self.count += 1
        self.at += int(self.chance.uniform(2, 6) * HOUR)
        for (file, line), text in changes.items():
            self.files[file][line] = text
        parts = [
            f"commit refs/heads/main\nmark :{self.count}\ncommitter A <a@example.org> {self.at} +0000",
            f"data {len(message)}\n{message}",
            *([f"from :{self.count - 1}"] if self.count > 1 else []),
        ]
        for file in {file for file, _ in changes} if self.count > 1 else range(FILES):
            text = "\n".join(self.files[file]) + "\n"
            parts.append(f"M 100644 inline f{file}.txt\ndata {len(text)}\n{text}")
        assert self.git.stdin is not None and self.git.stdout is not None
        self.git.stdin.write("\n".join([*parts, f"get-mark :{self.count}", ""]))
        self.git.stdin.flush()
        self.ids.append(self.git.stdout.readline().strip())
        return self.count

    def edit(self) -> dict[tuple[int, int], str]:
        places = [
            (self.chance.randrange(FILES), self.chance.randrange(LINES)) for _ in range(self.chance.randint(2, 5))
        ]
        return {place: f"value {self.count} {place[1]} = {self.chance.random()}" for place in places}


def made(repo: Repo, seed: int, many: int = 1050) -> Made:
    """Writes the history into `repo`; 15 % of its commits are bad."""
    chance = random.Random(seed)
    told = _Writer(chance, repo)
    told.commit("begin", {})
    bad: dict[int, tuple[dict[tuple[int, int], str], dict[tuple[int, int], str]]] = {}
    due: list[tuple[int, int]] = []
    while told.count < many:
        while due and due[0][0] <= told.at:
            _, which = due.pop(0)
            _fix(told, which, *bad[which])
        before = told.edit()
        was = {place: told.files[place[0]][place[1]] for place in before}
        number = told.commit(f"change {told.count}", before)
        if chance.random() < 0.15:
            bad[number] = before, was
            due = sorted([*due, (told.at + int(chance.uniform(2, 300) * HOUR), number)])
    told.git.communicate()
    repo.git("reset", "-q", "--hard")
    wrong = {told.ids[number] for number in bad}
    spoke = {
        rule: {id for id in told.ids[1:] if chance.random() < (of_bad if id in wrong else of_good)}
        for rule, (of_bad, of_good) in RULES.items()
    }
    return Made(told.ids[1:], wrong, spoke, told.at)


def _fix(told: _Writer, number: int, new: dict[tuple[int, int], str], old: dict[tuple[int, int], str]) -> None:
    chance = told.chance
    still = {place for place in new if told.files[place[0]][place[1]] == new[place]}
    if not still:
        return
    if chance.random() < 0.3 and still == set(new):
        told.commit(f'Revert "change {number}"\n\nThis reverts commit {told.ids[number]}.', dict(old))
        return
    by_hand = chance.random() < 0.25 and still == set(new)
    fixes = {place: old[place] if by_hand else f"{new[place]} fixed" for place in still}
    if chance.random() < 0.3 and not by_hand:
        fixes |= dict([next(iter(told.edit().items()))])
    told.commit("tidy values" if chance.random() < 0.2 else f"fix the value of {chance.random()}", fixes)


def log_of(found: Made, digests: dict[str, list[str]], asked: Iterable[str] = tuple(RULES)) -> list[str]:
    """What the gate would have logged of it: every rule was `asked`, and some spoke."""
    told = MadeLog(1, BEGIN)
    rules = [["pre-commit", rule, {"default": "prompt"}, ""] for rule in asked]
    told.write("policy", digest="sha256:p", origin="committed", commit="c" * 40, rules=rules)
    for number, id in enumerate(found.commits):
        about = {"hook": "pre-commit", "host": "git", "subject": "main", "actor": "human:a", "policy": "sha256:p"}
        about |= {"attempt": f"git:{number}:1", "change": digests[id][0] if digests[id] else ""}
        speak = [rule for rule in asked if id in found.spoke[rule]]
        for rule in speak:
            level = {"intensity": "prompt", "declared": "prompt", "decision": "warn"}
            told.write("signal", id=told.id(), rule=rule, correlation_id=told.id(), **level, **about)
        told.write("verdict", decision="warn" if speak else "allow", ms=5, **about)
    return told.lines

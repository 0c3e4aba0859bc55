"""Random histories, written into a real repository at once; what a range brings is worked out the slow way."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.conftest import Repo

Tree = dict[str, tuple[str, ...]]
PATHS = ("a", "b", "d/c", "d/e")


@dataclass
class History:
    """Commits by number: their parents, their trees (path → distinct lines in order) and their ids."""

    parents: list[list[int]] = field(default_factory=list)
    trees: list[Tree] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)

    def reach(self, tips: list[int]) -> set[int]:
        """The commits and all that came before."""
        found: set[int] = set()
        waiting = list(tips)
        while waiting:
            commit = waiting.pop()
            if commit not in found:
                found.add(commit)
                waiting += self.parents[commit]
        return found

    def best_common(self, tip: int, known: list[int]) -> list[int]:
        """The common ancestors that no other of them descends from, by id."""
        common = self.reach([tip]) & self.reach(known)
        best = [one for one in common if not any(one in self.reach(self.parents[other]) for other in common)]
        return sorted(best, key=lambda commit: self.ids[commit])

    def counted(self, tip: int, bases: list[int]) -> set[str]:
        """The paths that the tip has otherwise than each of the bases; without any, all it has."""
        there = self.trees[tip]
        known = [self.trees[base] for base in bases] or [{}]
        return {path for path in PATHS if all(there.get(path) != tree.get(path) for tree in known)}

    def added(self, tip: int, bases: list[int]) -> set[tuple[str, int, str]]:
        """The added lines of the counted paths: those that none of the bases has there."""
        known = [self.trees[base] for base in bases] or [{}]
        return {
            (path, number, line)
            for path in self.counted(tip, bases)
            for number, line in enumerate(self.trees[tip].get(path, ()), 1)
            if all(line not in tree.get(path, ()) for tree in known)
        }

    def removed(self, tip: int, bases: list[int]) -> set[tuple[str, int, str]]:
        """The lines of the first base that the tip has no more, in the counted paths."""
        first = self.trees[bases[0]] if bases else {}
        return {
            (path, number, line)
            for path in self.counted(tip, bases)
            for number, line in enumerate(first.get(path, ()), 1)
            if line not in self.trees[tip].get(path, ())
        }


def make(repo: Repo, seed: int, size: int = 14) -> History:
    """A history with branches, merges of two and three, criss-crosses and several roots; the same for a seed."""
    chance = random.Random(seed)
    made = History()
    for number in range(size):
        made.parents.append(_parents(chance, number))
        made.trees.append(_tree(chance, [made.trees[parent] for parent in made.parents[-1]]))
    script = "".join(_command(made, number) for number in range(size))
    repo.git("fast-import", "--quiet", "--force", stdin=script.encode())
    made.ids = [repo.git("rev-parse", f"refs/all/{number}") for number in range(size)]
    return made


def _parents(chance: random.Random, number: int) -> list[int]:
    if number == 0 or chance.random() < 0.08:
        return []
    near = list(range(max(0, number - 6), number))
    return chance.sample(near, min(len(near), chance.choice([1, 1, 1, 2, 2, 3])))


def _tree(chance: random.Random, parents: list[Tree]) -> Tree:
    """What a parent has, taken by file from any of them, with a few lines more or less; lines stand in one order."""
    tree: Tree = {}
    for path in PATHS:
        lines = set(chance.choice(parents).get(path, ())) if parents else set()
        if chance.random() < 0.35:
            lines ^= {f"{path}-{chance.randrange(8)}" for _ in range(chance.randrange(1, 4))}
        if lines and chance.random() > 0.05:
            tree[path] = tuple(sorted(lines))
    return tree


def _command(made: History, number: int) -> str:
    text = f"commit refs/all/{number}\nmark :{number + 1}\ncommitter a <a@example.org> {number + 1} +0000\ndata 0\n"
    for at, parent in enumerate(made.parents[number]):
        text += f"{'merge' if at else 'from'} :{parent + 1}\n"
    text += "deleteall\n"
    for path, lines in made.trees[number].items():
        content = "".join(f"{line}\n" for line in lines)
        text += f"M 100644 inline {path}\ndata {len(content)}\n{content}\n"
    return text + "\n"

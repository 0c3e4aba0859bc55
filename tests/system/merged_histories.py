"""Random histories that git alone has merged, and take-backs planted into them.

`python -m tests.system.merged_histories FIRST_SEED HOW_MANY` tries many.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from ahp.system import boundaries, git, remainder
from ahp.system.bare_merge import BareMerges
from tests.conftest import GIT_CONFIG, Repo

PATHS = ("a.txt", "b.txt", "lib/c.txt", "lib/d.txt", "e.bin")
KINDS = ("ours", "ours, old first", "ancestor", "ancestor first", "edited")


class Left(NamedTuple):
    """What is left of a range: its paths, and the texts of its lines with their signs."""

    paths: set[str]
    lines: list[str]


class Planted(NamedTuple):
    """A take-back in a merge: the commit that has it, and what has to be left of the range."""

    kind: str
    merge: str
    expected: Left


def left(repo: Repo, tip: str, known: list[str]) -> Left:
    """What is left of what `tip` brings over `known`, whoever judged the merges in it."""
    here = git.discover(str(repo.root), dict(os.environ))
    ids = [repo.git("rev-parse", one) for one in known]
    view = boundaries.range_over(here, repo.git("rev-parse", tip), ids)
    with BareMerges(here) as merges:
        found = remainder.of(view, merges, boundaries.outgoing_of(view))
        if found is None:
            return Left(set(), [])
        told = found.known_lines()
        lines = [f"+{one['text']}" for one in told.added] + [f"-{one['text']}" for one in told.removed]
        return Left({entry.path for entry in found.change().entries}, sorted(lines))


class History:
    """A repository with `main` and topics, which only git has merged; the same for a seed."""

    def __init__(self, repo: Repo, seed: int) -> None:
        self.repo, self.chance, self._number = repo, random.Random(seed), 0
        for path in PATHS:
            repo.write(path, self._content(path))
        repo.add()
        repo.git("commit", "-q", "-m", "begin")
        self.topics = ["topic-0", "topic-1", "topic-2"]
        for topic in self.topics:
            repo.git("branch", topic)
            self._on("main", self._edit)

    def grow(self, steps: int) -> None:
        """Work on all branches, and merges of them that git makes without a conflict."""
        for _ in range(steps):
            branch = self.chance.choice(["main", *self.topics])
            what = self.chance.choice([self._edit, self._edit, self._revert, self._merge, self._merge, self._octopus])
            self._on(branch, what)

    def plant(self, kind: str) -> Planted:
        """A branch `planted` with a merge that takes back what main did to files that nobody else touched."""
        repo = self.repo
        self._on("main", self._begin)
        base = repo.git("rev-parse", "main")
        self._on("main", self._fix)
        self._on("main", self._edit)
        main = repo.git("rev-parse", "main")
        repo.git("checkout", "-q", "-B", "planted", base)
        repo.write("own.txt", self._line())
        repo.add()
        repo.git("commit", "-q", "-m", "own work")
        if kind == "ours":
            repo.git("merge", "-q", "-s", "ours", "-m", "merge", "main")
        elif kind == "ours, old first":
            self._commit(repo.git("rev-parse", "HEAD^{tree}"), main, "HEAD")
        elif kind in ("ancestor", "ancestor first"):
            order = (base, main) if kind == "ancestor first" else (main, base)
            self._commit(repo.git("rev-parse", f"{base}^{{tree}}"), *order)
        else:
            repo.git("merge", "-q", "--no-commit", "main")
            repo.git("checkout", base, "--", "secret", "guard")
            repo.git("commit", "-q", "-m", "merge")
        merge = repo.git("rev-parse", "HEAD")
        for number in range(self.chance.randrange(3)):  # work and merges of git above it
            self._on("main", self._edit_other)
            self._on("planted", self._merge_main)
            repo.write(f"above-{number}", self._line())
            repo.add()
            repo.git("commit", "-q", "-m", "above")
        only = ("secret", "guard") if kind == "edited" else ()
        return Planted(kind, merge, self._back(main, base, only))

    def _back(self, new: str, old: str, only: tuple[str, ...]) -> Left:
        """What it is to go back from one commit to another."""
        asked = ("diff", "--no-renames", "-U0", "--text", new, old, "--", *only)
        lines = [line for line in self.repo.git(*asked).split("\n") if line[:1] in ("+", "-")]
        paths = self.repo.git("diff", "--no-renames", "--name-only", new, old, "--", *only).split("\n")
        return Left(set(paths), sorted(line for line in lines if line[:4] not in ("+++ ", "--- ")))

    def _begin(self) -> None:
        self.repo.write("secret", "key\n")
        self.repo.write("guard", "head\nweak\ntail\n")
        self.repo.add()
        self.repo.git("commit", "-q", "--allow-empty", "-m", "old")

    def _edit_other(self) -> None:
        self.repo.write("other", self._line())
        self.repo.add()
        self.repo.git("commit", "-q", "-m", "other")

    def _merge_main(self) -> None:
        self._merge(["main"])

    def _fix(self) -> None:
        self.repo.git("rm", "-q", "secret")
        self.repo.write("guard", "head\nstrict\ntail\n")
        self.repo.add()
        self.repo.git("commit", "-q", "-m", "fix")

    def _on(self, branch: str, what: object) -> None:
        self.repo.git("checkout", "-q", branch)
        what()  # type: ignore[operator]

    def _commit(self, tree: str, *parents: str) -> None:
        above = [word for parent in parents for word in ("-p", parent)]
        self.repo.git("reset", "-q", "--hard", self.repo.git("commit-tree", *above, "-m", "merge", tree))

    def _line(self) -> str:
        self._number += 1
        return f"line {self._number} {self.chance.randrange(3)}\n"

    def _content(self, path: str) -> str:
        if path.endswith(".bin"):
            return f"\0{self._line()}"
        return "".join(self._line() for _ in range(30))

    def _edit(self) -> None:
        path = self.chance.choice(PATHS)
        place = self.repo.root / path
        chance = self.chance.random()
        if not place.exists() or chance < 0.05 or path.endswith(".bin"):
            self.repo.write(path, self._content(path))
        elif chance < 0.1:
            place.unlink()
        elif chance < 0.15:
            place.chmod(0o755 if not place.stat().st_mode & 0o100 else 0o644)
        elif chance < 0.2:
            self.repo.git("mv", path, f"{path}.{self._line().split()[1]}")
        else:
            lines = place.read_text().splitlines(keepends=True)
            at = self.chance.randrange(len(lines) + 1)
            lines[at : at + self.chance.randrange(3)] = [self._line() for _ in range(self.chance.randrange(3))]
            if self.chance.random() < 0.2 and len(lines) > 6:  # a block moves
                lines = [*lines[3:6], *lines[:3], *lines[6:]]
            place.write_text("".join(lines) or self._line())
        self.repo.add()
        self.repo.git("commit", "-q", "--allow-empty", "-m", f"edit {path}")

    def _revert(self) -> None:
        if self.repo.run("git", "revert", "--no-edit", "HEAD").returncode:
            self.repo.run("git", "revert", "--abort")

    def _merge(self, others: list[str] | None = None) -> None:
        other = others or [self.chance.choice(["main", *self.topics])]
        if self.repo.run("git", "merge", "-q", "--no-edit", *other).returncode:
            self.repo.run("git", "merge", "--abort")
            self.repo.git("reset", "-q", "--hard")

    def _octopus(self) -> None:
        """A merge of three, where git's octopus makes what its merges one after the other make: it goes by fewer bases,
        so that of crossing histories it may take something back itself.
        """
        others = self.chance.sample(["main", *self.topics], 3)
        before = self.repo.head()
        trees = []
        for merged in ([[one] for one in others], [others]):
            self.repo.git("reset", "-q", "--hard", before)
            for some in merged:
                self._merge(some)
            trees.append(self.repo.git("rev-parse", "HEAD^{tree}"))
        if trees[0] != trees[1]:
            self.repo.git("reset", "-q", "--hard", before)


def try_seed(repo: Repo, seed: int) -> list[str]:
    """What is wrong with the remainders of one history; nothing where all is right."""
    history, wrong = History(repo, seed), []
    history.grow(24)
    for topic in history.topics:
        for known in (["main"], ["main", history.topics[0]], ["main", *history.topics[:2]]):
            if topic not in known and (found := left(repo, topic, known)).paths:
                wrong.append(f"seed {seed}: git alone merged {topic} over {known}, and {found} is left")
    for kind in KINDS:
        planted = history.plant(kind)
        found = left(repo, "planted", ["main"])
        if found != planted.expected:
            wrong.append(f"seed {seed}: {kind}: {planted.expected} is planted, {found} is found")
    return wrong


def main() -> int:
    """Tries seeds one after the other; the exit code is 1 where one is wrong."""
    first, number = int(sys.argv[1]), int(sys.argv[2])
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "gitconfig").write_text(GIT_CONFIG)
        os.environ |= {"GIT_CONFIG_GLOBAL": f"{folder}/gitconfig", "GIT_CONFIG_NOSYSTEM": "1"}
        for seed in range(first, first + number):
            root = Path(folder, str(seed))
            root.mkdir()
            repo = Repo(root)
            repo.git("init", "-q")
            wrong += try_seed(repo, seed)
    print("\n".join([*wrong, f"{number} histories, {number * len(KINDS)} take-backs: {len(wrong)} wrong"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

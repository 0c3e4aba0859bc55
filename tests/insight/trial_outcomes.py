"""Rules graded on long and on public histories: python -m tests.insight.trial_outcomes FOLDER [CLONE ...]

It writes into FOLDER what it makes and finds, so that a trial that was ended goes on from there. First it grades rules
on 20,000 planted commits. Then it plants among the last 1,200 changes of each CLONE what `planted_history` does: bugs,
and their fixes and reverts. What a project fixed itself counts as the join finds it. All of it is seeded.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from ahp.insight.outcomes import Aftermath, aftermath, grade, spoken
from ahp.system import git, terminal
from tests.conftest import Repo
from tests.insight import planted_history
from tests.insight.planted_history import HOUR, RULES, Made

LONG, CHANGES, RATE, SEED = 20_000, 1_200, 0.2, 38
BUG = b" changed"


class Score(NamedTuple):
    """Of so `many` rules, those whose precision came back within ten points, and whose auc did within 0.05."""

    near: int
    alike: int
    many: int


def read(repo: Path, folder: Path) -> Aftermath:
    """What became of the commits, as far as an earlier reading has not told."""
    with terminal.progress("reading history, commits") as seen:
        return aftermath(git.discover(str(repo), dict(os.environ)), str(folder), seen=seen)


def score(found: Made, after: Aftermath, folder: Path) -> Score:
    """How well the grades fit what was planted; the log is written into the folder."""
    digests = {id: fact.digests for id, fact in after.facts.items()}
    (folder / "signals.jsonl").write_text("\n".join(planted_history.log_of(found, digests)) + "\n")
    told, settled = spoken(str(folder), after), after.settled(found.end)
    near = alike = 0
    for rule in RULES:
        one, spoke, bad = grade(rule, told[rule], after, settled), found.spoke[rule] & settled, found.bad & settled
        recall, alarms = len(spoke & bad) / len(bad), len(spoke - bad) / len(settled - bad)
        if one.precision is not None and one.auc is not None:
            near += abs(one.precision.hits / one.precision.many - len(spoke & bad) / len(spoke)) <= 0.1
            alike += abs(one.auc - (1 + recall - alarms) / 2) <= 0.05
    return Score(near, alike, len(RULES))


class Bug(NamedTuple):
    """One that is to be fixed `at` a time: the file as it was and as it is, by lines."""

    at: float
    commit: str
    path: str
    before: list[bytes]
    broken: list[bytes]


class Planting:
    """The last changes of the first-parent line of a clone, made anew in `repo` with bugs among them, if any.

    A bug is in a file that the project leaves alone until it is fixed, so that each of its own changes stays whole.
    """

    def __init__(self, clone: Path, repo: Path, many: int = CHANGES, rate: float = RATE, seed: int = SEED) -> None:
        self.clone, self.chance, self.rate = clone, random.Random(seed), rate
        rows = [
            row.split() for row in self._asked("log", "--first-parent", "--format=%H %ct", f"-{many + 1}").split(b"\n")
        ]
        line = [(id.decode(), int(at)) for id, at in filter(None, reversed(rows))]
        self.ids, self.times = [id for id, _ in line], [max(at for _, at in line[: n + 1]) for n in range(len(line))]
        self.made: list[str] = []
        self.real: list[str] = []
        self.bad: set[str] = set()
        self.due: list[Bug] = []
        self._git("init", "-q", "-b", "main", str(repo))
        objects = self._asked("rev-parse", "--path-format=absolute", "--git-path", "objects")
        (repo / ".git/objects/info/alternates").write_bytes(objects)
        command = ["git", "-C", str(repo), "fast-import", "--quiet", "--cat-blob-fd=1"]
        self.told = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._write_all()
        self.told.communicate()

    def _git(self, *words: str) -> bytes:
        return subprocess.run(["git", *words], capture_output=True, check=True).stdout

    def _asked(self, *words: str) -> bytes:
        return self._git("-C", str(self.clone), *words)

    def _commit(self, at: float, message: bytes, *changes: bytes) -> str:
        assert self.told.stdin is not None and self.told.stdout is not None
        number = len(self.made) + 1
        head = f"commit refs/heads/main\nmark :{number}\ncommitter A <a@example.org> {at:.0f} +0000\n".encode()
        begin = b"from :%d\n" % (number - 1) if self.made else b""
        message = b"data %d\n%s\n" % (len(message), message)
        self.told.stdin.write(b"".join([head, message, begin, *changes, b"get-mark :%d\n" % number]))
        self.told.stdin.flush()
        self.made.append(self.told.stdout.readline().decode().strip())
        return self.made[-1]

    def _write_all(self) -> None:
        changes = [
            [row.split(b"\t") for row in told.split(b"\n") if row]
            for told in (self._asked("diff", "--no-renames", "--raw", "--no-abbrev", *pair) for pair in self._pairs())
        ]
        tree = [row.split(b"\t") for row in self._asked("ls-tree", "-r", self.ids[0]).split(b"\n") if row]
        first = [b"M %s %s %s\n" % (about.split()[0], about.split()[2], path) for about, path in tree]
        self.real.append(self._commit(self.times[0], b"begin", *first))
        for number, some in enumerate(changes, 1):
            while self.due and self.due[0].at <= self.times[number]:
                self._fix(self.due.pop(0))
            self._own(number, [(about.split(), path) for about, path in some])
            if self.chance.random() < self.rate:
                self._break(number, changes)

    def _pairs(self) -> list[tuple[str, str]]:
        return list(zip(self.ids, self.ids[1:], strict=False))

    def _own(self, number: int, changed: list[tuple[list[bytes], bytes]]) -> None:
        written = [
            b"D %s\n" % path if about[4] == b"D" else b"M %s %s %s\n" % (about[1], about[3], path)
            for about, path in changed
        ]
        message = self._asked("log", "-1", "--format=%B", self.ids[number])
        self.real.append(self._commit(self.times[number], message, *written))

    def _break(self, number: int, changes: list[list[list[bytes]]]) -> None:
        at = self.times[number] + self.chance.uniform(2, 300) * HOUR
        until = next((n for n in range(number, len(self.times)) if self.times[n] >= at), len(self.times))
        taken = {path for some in changes[number:until] for _, path in some} | {bug.path.encode() for bug in self.due}
        tree = [row.split(b"\t") for row in self._asked("ls-tree", "-r", self.ids[number]).split(b"\n") if row]
        free = [(about.split()[2], path) for about, path in tree if about.startswith(b"100644 ") and path not in taken]
        if not free:
            return
        blob, path = self.chance.choice(free)
        before = self._asked("cat-file", "blob", blob.decode()).split(b"\n")
        places = [n for n, one in enumerate(before) if any(map(str.isalnum, one.decode("utf-8", "replace")))]
        if b"\0" in b"".join(before) or len(places) < 12:
            return
        broken = list(before)
        for place in self.chance.sample(places, self.chance.randint(2, 5)):
            broken[place] = b"value %d %d" % (number, place) + BUG
        commit = self._commit(self.times[number] + 1, b"change %d" % number, _inline(path, broken))
        self.bad.add(commit)
        self.due = sorted([*self.due, Bug(at, commit, path.decode(), before, broken)])

    def _fix(self, bug: Bug) -> None:
        if self.chance.random() < 0.3:
            message, lines = f'Revert "change"\n\nThis reverts commit {bug.commit}.', bug.before
        else:
            message = "tidy values" if self.chance.random() < 0.2 else f"fix the value of {self.chance.random()}"
            by_hand = self.chance.random() < 0.25
            lines = bug.before if by_hand else [one.replace(BUG, BUG + b" fixed") for one in bug.broken]
        self._commit(bug.at, message.encode(), _inline(bug.path.encode(), lines))


def _inline(path: bytes, lines: list[bytes]) -> bytes:
    data = b"\n".join(lines)
    return b"M 100644 inline %s\ndata %d\n%s\n" % (path, len(data), data)


def planted(clone: Path, folder: Path, many: int = CHANGES) -> Score:
    """How well rules are graded on the changes of a clone."""
    plain = Planting(clone, folder / "plain", many, 0.0)
    wrong = read(folder / "plain", folder / "plain-log").outcomes
    made = Planting(clone, folder / "planted", many)
    own = {mine for mine, its in zip(made.real, plain.real, strict=True) if its in wrong}
    bad, chance = made.bad | own, random.Random(SEED)
    spoke = {
        rule: {id for id in made.made if chance.random() < (of_bad if id in bad else of_good)}
        for rule, (of_bad, of_good) in RULES.items()
    }
    after = read(folder / "planted", folder / "log")
    return score(Made(made.made, bad, spoke, made.times[-1]), after, folder / "log")


def long(folder: Path, many: int = LONG) -> Score:
    """How well rules are graded on so many planted commits; tells how long the first reading and a later one take."""
    repo, made = folder / "repo", folder / "made.json"
    if not made.exists():
        shutil.rmtree(repo, ignore_errors=True)
        subprocess.run(["git", "init", "-q", "-b", "main", str(repo)], check=True)
        told = planted_history.made(Repo(repo), SEED, many)
        spoke = {rule: sorted(some) for rule, some in told.spoke.items()}
        made.write_text(json.dumps([told.commits, sorted(told.bad), spoke, told.end]))
    commits, bad, spoke, end = json.loads(made.read_text())
    for _ in range(2):
        begin, used = time.monotonic(), _used()
        after = read(repo, folder / "log")
        print(f"  {len(after.facts):,} commits read in {time.monotonic() - begin:.1f} s, {_used() - used:.1f} s of CPU")
    found = Made(commits, set(bad), {rule: set(some) for rule, some in spoke.items()}, end)
    return score(found, after, folder / "log")


def _used() -> float:
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def main(folder: Path, *clones: str) -> None:
    for name in ("", *clones):
        place = folder / (name.strip("/").replace("/", "+") or "long")
        done = place / "score.json"
        if not done.exists():
            if name:
                shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True, exist_ok=True)
            found = planted(Path(name), place) if name else long(place)
            done.write_text(json.dumps(found))
        print(f"{name or 'long'}: {Score(*json.loads(done.read_text()))}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])

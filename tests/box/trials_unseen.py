"""Writes that no call explains, in random sessions: how many are named, and how many of a person's are.

`python -m tests.box.trials_unseen N [FROM]`: a trial is made of its number alone, so runs resume.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ahp import Gate
from ahp.facts.files import gather
from ahp.hosts import asking
from ahp.protocol.event import Actor

POLICY = "version: 1\nrules: {r: {at: pre-tool-use, prompt: 'false'}}\n"
APART = 0.03  # s between what one and what another writes: more than a tick of the file system's clock


def git(root: Path, *args: str) -> None:
    """Runs git as somebody without settings of their own."""
    env = {"PATH": os.environ["PATH"], "HOME": str(root.parent), "GIT_CONFIG_NOSYSTEM": "1"}
    who = {f"GIT_{kind}_{what}": "a@example.invalid" for kind in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *args], cwd=root, env={**env, **who}, check=True)


class Trial:
    """One work tree, and who changed each of its files last."""

    def __init__(self, number: int, root: Path) -> None:
        self.dice, self.root, self.by = random.Random(number), root, dict[str, str]()
        (root / ".ahp").mkdir(parents=True)
        (root / ".ahp/hooks.yaml").write_text(POLICY)
        for at in range(12):
            (root / f"d{at % 4}").mkdir(exist_ok=True)
            (root / f"d{at % 4}/f{at}").write_text("begin\n")
        git(root, "init", "-qb", "main")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "begin")

    def write(self, who: str) -> None:
        """Changes, makes or removes files, as one of `who`."""
        time.sleep(APART)
        for _ in range(self.dice.randint(1, 3)):
            name = f"d{self.dice.randrange(4)}/f{self.dice.randrange(16)}"
            path = self.root / name
            if who == "call" and self.dice.random() < 0.1:
                path.unlink(missing_ok=True)
            elif self.dice.random() < 0.2:
                new = path.with_name("new")  # as editors and formatters do it
                new.write_text(f"{self.dice.random()}\n")
                new.replace(path)
            else:
                path.write_text(f"{self.dice.random()}\n")
            self.by[name] = who
        time.sleep(APART)

    def run(self) -> dict[str, set[str]]:
        """The paths by who changed them last, and those that are `named`."""
        self.write("person")
        for session in range(self.dice.randint(1, 2)):
            gate = Gate(str(self.root), agent="claude", session=f"s{session}")
            gate.judge("session-start")
            for _ in range(self.dice.randint(1, 2)):
                gate.judge("prompt-submit", prompt={"text": "x"})
                for number in range(self.dice.randint(1, 4)):
                    call = {"native_name": "Bash", "input": {"command": f"make {number}"}}
                    gate.judge("pre-tool-use", tool=call)
                    self.write("call")
                    gate.judge("post-tool-use", tool={**call, "output": ""})
                    if self.dice.random() < 0.4:
                        self.write("nobody")
                gate.judge("task-complete")
                if self.dice.random() < 0.5:
                    self.write("person")
        git(self.root, "add", "-A")
        event = asking.event("pre-commit", "git", Actor("agent", "claude"), asking.around(str(self.root)))
        asking.complete(event, str(self.root))
        found = gather(event, frozenset({"changed", "unexplained"}), None)
        changed, named = set(found["changed"]), set(found["unexplained"])  # type: ignore[call-overload]
        kinds = {who: {path for path in changed if self.by.get(path) == who} for who in ("person", "call", "nobody")}
        return {**kinds, "named": named}


def trials(numbers: range) -> dict[str, list[int]]:
    """By who changed files last: how many of them were named, and how many there were."""
    counts = {who: [0, 0] for who in ("person", "call", "nobody")}
    for number in numbers:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            found = Trial(number, Path(folder) / "p").run()
        for who, count in counts.items():
            count[0] += len(found[who] & found["named"])
            count[1] += len(found[who])
    return counts


def main(count: int, start: int = 0) -> None:
    """Runs trials by their numbers, fifty at a time."""
    for first in range(start, count, 50):
        print(first, trials(range(first, min(first + 50, count))), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

"""Hooks that run at once, and are killed: no refused change lands, no record is lost, honest commits stay silent.

`AHP_TEST_ROUNDS=200 pytest -m slow tests/hosts/git/test_concurrent.py` runs so many rounds. Each begins from the same
state with its number as seed: `AHP_TEST_ROUNDS_FROM=57` goes on at that one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from ahp.journal.append import Journal
from ahp.journal.verify import verify
from tests.hosts.git.gated import Gated

ROUNDS = int(os.environ.get("AHP_TEST_ROUNDS") or 80)
FROM = int(os.environ.get("AHP_TEST_ROUNDS_FROM") or 0)
AT_ONCE = 20
POLICY = """\
version: 1
rules:
  s: {at: pre-commit, each: l in diff.added, block: "'SECRET' in l.text", message: a secret}
  m: {at: commit-msg, block: "'WIP' in commit.message", message: not done}
"""


class Done(NamedTuple):
    """One `git commit` of a round."""

    code: int
    said: str
    was_killed: bool


@pytest.fixture
def trees(gated: Gated, tmp_path: Path) -> list[Gated]:
    """A repository with two linked work trees, each on its branch, after a commit that woke commit-msg."""
    gated.commit_policy(POLICY)
    for name in ("second", "third"):
        gated.git("worktree", "add", "-q", "-b", name, str(tmp_path / name))
    made = [gated, Gated(tmp_path / "second"), Gated(tmp_path / "third")]
    for tree in made:
        tree.write("a.txt", "begin\n")
        tree.add()
        assert tree.say("commit", "-q", "-m", "begin").code == 0
    return made


def at_once(trees: list[Gated], messages: list[str], random: Random, kills: int = 0) -> list[Done]:
    """Commits in the work trees in turn, all at once; so many of them lose one of their processes at some moment."""
    begun = []
    for number, message in enumerate(messages):
        argv = ["git", "commit", "-q", "-m", message]
        where = trees[number % len(trees)].root
        begun.append(
            subprocess.Popen(
                argv, cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        )  # fmt: skip
        time.sleep(random.random() * 0.01)
    killed = set()
    for one in random.sample(begun, kills):
        time.sleep(random.random() * 0.1)
        with contextlib.suppress(ProcessLookupError):
            if members := of_session(one.pid):
                os.kill(random.choice(members), signal.SIGKILL)
                killed.add(one.pid)
    done = [Done(0, one.communicate(timeout=120)[0].decode(), one.pid in killed) for one in begun]
    while any(of_session(one.pid) for one in begun):
        time.sleep(0.01)  # what a killed git has left goes on
    return [way._replace(code=one.returncode) for way, one in zip(done, begun, strict=True)]


def of_session(leader: int) -> list[int]:
    """The processes that run in a session, dead ones left out."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            fields = Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(name))
    return found


def landed(tree: Gated, since: str) -> list[str]:
    """What the commits since then say and bring."""
    ids = tree.git("rev-list", f"{since}..HEAD").split()
    return [tree.git("show", "--format=%B", one) for one in ids]


@pytest.mark.slow
def test_however_hooks_run_at_once_and_are_killed_no_refused_change_lands(trees: list[Gated]) -> None:
    begin = [tree.head() for tree in trees]
    hit = good_ones = 0
    for seed in range(FROM, FROM + ROUNDS):
        random = Random(seed)
        is_bad = [random.random() < 0.5 for _ in trees]
        for tree, head, bad in zip(trees, begin, is_bad, strict=True):
            for left in Path(tree.git("rev-parse", "--absolute-git-dir").strip()).glob("**/*.lock"):
                left.unlink()  # of a git that was killed
            tree.git("reset", "-q", "--hard", head)
            tree.write("a.txt", f"SECRET {seed}\n" if bad else f"plain {seed}\n")
            tree.add()
        # One for each tree: two commits in one share git's file for the message, so that either may get the other's.
        words = [random.choice(("fine", "fine", "WIP")) for _ in trees]
        messages = [words[number % len(trees)] for number in range(AT_ONCE)]
        kills = random.choice((0, 0, 4, 8))
        done = at_once(trees, messages, random, kills)
        print(f"round {seed}: {is_bad}, {kills} kills, {[one.code for one in done]}", flush=True)
        for number, (tree, head, bad) in enumerate(zip(trees, begin, is_bad, strict=True)):
            texts = landed(tree, head)
            assert not any("SECRET" in text or "WIP" in text for text in texts), f"round {seed}: {done}"
            own = [(message, one) for message, one in zip(messages, done, strict=True)][number :: len(trees)]
            fine = [one for message, one in own if message == "fine" and not one.was_killed]
            if not bad and not kills and fine:
                assert len(texts) == 1, f"round {seed}: {done}"
                assert not any("ahp" in one.said for one in fine), f"round {seed}: {fine}"
                good_ones += len(fine)
        hit += sum(one.was_killed for one in done)
    assert good_ones or ROUNDS < 5
    assert hit or ROUNDS < 5
    found = verify(Journal(str(trees[0].folder)))
    assert not found.problems, found

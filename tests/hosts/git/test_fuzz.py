"""git does the same with ahp as without; ahp speaks where a rule is broken, and only there.

`AHP_TEST_FUZZ=5000 pytest tests/hosts/git/test_fuzz.py` does that many operations, `AHP_TEST_FUZZ_SEED` other ones.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from tests.hosts.git.fuzzing import oracle
from tests.hosts.git.fuzzing import world as worlds
from tests.hosts.git.fuzzing.operations import Draw, Spice, Step, take, write
from tests.hosts.git.fuzzing.world import Done, World

OPERATIONS = int(os.environ.get("AHP_TEST_FUZZ") or 20)
SEED = int(os.environ.get("AHP_TEST_FUZZ_SEED") or 0)
_LACKING = "ahp: .ahp/hooks.yaml here is missing and has no effect; the policy of HEAD judges"
_OF_ONE_WORLD = 60  # operations: a history of some dozens of commits

# Rules of every kind, which read all there is and find nothing, not even in this text.
SILENT = """\
version: 1
limits: {never: "no such \\x74ext"}
rules:
  files:
    at: [pre-commit, pre-merge-commit, pre-push]
    block: files.changed_count > 10000 or files.lines_changed > 100000
  lines:
    at: [pre-commit, commit-msg, pre-push]
    each: l in diff.added
    block: limits.never in l.text
    finding: {file: l.path, line: l.line}
  message: {at: commit-msg, block: limits.never in commit.message}
  branch: {at: [pre-commit, pre-push], block: branch.name == 'no-such-branch'}
  advice: {at: post-commit, aid: limits.never in commit.message}
  sizes: {at: [pre-commit, pre-push], prompt: files.largest_bytes > 1000000}
"""


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> World:
    return worlds.make(tmp_path_factory.mktemp("silent") / "world", SILENT)


@pytest.mark.slow
def test_git_does_the_same_with_ahp_as_without(silent: World, tmp_path: Path) -> None:
    for number, seed in _seeds():
        with_gate = worlds.copy(silent, tmp_path / f"{seed}" / "with")
        without = worlds.copy(silent, tmp_path / f"{seed}" / "without", gate=False)
        draw = Draw(Random(seed), without)
        for at in range(number):
            for step in draw.steps():
                known = len(with_gate.records())
                write(with_gate, step)
                write(without, step)
                here, there = take(with_gate, step), take(without, step)
                here = _without_note(with_gate, here)
                case = f"seed {seed}, operation {at}: {step}"
                print(case, there)  # what a failure came from
                told = [record for record in with_gate.records()[known:] if record["kind"] in ("signal", "bypass")]
                assert told == [], case
                assert here == there, f"{case}\nwith ahp: {here}\nwithout:  {there}"
                assert with_gate.snapshot() == without.snapshot(), case


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> World:
    return worlds.make(tmp_path_factory.mktemp("strict") / "world", oracle.POLICY, oracle.record)


@pytest.mark.slow
def test_ahp_refuses_where_the_oracle_says_so_and_says_nothing_elsewhere(strict: World, tmp_path: Path) -> None:
    spice = Spice(oracle.BAD_NAMES, oracle.BAD_WORDS, oracle.BAD_MESSAGES)
    for number, seed in _seeds():
        world = worlds.copy(strict, tmp_path / str(seed))
        git, draw = oracle.Git(world.here), Draw(Random(seed), world, spice)
        for at in range(number):
            for step in draw.steps():
                _compare(world, git, step, f"seed {seed}, operation {at}: {step}")


def _compare(world: World, git: oracle.Git, step: Step, case: str) -> None:
    write(world, step)
    told, before, known = len(world.records()), world.snapshot(), set(git.text("rev-list", "--all").split())
    done = _without_note(world, take(world, step))
    case += f"\n{done}"
    cleanup = next((word.partition("=")[2] for word in step.argv if word.startswith("--cleanup=")), "")
    print(case)  # what a failure came from
    shown = oracle.seen(world)
    broken = next((found for one in shown if (found := oracle.broken_at(git, one, cleanup))), set())
    records = world.records()[told:]
    denied = {one["rule"].partition("/")[0] for one in records if one["kind"] == "signal" and one["decision"] == "deny"}
    assert denied == broken, f"{case}\nahp: {denied}, oracle: {broken} {shown}"
    if broken and step.argv[1] in ("commit", "push"):
        assert done.code != 0, case
        # But for the draft: where commit-msg judges the content too, git has written it by then.
        assert {**world.snapshot(), "texts": ""} == {**before, "texts": ""}, case
    if not broken and "ahp:" in done.text:
        made = set(git.text("rev-list", "--all").split()) - known
        assert any(oracle.broken_by(git, commit) for commit in made), case


def _without_note(world: World, done: Done) -> Done:
    """What was said, but for the sentence that the work tree lacks its policy, where it does."""
    return (
        done
        if (world.here / ".ahp/hooks.yaml").exists()
        else done._replace(text=done.text.replace(_LACKING, "").strip())
    )


def _seeds() -> list[tuple[int, int]]:
    """(operations, seed) of each world."""
    full, rest = divmod(OPERATIONS, _OF_ONE_WORLD)
    numbers = [_OF_ONE_WORLD] * full + ([rest] if rest else [])
    return [(number, SEED + at) for at, number in enumerate(numbers)]

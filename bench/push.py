"""`git push` of many commits that no hook has judged, and of many that a remote has already.

`python -m bench.push [--quick]`; the budgets are design §11's. Each figure is the push with the gate less the same push
without it; CPU time is of git and all it starts.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench.measure import Broken
from bench.scratch import Scratch

FILES, CHANGED, LINES = 10_000, 4, 8
UNJUDGED, EXCUSED = 1_000, 5_000
BUDGET_UNJUDGED, BUDGET_EXCUSED, BUDGET_LINEAR = 5.0, 1.0, 1.25


class Took(NamedTuple):
    """Seconds of wall and of CPU time."""

    wall: float
    cpu: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.push", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the commits: a first look, not a figure")
    quick = parser.parse_args().quick
    part = 10 if quick else 1
    with tempfile.TemporaryDirectory(prefix="ahp-bench-") as folder:
        scratch = Scratch(Path(folder).resolve(), Path(folder))
        try:
            root = project(scratch)
            _unjudged(scratch, root, 10)  # the first one compiles and renews what is kept
            half, whole = (_unjudged(scratch, root, number // part) for number in (UNJUDGED, 2 * UNJUDGED))
            excused = _excused(scratch, root, EXCUSED // part)
        except Broken as broken:
            print(f"bench: {broken}", file=sys.stderr)
            return 2
    rows = (
        (f"push of {UNJUDGED // part:,} unjudged commits, starter policy, s", half.wall, half.cpu, BUDGET_UNJUDGED),
        ("twice as many / twice the time", whole.wall / half.wall / 2, whole.cpu / half.cpu / 2, BUDGET_LINEAR),
        (f"push of {EXCUSED // part:,} excused commits, s", excused.wall, excused.cpu, BUDGET_EXCUSED),
    )
    print(f"{'budget':55} {'limit':>7} {'wall':>7} {'CPU':>7}")
    for what, wall, cpu, limit in rows:
        print(f"{what:55} {limit:7.2f} {wall:7.2f} {cpu:7.2f}  {'kept' if wall <= limit else 'NOT KEPT'}")
    return 0


def project(scratch: Scratch) -> Path:
    """A repository of Python files with the policy that `ahp init` writes, behind the gate, and its remote."""
    root, program = scratch.folder / "project", Path(sys.executable).with_name("ahp")
    scratch.run(scratch.folder, "git", "init", "--quiet", root)
    (root / "pyproject.toml").write_text("[project]\nname = 'bench'\n")
    scratch.run(root, "git", "add", "--all")
    scratch.run(root, "git", "commit", "--quiet", "--message", "feat: begin")
    scratch.run(root, program, "init")
    scratch.run(root, "git", "add", "--all")
    scratch.run(root, "git", "commit", "--quiet", "--no-verify", "--message", "chore: the policy")
    import_commits(scratch, root, "main", _files(FILES))
    scratch.run(root, "git", "reset", "--quiet", "--hard")
    _bare(scratch, root, "origin")
    scratch.run(root, "git", "push", "--quiet", "--no-verify", "origin", "main")
    scratch.run(root, "git", "remote", "set-head", "origin", "main")
    scratch.run(root, program, "install", "git")
    return root


def _unjudged(scratch: Scratch, root: Path, number: int) -> Took:
    """The push of a new branch with so many commits."""
    branch = f"feature/of-{number}"
    import_commits(scratch, root, branch, (changes(one) for one in range(number)))
    return _push(scratch, root, "origin", branch)


def _excused(scratch: Scratch, root: Path, number: int) -> Took:
    """The push to an empty remote of so many commits that the first remote has."""
    branch = f"feature/theirs-{number}"
    import_commits(scratch, root, branch, (changes(one) for one in range(number)))
    scratch.run(root, "git", "push", "--quiet", "--no-verify", "origin", branch)
    _bare(scratch, root, "second")
    return _push(scratch, root, "second", branch)


def _push(scratch: Scratch, root: Path, remote: str, branch: str) -> Took:
    """What the gate adds to a push, which it lets pass. Raises Broken where it was not asked."""
    log = root / ".git/ahp/signals.jsonl"
    before = log.stat().st_size if log.exists() else 0
    with_gate = _timed(scratch, root, "git", "push", "--quiet", remote, branch)
    if not log.exists() or log.stat().st_size <= before:
        raise Broken(f"the push of {branch} left nothing in {log}: was the gate reached?")
    scratch.run(root, "git", "push", "--quiet", "--no-verify", remote, "--delete", branch)
    without = _timed(scratch, root, "git", "push", "--quiet", "--no-verify", remote, branch)
    return Took(with_gate.wall - without.wall, with_gate.cpu - without.cpu)


def _timed(scratch: Scratch, root: Path, *argv: str) -> Took:
    before, begun = os.times(), time.perf_counter()
    scratch.run(root, *argv)
    wall, after = time.perf_counter() - begun, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Took(wall, cpu)


def _bare(scratch: Scratch, root: Path, name: str) -> None:
    scratch.run(scratch.folder, "git", "init", "--quiet", "--bare", f"{name}.git")
    scratch.run(root, "git", "remote", "add", name, f"../{name}.git")


def _files(number: int) -> Iterator[list[int]]:
    """One commit that brings all files."""
    yield list(range(number))


def changes(commit: int) -> list[int]:
    """The files that a commit changes."""
    return [(commit * 37 + step * 1_009) % FILES for step in range(CHANGED)]


def import_commits(scratch: Scratch, root: Path, branch: str, commits: Iterator[list[int]]) -> None:
    """Puts commits on a branch, from main's tip where it is new, past every hook (git-fast-import)."""
    stream = scratch.folder / "stream"
    with stream.open("w") as out:
        for number, files in enumerate(commits):
            message = f"feat: change {number} of {branch}\n"  # no two branches have a commit in common
            who = f"Bench Person <bench@example.org> {1_700_000_000 + number} +0000"
            out.write(f"commit refs/heads/{branch}\ncommitter {who}\n")
            out.write(f"data {len(message)}\n{message}")
            if not number:
                out.write("from refs/heads/main^0\n")
            for file in files:
                text = "".join(f"value_{line} = {number * LINES + line}\n" for line in range(LINES))
                out.write(f"M 100644 inline src/package_{file // 25}/module_{file}.py\ndata {len(text)}\n{text}\n")
    scratch.run(root, "sh", "-c", f"git fast-import --quiet --force <'{stream}'")


if __name__ == "__main__":
    sys.exit(main())

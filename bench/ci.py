"""`ahp ci` of many commits, against the git that reads the same.

`python -m bench.ci [--quick]`; the budgets are design §11's. The marginal figure is the CPU time of the larger range
less that of the smaller one, of `ahp ci` and all the git that it starts; peak memory is that of the largest process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from ahp.system.view import PATCH, RAW
from bench.measure import Broken
from bench.push import CHANGED, FILES, changes, import_commits, project
from bench.scratch import Scratch

FEW, MANY = 1_000, 5_000
BUDGET_NAMES, BUDGET_STARTER, BUDGET_PEAK = 2.0, 3.5, 150
ROUNDS = 3
NAMES = """\
version: 1
rules:
  size: {at: pre-commit, prompt: files.changed_count > 50}
  keys: {at: pre-commit, block: "any(p.endswith('.pem') for p in files.added)"}
  subject: {at: commit-msg, block: len(commit.subject) > 200}
  words: {at: commit-msg, prompt: "'fixup!' in commit.message"}
"""


class Took(NamedTuple):
    """Seconds of CPU time, and the largest process in MB."""

    cpu: float
    peak: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.ci", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the commits: a first look, not a figure")
    quick = parser.parse_args().quick
    few, many = (number // (10 if quick else 1) for number in (FEW, MANY))
    with tempfile.TemporaryDirectory(prefix="ahp-bench-") as folder:
        scratch = Scratch(Path(folder).resolve(), Path(folder))
        try:
            root = project(scratch)
            texts = _branches(scratch, root, "lines", few, many)
            starter, git_text = _marginal(scratch, root, texts), _git_marginal(scratch, root, texts, PATCH)
            (root / ".ahp/hooks.yaml").write_text(NAMES)
            scratch.run(root, "git", "commit", "--quiet", "--no-verify", "--all", "--message", "chore: names only")
            scratch.run(root, "git", "update-ref", "refs/remotes/origin/main", "HEAD")
            older = _marginal(scratch, root, texts)
            branches = _branches(scratch, root, "names", few, many)
            names, git_names = _marginal(scratch, root, branches), _git_marginal(scratch, root, branches)
        except Broken as broken:
            print(f"bench: {broken}", file=sys.stderr)
            return 2
    rows = (
        ("marginal CPU / git that reads names and messages", names.cpu / git_names, BUDGET_NAMES),
        ("marginal CPU / git that reads lines too, starter policy", starter.cpu / git_text, BUDGET_STARTER),
        ("the same commits under a policy that main has changed since", older.cpu / git_text, BUDGET_STARTER),
        (f"peak of {many:,} commits, starter policy, MB", starter.peak, BUDGET_PEAK),
    )
    print(f"ahp ci, {few:,} to {many:,} commits of {CHANGED} files, {FILES:,} in the tree: ", end="")
    print(f"{names.cpu:.2f} s of CPU for names, {starter.cpu:.2f} s with the starter policy")
    print(f"{'budget':55} {'limit':>7} {'figure':>7}")
    for what, figure, limit in rows:
        print(f"{what:55} {limit:7.2f} {figure:7.2f}  {'kept' if figure <= limit else 'NOT KEPT'}")
    return 0


def _branches(scratch: Scratch, root: Path, name: str, few: int, many: int) -> list[str]:
    """Two branches from main's tip, with so many commits."""
    for number in (few, many):
        import_commits(scratch, root, f"feature/{name}-{number}", (changes(one) for one in range(number)))
    return [f"feature/{name}-{number}" for number in (few, many)]


def _marginal(scratch: Scratch, root: Path, branches: list[str]) -> Took:
    """What the commits past the few cost `ahp ci`."""
    program = str(Path(sys.executable).with_name("ahp"))
    return _more(scratch, root, [[program, "ci", "--to", to, "--target", "main"] for to in branches])


def _git_marginal(scratch: Scratch, root: Path, branches: list[str], *more: tuple[str, ...]) -> float:
    """The floor: what git takes to print of the same commits what `ahp ci` has to know of each, all in one question for
    names, one for lines, one for messages; in seconds of CPU time.
    """
    asked = []
    for branch in branches:
        span = f"origin/main..{branch}"
        reads = [f"git diff-tree --stdin --always -r --root {' '.join(options)}" for options in (RAW, *more)]
        parts = [f"git rev-list {span} | {one} >/dev/null" for one in reads]
        parts.append(f"git log --no-decorate -z --format='%H%x00%P%x00%cI%x00%B' {span} >/dev/null")
        asked.append(["sh", "-c", "; ".join(parts)])
    return _more(scratch, root, asked).cpu


def _more(scratch: Scratch, root: Path, argvs: list[list[str]]) -> Took:
    """What the second command takes more than the first: the least of some rounds of each, for what another process of
    the machine adds to one of them is no part of the difference.
    """
    rounds = [[_run(scratch, root, argv) for argv in argvs] for _ in range(ROUNDS)]
    small, large = (min(took) for took in zip(*rounds, strict=True))
    return Took(large.cpu - small.cpu, large.peak)


def _run(scratch: Scratch, root: Path, argv: list[str]) -> Took:
    """Raises Broken where it does not end well."""
    with subprocess.Popen(
        argv, cwd=root, env=scratch.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as started:
        assert started.stderr is not None
        said = started.stderr.read()
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise Broken(f"{' '.join(argv)} ended with {started.returncode}: {said.decode(errors='replace')[-300:]}")
    return Took(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


if __name__ == "__main__":
    sys.exit(main())

"""A remembered verification over a project of 5,000 files; beside it the `git status` that it cannot do without.

`python -m bench.verification [--quick]`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from ahp.runner.verification.project_verifier import ProjectVerifier
from ahp.system import environ

FILES, TESTS = 5_000, 50
BUDGET = 100.0  # ms


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a first look, not a figure")
    rounds = 5 if parser.parse_args().quick else 30
    with tempfile.TemporaryDirectory(prefix="ahp-bench-") as folder:
        root = Path(folder).resolve()
        _project(root)
        if not ProjectVerifier(str(root), environ.current()).verify(300).ok:
            print(
                "bench: the tests of the project did not pass: is pytest installed beside this Python?", file=sys.stderr
            )
            return 2
        status = ["git", "status", "--porcelain", "--untracked-files=all"]
        verify = [sys.executable, "-c", "from ahp.cli.main import main; main()", "verify"]
        rows = {
            "git status": _time(lambda: _run(status, root), rounds),
            "a remembered verification": _time(lambda: _verify(root), rounds),
            "ahp verify, the whole process": _time(lambda: _run(verify, root), rounds),
        }
    print(f"ms, median of {rounds}, {FILES:,} files")
    for name, took in rows.items():
        print(f"{name:34} {took:8.1f}")
    took = rows["a remembered verification"]
    print(f"budget of a remembered verification: {BUDGET:g} ms: {'kept' if took <= BUDGET else 'MISSED'}")
    return 0 if took <= BUDGET else 1


def _project(root: Path) -> None:
    for number in range(FILES - TESTS):
        path = root / f"src/package_{number // 25}/module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"value_{line} = {number * line}\n" for line in range(40)))
    (root / "tests").mkdir()
    for number in range(TESTS):
        (root / f"tests/test_{number}.py").write_text("def test_it(): pass\n")
    (root / "pytest.ini").write_text("[pytest]\naddopts = -p no:xdist -p no:cov -p no:hypothesispytest\n")
    (root / ".gitignore").write_text("__pycache__/\n.venv\n")
    os.symlink(Path(sys.executable).parent.parent, root / ".venv")  # as an environment of the project's own
    for command in (["init", "-q"], ["add", "-A"], ["-c", "user.name=b", "-c", "user.email=b@x", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], cwd=root, check=True)


def _verify(root: Path) -> None:
    result = ProjectVerifier(str(root), environ.current()).verify(60)
    assert result.cached, f"it was not remembered: {result.summary}"


def _run(command: list[str], root: Path) -> None:
    subprocess.run(command, cwd=root, check=True, stdout=subprocess.DEVNULL)


def _time(function: Callable[[], None], rounds: int) -> float:
    """The median in milliseconds."""
    took = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        took.append((time.perf_counter() - begin) * 1e3)
    return median(took)


if __name__ == "__main__":
    sys.exit(main())

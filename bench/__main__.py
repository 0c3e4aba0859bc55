"""`make bench`: medians and ratios, all in one run on one machine, because figures of different days do not compare."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import commit
from bench.measure import Broken, Row, as_json, real_time
from bench.scratch import Scratch

GROUPS = ["peers", "ahp", "files", "rules", "cold", "log"]
# Benches of single rooms; each prints its own table and takes --quick.
OTHERS = ["agents", "box", "ci", "conditions", "journal", "insight", "parallel", "push", "retrieval", "verification"]


def main() -> int:
    arguments = _arguments()
    groups = arguments.only or GROUPS + OTHERS
    with tempfile.TemporaryDirectory(prefix="ahp-bench-", dir=arguments.folder) as folder:
        try:
            scratch = Scratch(Path(folder).resolve(), arguments.peers.resolve())
            print(_header(scratch))
            with real_time(not arguments.normal) as scheduling:
                print(f"Runs in {scheduling}, interleaved, medians of {arguments.rounds}.")
                figures = commit.measure(scratch, arguments.rounds, groups, arguments.quick)
        except Broken as broken:
            print(f"bench: {broken}", file=sys.stderr)
            return 2
        finally:
            # The rows changed into folders that are about to go.
            os.chdir(Path(__file__).parent.parent)
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": _machine(), **figures}, default=_encode, indent=1) + "\n")
    return _others([name for name in OTHERS if name in groups], arguments.quick)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--peers", type=Path, required=True, help="folder with the programs pre-commit and prek")
    parser.add_argument("--quick", action="store_true", help="few rounds and small sizes: a first look, not a figure")
    parser.add_argument("--rounds", type=int, help="samples a row (30, quick: 7)")
    parser.add_argument("--only", action="append", choices=GROUPS + OTHERS, help="only this group; may be repeated")
    parser.add_argument("--json", type=lambda text: Path(text).resolve(), metavar="FILE", help="write every sample too")
    parser.add_argument("--folder", help="where the scratch repositories go (the system's temporary folder)")
    parser.add_argument("--normal", action="store_true", help="stay in the normal scheduling class")
    arguments = parser.parse_args()
    arguments.rounds = arguments.rounds or (7 if arguments.quick else 30)
    return arguments


def _machine() -> dict[str, object]:
    return {
        "system": platform.platform(),
        "cpus": os.cpu_count(),
        "python": platform.python_version(),
        "load": os.getloadavg(),
    }


def _header(scratch: Scratch) -> str:
    machine = _machine()
    versions = [
        scratch.run(scratch.home, program, "--version").strip().splitlines()[0]
        for program in ("git", scratch.peers / "pre-commit", scratch.peers / "prek")
    ]
    return f"{machine['system']}, {machine['cpus']} CPUs, Python {machine['python']}, {', '.join(versions)}"


def _others(names: list[str], quick: bool) -> int:
    worst = 0
    for name in names:
        print(f"\nbench/{name}.py", flush=True)
        command = [sys.executable, "-m", f"bench.{name}", *(["--quick"] if quick else [])]
        worst = max(worst, subprocess.run(command, check=False).returncode)
    return worst


def _encode(value: object) -> object:
    if isinstance(value, Row):
        return as_json(value)
    raise TypeError(f"{value!r} has no place in the figures")


sys.exit(main())

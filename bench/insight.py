"""The feedback loop on a log of a million records, each command as a process of its own, with its largest memory.

`python -m bench.insight [--quick]`; the budgets are 10 s, for `ahp report` and `ahp replay` 15 s, 300 MB, linear, and
for `ahp stats` 1.2 times what DuckDB takes for the same figures of the same log (`bench/duckdb_stats.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench import scratch_log

RECORDS = 1_000_000
MEGABYTES = 300.0
_DUCKDB = Path(__file__).with_name("duckdb_stats.py")
COMMANDS = {
    "stats --by rule --format json": 10.0,
    "stats --by subject --format json": 10.0,
    "report --html page.html": 15.0,
    "replay": 15.0,
    "replay --policy other.yaml": 15.0,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.insight", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    most = RECORDS // 10 if parser.parse_args().quick else RECORDS
    with tempfile.TemporaryDirectory(prefix="ahp-bench-") as folder:
        for records in (most // 4, most):
            place = f"{folder}/{records}"
            scratch_log.write(place + "/.ahp", records)
            size = sum(entry.stat().st_size for entry in os.scandir(place + "/.ahp")) / 1e6
            print(f"{records:,} records, {size:,.0f} MB")
            for name, limit in (("place", 10), ("other", 12)):
                path = place + ("/.ahp/hooks.yaml" if name == "place" else "/other.yaml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(scratch_log.policy(limit))
            for command, seconds_allowed in COMMANDS.items():
                seconds, megabytes, told = _run(place, command.split())
                budget = f"budget {seconds_allowed * records / RECORDS:.1f} s, {MEGABYTES:.0f} MB"
                print(f"  ahp {command:40} {seconds:6.2f} s CPU {megabytes:7.0f} MB   {budget}")
                if command == "stats --by rule --format json":
                    ours, our_seconds = told, seconds
            seconds, _, theirs = _spent([sys.executable, str(_DUCKDB)], place + "/.ahp")
            if not _agree(theirs, ours):
                print("  the figures of DuckDB are not those of ahp: what follows compares two questions")
            budget = f"ahp stats takes {our_seconds / seconds:.1f} times that, at most 1.2 are allowed"
            print(f"  {'DuckDB: the figures of ahp stats':44} {seconds:6.2f} s CPU              {budget}")
    return 0


def _agree(theirs: bytes, ours: bytes) -> bool:
    groups = {group["name"]: group for group in json.loads(ours)["groups"]}
    rules = json.loads(theirs)
    return rules.keys() == groups.keys() and all(told.items() <= groups[rule].items() for rule, told in rules.items())


def _run(folder: str, arguments: list[str]) -> tuple[float, float, bytes]:
    return _spent([sys.executable, "-c", "from ahp.cli.main import main; main()", *arguments], folder)


def _spent(command: list[str], folder: str) -> tuple[float, float, bytes]:
    """Seconds of CPU, megabytes and output of one process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    # The largest child so far: the sizes are run in rising order.
    return spent, after.ru_maxrss / 1024, done.stdout


if __name__ == "__main__":
    sys.exit(main())

"""The feedback loop on a log of a million records: CPU and wall seconds and the largest memory of each command.

`python -m bench.insight [--quick]`; the budgets are 10 s, for `ahp report` and `ahp replay` 15 s, 300 MB, linear, and
for `ahp stats` 1.2 times what DuckDB takes for the same figures of the same log (`bench/duckdb_stats.py`), both the
best of three. Without the extra `insight` the journal's fold does what DuckDB does with it, in several processes: the
budget is one of wall time, the memory that of the largest process; how much longer than DuckDB it takes tells more than
its seconds, which hang on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench import scratch_log

RECORDS = 1_000_000
MEGABYTES = 300.0
_AHP = [sys.executable, "-c", "from ahp.cli.main import main; main()"]
_WITHOUT = [sys.executable, "-c", f"import sys; sys.modules['duckdb'] = None; {_AHP[2]}"]
_DUCKDB = Path(__file__).with_name("duckdb_stats.py")
COMMANDS = {
    "stats --by rule --format json": 10.0,
    "stats --by subject --format json": 10.0,
    "report --html page.html": 15.0,
    "replay": 15.0,
    "replay --policy other.yaml": 15.0,
}


class Spent(NamedTuple):
    """What a process took: seconds of CPU and of wall time, megabytes at most; and what it printed."""

    cpu: float
    wall: float
    megabytes: float
    told: bytes

    def __str__(self) -> str:
        return f"{self.cpu:6.2f} s CPU {self.wall:6.2f} s wall {self.megabytes:5.0f} MB"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.insight", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    most = RECORDS // 10 if parser.parse_args().quick else RECORDS
    with tempfile.TemporaryDirectory(prefix="ahp-bench-") as folder:
        for records in (most // 4, most):
            _measure(f"{folder}/{records}", records)
    return 0


def _measure(place: str, records: int) -> None:
    scratch_log.write(place + "/.ahp", records)
    size = sum(entry.stat().st_size for entry in os.scandir(place + "/.ahp")) / 1e6
    print(f"{records:,} records, {size:,.0f} MB")
    for path, limit in (("/.ahp/hooks.yaml", 10), ("/other.yaml", 12)):
        Path(place + path).write_text(scratch_log.policy(limit), encoding="utf-8")
    for program, commands in ((_AHP, COMMANDS), (_WITHOUT, [name for name in COMMANDS if name.startswith("stats")])):
        print("  with the extra insight" if program is _AHP else "  without it")
        for command in commands:
            budget = f"budget {COMMANDS[command] * records / RECORDS:.1f} s, {MEGABYTES:.0f} MB"
            print(f"    ahp {command:34} {_spent([*program, *command.split()], place)}   {budget}")
    stats = next(iter(COMMANDS)).split()
    ours, alone = (min(_spent([*program, *stats], place) for _ in range(3)) for program in (_AHP, _WITHOUT))
    theirs = min(_spent([sys.executable, str(_DUCKDB)], place + "/.ahp") for _ in range(3))
    if not _agree(theirs.told, ours.told):
        print("  the figures of DuckDB are not those of ahp: what follows compares two questions")
    times = f"ahp stats: {ours.cpu / theirs.cpu:.2f} times its CPU, {ours.wall / theirs.wall:.2f} times its wall time"
    print(f"  {'ahp stats, the best of three':42} {ours}")
    print(f"  {'the same without the extra':42} {alone}   {alone.wall / theirs.wall:.1f} times DuckDB's wall time")
    print(f"  {'DuckDB: the same figures':42} {theirs}   {times}; at most 1.2")


def _agree(theirs: bytes, ours: bytes) -> bool:
    groups = {group["name"]: group for group in json.loads(ours)["groups"]}
    rules = json.loads(theirs)
    return rules.keys() == groups.keys() and all(told.items() <= groups[rule].items() for rule, told in rules.items())


def _spent(command: list[str], folder: str) -> Spent:
    with tempfile.TemporaryFile() as output:
        begun = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)  # of this child alone
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        output.seek(0)
        return Spent(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, output.read())


if __name__ == "__main__":
    sys.exit(main())

"""The feedback loop on a log of a million records: CPU and wall seconds and the largest memory of each command.

`python -m bench.insight [--quick]`. Budgets are of CPU time: the first `ahp stats` reads all and keeps what it counted
(30 s, 150 MB), every later one reads only what came since (0.5 s), `ahp log --rule` 5 s, `ahp log verify` 1.2 times a
plain loop that decodes and hashes each line. They hold for a million records; reading is linear in them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from ahp.journal import segments
from bench import scratch_log

RECORDS = 1_000_000
MEGABYTES = 150.0
_AHP = [sys.executable, "-c", "from ahp.cli.main import main; main()"]
_STATS = "stats --format json"
COMMANDS = {
    _STATS: 30.0,
    f"{_STATS} ": 0.5,
    f"{_STATS} --by subject": 0.5,
    f"{_STATS} --since 30d": 0.5,
    "stats --from .": 30.0,
    "stats --from . ": 0.5,
    "report --html page.html": 15.0,
    "log --rule rule-3": 5.0,
    "replay": 15.0,
    "replay --policy other.yaml": 15.0,
}
_PLAIN = """
import hashlib, json, sys
before = None
for path in sys.argv[1:]:
    with open(path, "rb") as file:
        for line in file:
            line = line[:-1]
            assert json.loads(line)["prev"] == before
            before = "sha256:" + hashlib.sha256(line).hexdigest()
"""


class Spent(NamedTuple):
    """What a process took: seconds of CPU and of wall time, megabytes at most."""

    cpu: float
    wall: float
    megabytes: float

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
    for command, seconds in COMMANDS.items():
        budget = f"budget of a million: {seconds} s, {MEGABYTES:.0f} MB"
        print(f"    ahp {command:34} {_spent([*_AHP, *command.split()], place)}   {budget}")
    ours = _spent([*_AHP, "log", "verify"], place)
    plain = _spent([sys.executable, "-c", _PLAIN, *(part.path for part in segments.listed(place + "/.ahp"))], place)
    print(f"    ahp {'log verify':34} {ours}   {ours.cpu / plain.cpu:.2f} times a plain loop; budget 1.2")


def _spent(command: list[str], folder: str) -> Spent:
    with tempfile.TemporaryFile() as output:
        begun = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)  # of this child alone
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        return Spent(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024)


if __name__ == "__main__":
    sys.exit(main())

"""The journal: appends a second by one and by eight processes, and looking up one signal among very many.

`python -m bench.journal [--quick]`; the budgets are design §11's.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import uuid
from pathlib import Path

from ahp.journal.append import Journal, JournalUnwritable
from ahp.journal.state import State
from ahp.system import clock

WRITERS = 8
BUDGET_LINES = 50_000
BUDGET_LOOKUP = 0.001
VERDICT: dict[str, object] = {
    "hook": "pre-commit",
    "kind": "verdict",
    "decision": "allow",
    "subject": "main",
    "facts": {"files.changed_count": 3, "branch.name": "main"},
    "policy": "sha256:" + "0" * 64,
    "host": "git",
    "actor": "human:ann",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.journal", description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    lines, signals = (20_000, 20_000) if quick else (200_000, 1_000_000)
    with tempfile.TemporaryDirectory(prefix="ahp-bench-") as folder:
        one = _appends(folder + "/one", lines)
        print(f"append, 1 process, a record a write     {one:10,.0f} lines/s   budget {BUDGET_LINES:,}")
        batch = _appends(folder + "/batch", lines, 8)
        print(f"append, 1 process, 8 records a write    {batch:10,.0f} lines/s")
        many, kept = _together(folder + "/many", lines // WRITERS)
        print(f"append, {WRITERS} processes, a record a write   {many:10,.0f} lines/s   {kept}")
        cold, sync, lookup = _lookup(folder + "/state", signals)
        print(f"state made anew from {signals:,} signals  {cold:10.1f} s")
        print(f"state opened and brought up to date     {sync * 1e3:10.2f} ms")
        print(
            f"one signal by its id among {signals:,}  {lookup * 1e6:10.1f} µs        budget {BUDGET_LOOKUP * 1e6:,.0f}"
        )
    return 0


def _appends(folder: str, lines: int, batch: int = 1) -> float:
    journal = Journal(folder)
    journal.append([VERDICT])
    records = [VERDICT] * batch
    begin = time.perf_counter()
    for _ in range(lines // batch):
        journal.append(records)
    return lines / (time.perf_counter() - begin)


def _together(folder: str, lines: int) -> tuple[float, str]:
    Journal(folder).append([VERDICT])
    begin = time.perf_counter()
    writers = []
    for _ in range(WRITERS):
        pid = os.fork()
        if pid == 0:
            journal, refused = Journal(folder), 0
            for _ in range(lines):
                try:
                    journal.append([VERDICT])
                except JournalUnwritable:
                    refused += 1  # the lock's deadline: told to the caller, who did not take it for written
            os._exit(min(refused, 255))
        writers.append(pid)
    refused = sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in writers)
    took = time.perf_counter() - begin
    kept = 0
    for path in Path(folder).glob("signals*.jsonl"):
        with path.open(encoding="utf-8") as log:
            kept += sum(json.loads(line)["kind"] == "verdict" for line in log)
    lost = WRITERS * lines + 1 - refused - kept
    return WRITERS * lines / took, f"{lost} lost, 0 torn, {refused} refused after the lock's deadline"


def _lookup(folder: str, signals: int) -> tuple[float, float, float]:
    os.mkdir(folder)
    now, wanted = clock.now(), ""
    with open(folder + "/signals.jsonl", "w", encoding="utf-8") as log:
        for n in range(signals):
            wanted = str(uuid.uuid4())
            stamp = clock.iso(now - signals + n)
            record = {"timestamp": stamp, "hook": "pre-commit", "intensity": "prompt", "kind": "signal", "id": wanted}
            more = {"rule": "size/1", "subject": f"b{n % 1000}", "actor": "human:ann", "decision": "warn", "n": n + 1}
            log.write(json.dumps({**record, **more}) + "\n")
    journal = Journal(folder)
    begin = time.perf_counter()
    State.open(journal).close()
    cold = time.perf_counter() - begin
    begin = time.perf_counter()
    with State.open(journal) as state:
        sync = time.perf_counter() - begin
        begin = time.perf_counter()
        rounds = 200
        for _ in range(rounds):
            (id,) = state.find(wanted[:20])
            assert state.signal(id) is not None
        return cold, sync, (time.perf_counter() - begin) / rounds


if __name__ == "__main__":
    sys.exit(main())

"""The journal: appends by one and by eight processes, a state made anew, and reading a very long log.

`python -m bench.journal [--quick]`. Seconds are of the processor, so that a busy machine changes little.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from ahp.journal.append import ROTATE_AT, Journal, JournalUnwritable, chain
from ahp.journal.episodes import new_id
from ahp.journal.index import Index
from ahp.journal.state import State
from ahp.system import clock

WRITERS = 8
BUDGET_LINES = 50_000
BUDGET_LOOKUP = 0.001
BUDGET_ANEW = 0.4
BUDGET_MEMORY = 150
_DAY = 86400.0
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
    year = 10_000 if quick else 100_000
    with tempfile.TemporaryDirectory(prefix="ahp-bench-") as folder:
        one = _appends(folder + "/one", lines)
        print(f"append, 1 process, a record a write     {one:10,.0f} lines/s   budget {BUDGET_LINES:,}")
        batch = _appends(folder + "/batch", lines, 8)
        print(f"append, 1 process, 8 records a write    {batch:10,.0f} lines/s")
        many, spent, kept = _together(folder + "/many", lines // WRITERS)
        print(
            f"append, {WRITERS} processes, a record a write   {many:10,.0f} lines/s   {spent * 1e6:.0f} µs CPU, {kept}"
        )
        _a_year(folder + "/year", year, verdicts=0)
        anew, of = _anew(folder + "/year")
        print(f"state made anew, {year:,} signals a year {anew:9.2f} s         budget {BUDGET_ANEW}, {of:,} read")
        _a_year(folder + "/long/.ahp", signals // 2, verdicts=1)
        for command in (["verify"], ["--rule", "rule-3"], ["--limit", "20"]):
            cpu, memory = _reading(folder + "/long", command)
            name = f"ahp log {' '.join(command)}, {signals:,} records"
            print(f"{name:42} {cpu:7.2f} s   {memory:5,.0f} MiB  budget {BUDGET_MEMORY} MiB")
        cold, sync, lookup = _lookup(folder + "/state", signals)
        print(f"state made anew, {signals:,} not forgotten {cold:7.1f} s")
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


def _together(folder: str, lines: int) -> tuple[float, float, str]:
    Journal(folder).append([VERDICT])
    begin, before = time.perf_counter(), _of_children()
    writers, (reading, writing) = [], os.pipe()
    for _ in range(WRITERS):
        pid = os.fork()
        if pid == 0:
            journal, refused = Journal(folder), 0
            for _ in range(lines):
                try:
                    journal.append([VERDICT])
                except JournalUnwritable:
                    refused += 1  # the lock's deadline: told to the caller, who did not take it for written
            os.write(writing, f"{refused}\n".encode())
            os._exit(0)
        writers.append(pid)
    for pid in writers:
        os.waitpid(pid, 0)
    refused = sum(map(int, os.read(reading, 4096).split()))
    os.close(reading)
    os.close(writing)
    took, spent = time.perf_counter() - begin, _of_children() - before
    kept = 0
    for path in Path(folder).glob("signals*.jsonl"):
        with path.open(encoding="utf-8") as log:
            kept += sum(json.loads(line)["kind"] == "verdict" for line in log)
    lost = WRITERS * lines + 1 - refused - kept
    told = f"{lost} lost, {refused} refused after the lock's deadline"
    return WRITERS * lines / took, spent / (WRITERS * lines), told


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _a_year(folder: str, signals: int, verdicts: int) -> None:
    """A log of a year: signals of 20 rules, each with `verdicts`, on branches that live for a day or two."""
    os.makedirs(folder)
    live, index, serial, size = folder + "/signals.jsonl", Index(str(uuid.uuid4())), 1, 0
    begin, episodes = clock.now() - 365 * _DAY, dict[tuple[str, str], str]()
    log = open(live, "wb")  # noqa: SIM115  # goes on in another file
    log.write(chain(index, [{"timestamp": clock.iso(begin), "kind": "genesis", "id": index.genesis, "format": 1}]))
    for n in range(signals):
        at = begin + n * 365 * _DAY / signals
        rule, subject = f"rule-{n % 20}", f"branch-{n * 365 // signals}"
        about: dict[str, object] = {"subject": subject, "actor": "agent:claude", "host": "git", "attempt": f"git:{n}"}
        told = {"hook": "pre-commit", "intensity": "prompt", "source": rule, "consumed": False, "action": None}
        more = {"rule": rule, "declared": "prompt", "decision": "warn", "message": "11 files, 10 at most: split it"}
        of = {"evidence": f"sha256:{n:064x}", "head": f"{n:040x}", "paths": ["src/a.py", "src/b.py"]}
        episode = episodes.setdefault((rule, subject), new_id(at))
        signal = {**told, "kind": "signal", "id": str(uuid.uuid4()), "correlation_id": episode, **more, **of, **about}
        stamp = {"timestamp": clock.iso(at)}
        data = chain(index, [{**stamp, **signal}, *[{**stamp, **VERDICT, **about}] * verdicts])
        index.keys.clear()
        log.write(data)
        size += len(data)
        if size >= ROTATE_AT:
            log.close()
            os.rename(live, f"{folder}/signals.{serial}.jsonl")
            log, serial, size = open(live, "wb"), serial + 1, 0  # noqa: SIM115
            after = {"serial": serial, "after": f"signals.{serial - 1}.jsonl", "genesis": index.genesis, "format": 1}
            log.write(chain(index, [{**stamp, "kind": "rotation", **after}]))
    log.close()


def _anew(folder: str) -> tuple[float, int]:
    """CPU seconds to make the state of a log, and how many signals it then has."""
    begin = time.process_time()
    with State.open(Journal(folder)) as state:
        took = time.process_time() - begin
        return took, len(state.latest(1 << 40))


def _reading(folder: str, command: list[str]) -> tuple[float, float]:
    """CPU seconds and peak memory in MiB of an `ahp log` command."""
    argv = [sys.executable, "-c", "import sys; from ahp.cli.main import main; sys.exit(main())", "log", *command]
    with open(os.devnull, "wb") as nowhere:
        child = subprocess.Popen(argv, cwd=folder, stdout=nowhere)
        _, status, used = os.wait4(child.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


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
    begin = time.process_time()
    State.open(journal).close()
    cold = time.process_time() - begin
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

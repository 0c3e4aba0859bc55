"""Ten logs of a million records in ClickHouse's engine (chDB), by deploy/'s schema: time, size, each panel's question.

`python -m bench.store FOLDER [LOGS] [RECORDS]`; a run that was ended goes on with the log that is not there yet. The
logs tell the same under other names. chDB is that of `build/peers`.
"""

from __future__ import annotations

import json
import random
import runpy
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from ahp.insight import export
from ahp.system import digest
from bench import scratch_log

PROJECT = Path(__file__).resolve().parents[1]
PYTHON = PROJECT / "build/peers/bin/python"
_SHAPE = "Timestamp DateTime64(9), Body String, LogAttributes Map(String, String)"
_INSERT = """
INSERT INTO ahp.otel_logs (Timestamp, ScopeName, Body, ResourceAttributes, LogAttributes)
SELECT Timestamp, 'ahp.journal', Body, map('ahp.log', '{log}', 'host.id', '{log}', 'ahp.repository', 'org/{log}'),
mapUpdate(LogAttributes, map('log.record.uid', concat('{log}:', LogAttributes['log.record.uid'])))
FROM file('{path}', JSONEachRow, '{shape}') SETTINGS max_insert_threads = 1
"""


def lines(path: Path, records: int) -> None:
    """Writes a log as an exporter would insert it, and a heartbeat at its end."""
    prev = ""
    with path.with_suffix(".part").open("w") as file:
        for n, record in enumerate(scratch_log._records(random.Random(7), records), 1):
            raw = json.dumps({**record, "n": n, "prev": prev or None}).encode()
            prev = digest.tagged(raw)
            file.write(_row(export.told("", raw, {**record, "n": n})))
        file.write(_row(export.heartbeat("", records, prev)))
    path.with_suffix(".part").rename(path)


def _row(one: export.Told) -> str:
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(one.nanoseconds // 10**9))
    told = {name: str(value) for name, value in one.attributes.items()}
    return json.dumps({"Timestamp": at, "Body": one.body, "LogAttributes": told}) + "\n"


class Store:
    """The engine behind its door; `spent` CPU seconds."""

    def __init__(self, process: psutil.Process, url: str) -> None:
        self.process, self.url = process, url

    def ask(self, sql: str) -> str:
        with urllib.request.urlopen(self.url, sql.encode()) as answer:
            return str(answer.read().decode())

    @property
    def spent(self) -> float:
        return sum(self.process.cpu_times()[:2])

    def timed(self, what: str, sql: str) -> None:
        begin, used = time.monotonic(), self.spent
        told = self.ask(sql)
        rows = len(told.splitlines())
        print(f"{what:40} {time.monotonic() - begin:7.2f} s {self.spent - used:7.2f} s CPU {rows:6} rows", flush=True)


@contextmanager
def serving(folder: Path) -> Iterator[Store]:
    door = [str(PYTHON), str(PROJECT / "tests/insight/clickhouse_door.py"), "0", str(folder)]
    schema = [] if folder.exists() else [*map(str, sorted((PROJECT / "deploy/clickhouse").glob("*.sql")))]
    with subprocess.Popen([*door, *schema], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        yield Store(psutil.Process(running.pid), f"http://127.0.0.1:{int(running.stdout.readline())}")
        running.kill()


def main(folder: Path, logs: int = 10, records: int = 1_000_000) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{records}.jsonl"
    if not path.exists():
        lines(path, records)
    with serving(folder / "store") as store:
        for name in (f"log-{number}" for number in range(logs)):
            have = int(store.ask(f"SELECT count() FROM ahp.records WHERE log = '{name}'"))
            if have < records + 1:
                store.timed(f"insert {name}", _INSERT.format(log=name, path=path, shape=_SHAPE))
        store.timed("one log again", _INSERT.format(log="log-0", path=path, shape=_SHAPE))
        store.timed("records, each once", "SELECT count() FROM ahp.records FINAL WHERE kind != 'heartbeat'")
        for title, (_, _, _, asked) in panels().items():
            told = asked.replace("$__timeFilter(at)", "true").replace("$__timeFilter(s.at)", "true")
            store.timed(title, told.replace("$rule", "rule-3"))
        sizes = "SELECT sum(bytes_on_disk), sum(rows) FROM system.parts WHERE active AND table = 'records'"
        size, rows = map(int, store.ask(sizes).split())
        print(f"{size / 2**20:,.0f} MiB, {size / rows:.0f} bytes a record; {store.process.memory_info().rss >> 20} MB")


def panels() -> dict[str, Any]:
    found: dict[str, Any] = runpy.run_path(str(PROJECT / "deploy/grafana/make.py"))["PANELS"]
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))

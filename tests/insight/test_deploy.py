"""deploy/: real stores take what `ahp log ship` sends, and each panel says what `ahp stats` says. `make test-tools`.

PostgreSQL loads lines that are written here, by the protocol's own messages; ClickHouse (chDB) gets them from rotel.
"""

from __future__ import annotations

import json
import os
import pwd
import runpy
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from ahp.cli import log as command
from ahp.insight import overview, stats
from ahp.system import clock
from tests.conftest import OUTSIDE, PROJECT

from . import example, rotel
from .receiver import Receiver, receiving

pytestmark = pytest.mark.tools
DEPLOY = PROJECT / "deploy"
DASHBOARDS = runpy.run_path(str(DEPLOY / "grafana" / "make.py"))


class Store:
    """Asks the questions of one store's dashboard and alerts."""

    name, moment = "", ""

    def ask(self, sql: str) -> list[list[str]]:
        """The rows of the last statement as texts."""
        raise NotImplementedError

    def _told(self, sql: str) -> str:
        return sql.replace("$__timeFilter(at)", "true").replace("$__timeFilter(s.at)", "true").replace("$rule", "size")

    def panel(self, title: str, now: str = "now()") -> list[list[str]]:
        return self.ask(self._told(DASHBOARDS["PANELS"][title][2 + (self.name == "clickhouse")]).replace("now()", now))

    def alert(self, uid: str) -> int:
        ((found,),) = self.ask(DASHBOARDS["ALERTS"][uid][2 + (self.name == "clickhouse")])
        return int(found)


class PostgreSQL(Store):
    """A PostgreSQL of its own, which listens on a socket in its folder alone."""

    name, moment = "postgresql", "timestamptz"

    def __init__(self, folder: Path) -> None:
        self.env = {**os.environ, "PGHOST": str(folder), "PGUSER": "ahp", "PGDATABASE": "postgres", "PGTZ": "UTC"}

    def ask(self, sql: str) -> list[list[str]]:
        argv = ["psql", "-qAtX", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", sql]
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    def load(self, folder: Path) -> None:
        done = subprocess.run(
            ["sh", str(DEPLOY / "load.sh"), str(folder)], env=self.env, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr


class ClickHouse(Store):
    """ClickHouse's engine behind a door of HTTP at `url`."""

    name, moment = "clickhouse", "DateTime"

    def __init__(self, url: str) -> None:
        self.url = url

    def ask(self, sql: str) -> list[list[str]]:
        try:
            with urllib.request.urlopen(self.url, sql.encode()) as answer:
                told = answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()) from error
        return [line.split("\t") for line in told.splitlines()]


def programs() -> Path | None:
    found = shutil.which("pg_ctl") or next(map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))), None)
    return Path(found).parent if found else None


@pytest.fixture
def postgresql() -> Iterator[PostgreSQL]:
    binaries = programs()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="ahp-pg-", dir="/tmp"))
    other = {}
    if os.getuid() == 0:  # it refuses to run as root
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        other = {"user": nobody.pw_uid, "group": nobody.pw_gid}
    env = {"PATH": OUTSIDE["PATH"], "LC_ALL": "C.UTF-8"}
    made = [binaries / "initdb", "-D", folder / "data", "-U", "ahp", "-A", "trust", "-E", "UTF8", "--no-sync"]
    server = [binaries / "postgres", "-D", folder / "data", "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"]
    running = None
    try:
        subprocess.run(made, check=True, capture_output=True, cwd=folder, env=env, **other)  # type: ignore[call-overload]
        running = subprocess.Popen(server, cwd=folder, env=env, stderr=subprocess.DEVNULL, **other)  # type: ignore[call-overload]
        found, end = PostgreSQL(folder), time.monotonic() + 300
        while subprocess.run(["psql", "-qc", "SELECT 1"], env=found.env, capture_output=True, check=False).returncode:
            assert running.poll() is None and time.monotonic() < end, "it does not start"
            time.sleep(0.1)
        for migration in sorted((DEPLOY / "postgresql").glob("*.sql")):
            found.ask(migration.read_text("utf-8"))
        yield found
    finally:
        if running is not None:
            running.terminate()
            running.wait()
        subprocess.run(["rm", "-rf", "--", str(folder)], check=True)


@contextmanager
def serving_clickhouse(folder: Path, slow: str = "0") -> Iterator[ClickHouse]:
    """ClickHouse that keeps its tables in `folder`, with the schema where that is new, and waits so `slow` many seconds
    before it inserts.
    """
    python = rotel.PEERS / "bin" / "python"
    if not list(rotel.PEERS.glob("lib/python*/site-packages/chdb")):
        pytest.skip("chDB is not in build/peers: `make test-tools` installs it where PyPI has it for this platform")
    door = [str(python), str(Path(__file__).with_name("clickhouse_door.py")), slow, str(folder)]
    if not folder.exists():
        door += [str(one) for one in sorted((DEPLOY / "clickhouse").glob("*.sql"))]
    with subprocess.Popen(door, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            yield ClickHouse(f"http://127.0.0.1:{int(running.stdout.readline())}")
        finally:
            running.kill()


def ship(address: str, *arguments: str) -> None:
    """One `ahp log ship`."""
    argv = ["ship", "--endpoint", address, *arguments]
    done = CliRunner().invoke(command.command, argv, catch_exceptions=False)
    assert done.exit_code == 0, done.output


def shipped(receiver: Receiver, *arguments: str) -> list[ExportLogsServiceRequest]:
    """The requests of one `ahp log ship`."""
    before = len(receiver.requests)
    ship(receiver.url, *arguments)
    return receiver.requests[before:]


def lines(requests: list[ExportLogsServiceRequest]) -> str:
    return "".join(json.dumps(MessageToDict(one)) + "\n" for one in requests)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a log, which is shipped ten records a request."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ahp.insight.shipping._RECORDS", 10)
    example.write(tmp_path / ".ahp")
    return tmp_path


def says_what_stats_says(store: Store, log: Path) -> None:
    """Each panel's figures are those of `ahp stats`, and no alert is on."""
    figures = {one.name: one for one in stats.collect("", now=example.END, from_=[str(log)]).groups if one.signals}
    assert {row[0]: (int(row[1]), int(row[2]), int(row[3])) for row in store.panel("Rules")} == {
        name: (one.signals, one.episodes, one.levels.get("block", 0)) for name, one in figures.items()
    }
    signals = sum(one.signals for one in figures.values())
    for title in ("Agents against people", "Signals a day"):
        assert sum(int(row[1]) for row in store.panel(title)) == signals
    assert {row[0] for row in store.panel("Answers")} <= set(figures)
    assert [row[2] for row in store.panel("Versions")] == ["1"]
    seen = overview.collect("", now=example.END, from_=[str(log)])
    then = f"CAST('{clock.iso(example.END)[:19]}' AS {store.moment})"
    assert len(store.panel("Open and climbing", then)) == seen.open_count > 0
    assert sum(int(row[2]) for row in store.panel("The rule $rule: subjects")) == figures["size"].signals
    assert {row[0] for row in store.panel("Overrides and waivers")} <= set(figures)
    assert store.panel("Silent clones") == store.panel("Records that a store lost") == []
    assert {uid: store.alert(uid) for uid in DASHBOARDS["ALERTS"]} == dict.fromkeys(DASHBOARDS["ALERTS"], 0)


def test_postgresql_loses_nothing_unseen_and_counts_nothing_twice(postgresql: PostgreSQL, log: Path) -> None:
    store = postgresql
    with receiving() as receiver:
        requests = shipped(receiver)
        out = log / "out"
        out.mkdir()
        lost = requests[2]  # taken by a collector that was killed before it wrote this
        (out / "ahp-1.json").write_text(lines([one for one in requests if one is not lost]))
        (out / "ahp.json").write_text(lines(requests[:2]) + '{"resourceLogs": [{"cut')  # twice, and one that is written
        store.load(out)
        assert sorted(path.name for path in out.iterdir()) == ["ahp.json"]
        ((name, _, count, mend),) = store.panel("Records that a store lost")
        sent = [
            one for everything in lost.resource_logs for scope in everything.scope_logs for one in scope.log_records
        ]
        assert int(count) == len(sent)
        assert store.alert("ahp-lost") == 1
        number = mend.removeprefix("ahp log ship --from ")
        (out / "ahp-2.json").write_text(lines(shipped(receiver, "--from", number)))
        store.load(out)
        told = len({record.body.string_value for record in receiver.records})
        assert store.ask("SELECT count(*) FROM ahp.records WHERE kind <> 'heartbeat'") == [[str(told)]]
    says_what_stats_says(store, log)
    store.ask(f"UPDATE ahp.records SET seen = now() - interval '4 days' WHERE log = '{name}'")
    assert len(store.panel("Silent clones")) == store.alert("ahp-silent") == 1


def test_clickhouse_loses_nothing_unseen_and_counts_nothing_twice(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The collector is rotel, which keeps what the store does not take in memory: killed, it loses that."""
    rotel.program()
    monkeypatch.setattr("ahp.insight.shipping._RECORDS", 500)
    number = "SELECT count() FROM ahp.records FINAL WHERE kind != 'heartbeat'"
    records = len((log / ".ahp" / "signals.jsonl").read_text().splitlines())
    with serving_clickhouse(log / "store") as store, rotel.passing() as door:
        door.left = 100
        with rotel.collecting(log, rotel.clickhouse("http://127.0.0.1:9"), killed=True) as door.address:
            ship(door.url)
        with rotel.collecting(log, rotel.clickhouse(store.url)) as door.address:
            ship(door.url)  # nothing is new: a heartbeat
            rotel.until(lambda: store.ask("SELECT told, lost FROM ahp.logs") == [[str(records)] * 2])
            assert store.alert("ahp-lost") == 1
            ((_, _, _, mend),) = store.panel("Records that a store lost")
            assert mend == "ahp log ship --from 1"
            for _ in "twice":
                ship(door.url, "--from", "1")
            rotel.until(lambda: store.ask(number) == [[str(records)]])
        assert store.ask(number) == [[str(records)]]
        says_what_stats_says(store, log)
        store.ask("ALTER TABLE ahp.records UPDATE seen = now() - INTERVAL 4 DAY WHERE 1 SETTINGS mutations_sync = 1")
        assert len(store.panel("Silent clones")) == store.alert("ahp-silent") == 1


def request(year: int) -> dict[str, object]:
    """An OTLP/JSON request with one signal of a clock that is wrong."""
    at = round(clock.seconds(f"{year}-06-01T00:00:00.000Z") or 0) * 10**9
    attributes = [{"key": "log.record.uid", "value": {"stringValue": str(year)}}]
    attributes += [
        {"key": "ahp.kind", "value": {"stringValue": "signal"}},
        {"key": "ahp.n", "value": {"intValue": "1"}},
    ]
    record = {"timeUnixNano": str(at), "body": {"stringValue": "{}"}, "attributes": attributes}
    resource = {"attributes": [{"key": "ahp.log", "value": {"stringValue": "a"}}]}
    scope = {"scope": {"name": "ahp.journal"}, "logRecords": [record]}
    return {"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}


def test_a_clock_that_is_wrong_fails_no_load(postgresql: PostgreSQL, tmp_path: Path) -> None:
    (tmp_path / "ahp-1.json").write_text("".join(json.dumps(request(year)) + "\n" for year in (1970, 2099)))
    postgresql.load(tmp_path)
    assert postgresql.ask("SELECT tableoid::regclass, extract(year FROM at) FROM ahp.records ORDER BY at") == [
        ["records_default", "1970"],
        ["records_default", "2099"],
    ]


def test_a_clock_that_is_wrong_fails_no_insert(tmp_path: Path) -> None:
    rotel.program()
    with serving_clickhouse(tmp_path / "store") as store:
        with rotel.collecting(tmp_path, rotel.clickhouse(store.url)) as address:
            for year in (1970, 2026, 2099):
                sent = urllib.request.Request(f"http://{address}/v1/logs", json.dumps(request(year)).encode())
                sent.add_header("Content-Type", "application/json")
                urllib.request.urlopen(sent).close()
            rotel.until(lambda: store.ask("SELECT count() FROM ahp.records") == [["3"]])
        assert store.ask("SELECT _partition_id, toYear(at) FROM ahp.records ORDER BY at") == [
            ["0", "1970"],
            ["2026", "2026"],
            ["0", "2099"],
        ]


def test_what_compose_mounts_and_names_is_there() -> None:
    told = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for name, service in told["services"].items():
        assert set(service["profiles"]) <= {"postgresql", "clickhouse"}, name
        for volume in service.get("volumes", []):
            where, _, _ = volume.partition(":")
            assert where in told["volumes"] or (DEPLOY / where).exists(), f"{name}: {where}"
        assert set(service.get("secrets", [])) <= set(told["secrets"])
        assert all(
            set(service["profiles"]) <= set(told["services"][one]["profiles"]) for one in service.get("depends_on", [])
        )


def test_the_dashboards_are_what_their_script_writes() -> None:
    for path, text in DASHBOARDS["files"]().items():
        assert path.read_text() == text, "python deploy/grafana/make.py"

"""deploy/: a real PostgreSQL loads what a collector writes of `ahp log ship`, and its panels say what `ahp stats` says.

`make test-tools`. The collector's lines are written here, by the protocol's own messages.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from ahp.cli import log as command
from ahp.insight import stats
from ahp.system import clock
from tests.conftest import OUTSIDE, PROJECT

from . import example
from .receiver import Receiver, receiving

pytestmark = pytest.mark.tools
DEPLOY = PROJECT / "deploy"
PANELS = {
    one["title"]: one["targets"][0]["rawSql"] for one in json.loads((DEPLOY / "grafana/ahp.json").read_text())["panels"]
}


def programs() -> Path | None:
    found = shutil.which("pg_ctl") or next(map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))), None)
    return Path(found).parent if found else None


class Store:
    """A PostgreSQL of its own, which listens on a socket in its folder alone."""

    def __init__(self, folder: Path) -> None:
        self.env = {**os.environ, "PGHOST": str(folder), "PGUSER": "ahp", "PGDATABASE": "postgres", "PGTZ": "UTC"}

    def ask(self, sql: str) -> list[list[str]]:
        """The rows of the last statement as texts."""
        argv = ["psql", "-qAtX", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", sql]
        done = subprocess.run(argv, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [line.split("\t") for line in done.stdout.splitlines()]

    def panel(self, title: str) -> list[list[str]]:
        return self.ask(PANELS[title].replace("$__timeFilter(at)", "true").replace("$__timeFilter(s.at)", "true"))

    def load(self, folder: Path) -> None:
        done = subprocess.run(
            ["sh", str(DEPLOY / "load.sh"), str(folder)], env=self.env, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr


@pytest.fixture
def store() -> Iterator[Store]:
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
        found, end = Store(folder), time.monotonic() + 300
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


def shipped(receiver: Receiver, *arguments: str) -> list[ExportLogsServiceRequest]:
    """The requests of one `ahp log ship`."""
    before = len(receiver.requests)
    CliRunner().invoke(command.command, ["ship", "--endpoint", receiver.url, *arguments], catch_exceptions=False)
    return receiver.requests[before:]


def lines(requests: list[ExportLogsServiceRequest]) -> str:
    return "".join(json.dumps(MessageToDict(one)) + "\n" for one in requests)


def test_each_panel_says_what_stats_says_and_nothing_is_lost_unseen_or_counted_twice(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ahp.insight.shipping._RECORDS", 10)
    example.write(tmp_path / ".ahp")
    with receiving() as receiver:
        requests = shipped(receiver)
        out = tmp_path / "out"
        out.mkdir()
        lost = requests[2]  # taken by a collector that was killed before it wrote this
        (out / "ahp-1.json").write_text(lines([one for one in requests if one is not lost]))
        (out / "ahp.json").write_text(lines(requests[:2]) + '{"resourceLogs": [{"cut')  # twice, and one that is written
        store.load(out)
        assert sorted(path.name for path in out.iterdir()) == ["ahp.json"]
        ((log, _, count, mend),) = store.panel("Records that a store lost")
        sent = [
            one for everything in lost.resource_logs for scope in everything.scope_logs for one in scope.log_records
        ]
        assert int(count) == len(sent)
        number = mend.removeprefix("ahp log ship --from ")
        (out / "ahp-2.json").write_text(lines(shipped(receiver, "--from", number)))
        store.load(out)
        assert store.panel("Records that a store lost") == []
        told = len({record.body.string_value for record in receiver.records})
        assert store.ask("SELECT count(*) FROM ahp.records WHERE kind <> 'heartbeat'") == [[str(told)]]
    figures = {one.name: one for one in stats.collect("", now=example.END, from_=[str(tmp_path)]).groups if one.signals}
    assert {row[0]: (int(row[1]), int(row[2])) for row in store.panel("Rules")} == {
        name: (one.signals, one.episodes) for name, one in figures.items()
    }
    signals = sum(one.signals for one in figures.values())
    assert sum(int(row[1]) for row in store.panel("Agents against people")) == signals
    assert sum(int(row[1]) for row in store.panel("Signals a day")) == signals
    assert {row[0] for row in store.panel("Answers")} <= set(figures)
    assert [row[2] for row in store.panel("Versions")] == ["1"]
    assert store.panel("Silent clones") == []
    store.ask(f"UPDATE ahp.records SET seen = now() - interval '4 days' WHERE log = '{log}'")
    assert len(store.panel("Silent clones")) == 1


@pytest.mark.parametrize("year", [1970, 2099])
def test_a_clock_that_is_wrong_fails_no_load(store: Store, tmp_path: Path, year: int) -> None:
    at = round(clock.seconds(f"{year}-06-01T00:00:00.000Z") or 0) * 10**9
    attributes = [{"key": "log.record.uid", "value": {"stringValue": str(year)}}]
    attributes += [
        {"key": "ahp.kind", "value": {"stringValue": "signal"}},
        {"key": "ahp.n", "value": {"intValue": "1"}},
    ]
    record = {"timeUnixNano": str(at), "body": {"stringValue": "{}"}, "attributes": attributes}
    resource = {"attributes": [{"key": "ahp.log", "value": {"stringValue": "a"}}]}
    scope = {"scope": {"name": "ahp.journal"}, "logRecords": [record]}
    (tmp_path / "ahp-1.json").write_text(
        json.dumps({"resourceLogs": [{"resource": resource, "scopeLogs": [scope]}]}) + "\n"
    )
    store.load(tmp_path)
    assert store.ask("SELECT tableoid::regclass, extract(year FROM at) FROM ahp.records") == [
        ["records_default", str(year)]
    ]


def test_each_alert_can_be_asked(store: Store) -> None:
    (group,) = json.loads((DEPLOY / "grafana/alerts.json").read_text())["groups"]
    assert [store.ask(rule["data"][0]["model"]["rawSql"]) for rule in group["rules"]] == [[["0"]]] * len(group["rules"])

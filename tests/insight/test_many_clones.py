"""Many clones ship at once: nothing is lost unseen, and nothing counts twice. With a real store: `make test-tools`."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from ahp.insight.collector import Collector
from ahp.insight.shipping import ship
from ahp.system.errors import AhpError

from . import rotel
from .made_log import MadeLog
from .receiver import receiving
from .test_deploy import serving_clickhouse

RECORDS = 60  # of a log
A_REQUEST = 25
BEGIN = 1_767_603_600.0
WRONG = {1: 0.0, 2: 4_083_955_200.0}  # clocks of 1970 and of 2099


def clones(folder: Path, many: int) -> list[str]:
    """The folders of so many logs, each of its own clone, two of which have wrong clocks."""
    made = []
    for number in range(many):
        log = MadeLog(number, WRONG.get(number, BEGIN))
        while len(log.lines) < RECORDS:
            log.now += 60
            signal = {"id": log.id(), "rule": f"rule-{number % 7}", "intensity": "prompt", "decision": "warn"}
            log.write("signal", hook="pre-commit", subject="main", actor="human:ann", **signal)
        place = folder / f"clone-{number}"
        place.mkdir(parents=True)
        (place / "signals.jsonl").write_text("\n".join(log.lines) + "\n")
        made.append(str(place))
    return made


def sent(address: str, folder: str, first: int = 0) -> bool:
    """Whether one `ahp log ship` came to its end."""
    collector = Collector(address)
    try:
        ship(folder, collector.address, collector.send, first=first)
    except AhpError:
        return False
    return True


def all_at_once(address: str, folders: Sequence[str], first: int = 0) -> list[bool]:
    with ThreadPoolExecutor(len(folders)) as pool:
        return list(pool.map(partial(sent, address, first=first), folders))


@pytest.mark.slow
def test_a_collector_that_refuses_many_clones_gets_all_of_them_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample of the test below, without its programs."""
    monkeypatch.setattr("ahp.insight.shipping._RECORDS", A_REQUEST)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2")
    folders, chance = clones(tmp_path, 30), random.Random(37)
    with receiving() as receiver:
        take = receiver.take
        monkeypatch.setattr(receiver, "take", lambda *of: (503, b"") if chance.random() < 0.4 else take(*of))
        all_at_once(receiver.url, folders)
        monkeypatch.setattr(receiver, "take", take)
        assert all(all_at_once(receiver.url, folders))
        uids = [one.value.string_value for r in receiver.records for one in r.attributes if one.key == "log.record.uid"]
        assert len(uids) >= len(set(uids)) == 30 * RECORDS
        told = {
            one.value.string_value for r in receiver.heartbeats for one in r.attributes if one.key == "ahp.log.head"
        }
        assert len(told) == 30


@pytest.mark.tools
def test_two_hundred_clones_ship_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The collector is killed on the way, the store is slow, half of the clones send all again, and one is deleted."""
    rotel.program()
    monkeypatch.setattr("ahp.insight.shipping._RECORDS", A_REQUEST)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "120")
    folders = clones(tmp_path, 200)
    number = "SELECT count() FROM ahp.records FINAL WHERE kind != 'heartbeat'"
    with serving_clickhouse(tmp_path / "store", "0.02") as store, rotel.passing() as door:
        door.left = 300
        with monkeypatch.context() as impatient:
            impatient.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3")
            with rotel.collecting(tmp_path, rotel.clickhouse(store.url), killed=True) as door.address:
                done = all_at_once(door.url, folders)
        assert not all(done)
        gone = next(folder for folder, was_sent in zip(folders, done, strict=True) if not was_sent)
        door.left = 1_000_000
        with rotel.collecting(tmp_path, rotel.clickhouse(store.url)) as door.address:
            assert sent(door.url, gone)  # it ships once more, works on, and is deleted before it ships that
            shutil.rmtree(gone)
            left = [folder for folder in folders if folder != gone]
            assert all(all_at_once(door.url, left))
            assert all(all_at_once(door.url, left[::2], first=1))
            rotel.until(lambda: store.ask("SELECT count() FROM ahp.logs") == [["200"]])
            rotel.until(lambda: int(store.ask(number)[0][0]) + lost(store) == 200 * RECORDS)
            for log, _, _, mend in store.panel("Records that a store lost"):
                folder = next((one for one in left if log in Path(one, "signals.jsonl").read_text()), None)
                if folder is not None:  # what the deleted clone lacks is told, and stays lost
                    assert sent(door.url, folder, int(mend.rpartition(" ")[2]))
            rotel.until(lambda: len(store.panel("Records that a store lost")) <= 1)
            rotel.until(lambda: int(store.ask(number)[0][0]) + lost(store) == 200 * RECORDS)
        assert store.ask("SELECT uniqExact(log) FROM ahp.records") == [["200"]]
        store.ask("ALTER TABLE ahp.records UPDATE seen = now() - INTERVAL 4 DAY WHERE 1 SETTINGS mutations_sync = 1")
        assert len(store.panel("Silent clones")) == 200


def lost(store: object) -> int:
    """How many records the store says that it lacks."""
    return int(store.ask("SELECT sum(lost) FROM ahp.logs")[0][0])  # type: ignore[attr-defined]

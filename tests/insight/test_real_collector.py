"""`ahp log ship` to a real collector, rotel (https://rotel.dev), that is stopped on the way. `make test-tools`.

What rotel took it sends on, by OTLP, to the receiver of these tests.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ahp.insight.shipping import _RECORDS
from bench import scratch_log

from .receiver import receiving
from .rotel import PATIENCE, collecting, otlp, passing, plain, until

pytestmark = pytest.mark.tools

RECORDS = 20_000
TAKEN = 3  # requests of the first shipping, before its collector stops
AHP = str(Path(sys.executable).with_name("ahp"))


def test_a_collector_that_stops_on_the_way_gets_every_record(tmp_path: Path) -> None:
    scratch_log.write(str(tmp_path / ".ahp"), RECORDS)
    lines = (tmp_path / ".ahp" / "signals.jsonl").read_text().splitlines()
    with receiving() as behind, passing() as door:
        with collecting(tmp_path, otlp(behind.url)) as door.address:
            door.left = TAKEN
            shipping = ship(tmp_path, door.url)
            until(door.closed.is_set)
            until(lambda: bool(behind.records))
        said, _ = shipping.communicate(timeout=PATIENCE)
        assert shipping.returncode == 2, said
        assert "did not take the records" in said and "nothing is lost" in said
        assert 0 < len(behind.records) < RECORDS
        with collecting(tmp_path, otlp(behind.url)) as door.address:
            door.left = RECORDS
            shipping = ship(tmp_path, door.url)
            assert shipping.wait(PATIENCE) == 0
            until(lambda: len(behind.records) >= RECORDS)
        uids = [one.value.string_value for r in behind.records for one in r.attributes if one.key == "log.record.uid"]
        assert len(set(uids)) == RECORDS
        assert len(uids) <= RECORDS + _RECORDS  # what it had taken, and not answered for, comes twice
        assert {record.body.string_value for record in behind.records} == set(lines)


def ship(folder: Path, address: str) -> subprocess.Popen[str]:
    argv = [AHP, "log", "ship", "--endpoint", address]
    return subprocess.Popen(
        argv, cwd=folder, env=plain(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )

"""`time`: now, in the policy's zone, else the machine's."""

from __future__ import annotations

import time as machine
import zoneinfo
from pathlib import Path
from typing import Any

import pytest

from ahp.facts import time
from ahp.system import clock
from ahp.system.errors import AhpError

MONDAY = 1770631445.5  # 2026-02-09T10:04:05.500Z


def paths(namespace: Any, name: str) -> list[str]:
    return [f"{name}.{field}" for field in namespace.NAMESPACE.schema]


class TestTime:
    @pytest.fixture(autouse=True)
    def stopped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(clock, "now", lambda: MONDAY)

    @pytest.mark.parametrize(
        ("zone", "hour", "minute", "weekday", "date"),
        [
            ("UTC", 10, 4, "monday", "2026-02-09"),
            ("Europe/Vienna", 11, 4, "monday", "2026-02-09"),
            ("Asia/Kolkata", 15, 34, "monday", "2026-02-09"),
            ("Pacific/Honolulu", 0, 4, "monday", "2026-02-09"),
            ("Pacific/Kiritimati", 0, 4, "tuesday", "2026-02-10"),
        ],
    )
    def test_the_zone_is_the_policys(
        self, make_event: Any, gather: Any, zone: str, hour: int, minute: int, weekday: str, date: str
    ) -> None:
        facts = gather(make_event(), *paths(time, "time"), settings={"timezone": zone})
        assert list(facts.values()) == [hour, minute, weekday, date, MONDAY / 86400]

    def test_else_that_of_the_machines_zone_file_whatever_tz_says(
        self, make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        file = tmp_path / "localtime"
        monkeypatch.setattr(time, "_ZONE_FILE", str(file))
        monkeypatch.setenv("TZ", "Etc/GMT-14")
        machine.tzset()
        try:
            assert gather(make_event(), "time.hour") == {"time.hour": 10}  # without one it is UTC
            for zone, hour in (("Asia/Tashkent", 15), ("America/New_York", 5)):
                known = next(Path(folder, zone) for folder in zoneinfo.TZPATH if Path(folder, zone).exists())
                file.write_bytes(known.read_bytes())
                assert gather(make_event(), "time.hour") == {"time.hour": hour}
            event = make_event()
            event.env = {name: value for name, value in event.env.items() if name != "TZ"}
            monkeypatch.setattr(machine, "localtime", lambda now: machine.gmtime(now + 3600))
            assert gather(event, "time.hour") == {"time.hour": 11}  # where nothing overrules the C library it is asked
            file.write_bytes(b"rubbish")
            with pytest.raises(AhpError, match="is no zone file; state `timezone:`"):
                gather(make_event(), "time.hour")
        finally:
            monkeypatch.setenv("TZ", "UTC")
            machine.tzset()

    @pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "a\0b"])
    def test_a_zone_nobody_knows_is_an_error(self, make_event: Any, gather: Any, zone: str) -> None:
        with pytest.raises(AhpError, match="no such zone"):
            gather(make_event(), "time.hour", settings={"timezone": zone})

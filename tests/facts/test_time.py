"""`time`: now, in the policy's zone, else the machine's."""

from __future__ import annotations

import time as machine
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
        assert list(facts.values()) == [hour, minute, weekday, date]

    def test_else_the_machines(self, make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TZ", "Etc/GMT-5")
        machine.tzset()
        try:
            assert gather(make_event(), "time.hour") == {"time.hour": 15}
        finally:
            monkeypatch.setenv("TZ", "UTC")
            machine.tzset()

    @pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "a\0b"])
    def test_a_zone_nobody_knows_is_an_error(self, make_event: Any, gather: Any, zone: str) -> None:
        with pytest.raises(AhpError, match="no such zone"):
            gather(make_event(), "time.hour", settings={"timezone": zone})

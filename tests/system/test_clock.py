"""Time stamps as the log has them."""

from __future__ import annotations

import calendar
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.system import clock
from ahp.system.errors import AhpError


def test_a_time_stamp_has_milliseconds_and_is_utc() -> None:
    assert clock.iso(1770631200.1234) == "2026-02-09T10:00:00.123Z"
    assert clock.iso(1770631199.9996) == "2026-02-09T10:00:00.000Z"
    # What is kept of one second is for that second alone.
    assert [clock.iso(seconds)[17:] for seconds in (0.25, 0.5, 59.999, 60, 0.25)] == [
        *("00.250Z", "00.500Z", "59.999Z", "00.000Z", "00.250Z")
    ]


@given(st.integers(0, 253402300799000))
def test_what_was_written_is_read_again(millis: int) -> None:
    assert round(clock.parse_iso(clock.iso(millis / 1000)) * 1000) == millis


@given(st.integers(-62135596800, 253402300799))
def test_days_are_the_calendar_s(seconds: int) -> None:
    text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)).zfill(20)
    assert clock.parse_iso(text) == calendar.timegm(time.gmtime(seconds))


def test_a_fraction_is_optional() -> None:
    assert clock.parse_iso("1970-01-02T00:00:00Z") == 86400.0
    assert clock.parse_iso("1970-01-01T00:00:00.5Z") == 0.5


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-02-09",
        "2026-02-09T10:00:00",
        "2026-02-09 10:00:00Z",
        "2026-13-09T10:00:00Z",
        "2026-02-09T24:00:00Z",
        "2026-02-09T10:00:00+01Z",
        "2026-02-09T10:00:00 1Z",
        "2026-02-09T10:00:00.Z",
        "+026-02-09T10:00:00Z",
        "2026-02- 9T10:00:00Z",
        "2026-02-0xT10:00:00Z",
        "2026-02-09T10:00:00.xZ",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(AhpError, match="not a time stamp"):
        clock.parse_iso(text)


def test_now_is_now() -> None:
    assert abs(clock.now() - time.time()) < 60


def test_times_of_one_hour_are_read_as_those_of_any() -> None:
    stamps = [
        "2026-02-09T10:00:00.000Z",
        "2026-02-09T10:59:60.999Z",
        "2026-02-09T11:00:00.001Z",
        "2026-02-09T10:01:02Z",
    ]
    assert [clock.seconds(stamp) for stamp in stamps] == [clock.parse_iso(stamp) for stamp in stamps]
    wrong = ["60:00.000", "00:61.000", "0x:00.000", "00:00.00x", "00 00.000", "00:00,000", "\u00b2\u00b2:00.000"]
    assert [clock.seconds(f"2026-02-09T10:{rest}Z") for rest in wrong] == [None] * len(wrong)


def test_a_stamp_is_one_time_whichever_way_it_is_read() -> None:
    for hour in ("1970-01-01T00", "2001-09-09T01", "2026-11-24T01"):
        clock.seconds(f"{hour}:00:00.000Z")  # the next one of this hour is read from it
        for millis in range(0, 61_000, 7):
            stamp = f"{hour}:46:{millis // 1000:02}.{millis % 1000:03}Z"
            assert clock.seconds(stamp) == clock.parse_iso(stamp)

"""`time`: now, in the policy's zone, else in the machine's zone file, never `TZ`.

Source: design §4, §6.
"""

import time

from ahp.facts.registry import Namespace, Settings, fact
from ahp.protocol.event import Event
from ahp.system import clock, files
from ahp.system.errors import AhpError

_ZONE_FILE = "/etc/localtime"
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

NAMESPACE = Namespace(
    source="the clock",
    settings=("timezone",),
    schema={
        "hour": fact("int", "hour", min=0, max=23),
        "minute": fact("int", "minute", min=0, max=59),
        "weekday": fact("str", "lower case", enum=list(WEEKDAYS)),
        "date": fact("str", "2026-02-09", means="date"),
        "days": fact("float", "days since 1970", min=0),
    },
)


def gather(event: Event, fields: frozenset[str], settings: Settings) -> dict[str, object]:
    """The values of `fields` at the event's time. Raises AhpError for an unknown zone and a damaged zone file."""
    now = clock.now() if event.at is None else event.at
    year, month, day, hour, minute, weekday = _broken_down(now, settings.timezone, "TZ" in event.env)
    date = f"{year:04}-{month:02}-{day:02}"
    return {"hour": hour, "minute": minute, "weekday": WEEKDAYS[weekday], "date": date, "days": now / 86400}


def _broken_down(now: float, zone: str, overruled: bool) -> "tuple[int, int, int, int, int, int]":
    """Year, month, day, hour, minute, and the weekday from Monday = 0.

    `overruled` says that the environment names a zone: the C library would take it instead of the machine's.
    """
    if not zone and not overruled:
        broken = time.localtime(now)
        return broken.tm_year, broken.tm_mon, broken.tm_mday, broken.tm_hour, broken.tm_min, broken.tm_wday
    file = None if zone else files.read(_ZONE_FILE)
    if file is not None or zone not in ("", "UTC"):
        return _in_zone(zone, file, now)
    broken = time.gmtime(now)  # also without a zone file, as the C library has it
    return broken.tm_year, broken.tm_mon, broken.tm_mday, broken.tm_hour, broken.tm_min, broken.tm_wday


def _in_zone(zone: str, file: bytes | None, now: float) -> "tuple[int, int, int, int, int, int]":
    # Imported only for a policy that reads the time: the zone database is slow to load.
    from datetime import datetime
    from io import BytesIO
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        then = datetime.fromtimestamp(now, ZoneInfo.from_file(BytesIO(file)) if file is not None else ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        if file is not None:
            raise AhpError(f"{_ZONE_FILE} is no zone file; state `timezone:` in the policy") from None
        raise AhpError(f"`timezone: {zone}`: no such zone; write one like Europe/Vienna or UTC") from None
    return then.year, then.month, then.day, then.hour, then.minute, then.weekday()

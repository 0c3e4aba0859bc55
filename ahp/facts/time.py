"""`time`: now, in the zone the policy states, else the machine's.

Source: design §4, §6.
"""

import time

from ahp.facts.registry import Namespace, Settings, fact
from ahp.protocol.event import Event
from ahp.system import clock
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass


WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

NAMESPACE = Namespace(
    source="the clock",
    settings=("timezone",),
    schema={
        "hour": fact("int", "hour of the day", min=0, max=23),
        "minute": fact("int", "minute of the hour", min=0, max=59),
        "weekday": fact("str", "English name of the day, lower case", enum=list(WEEKDAYS)),
        "date": fact("str", "2026-02-09"),
    },
)


def gather(event: Event, fields: frozenset[str], settings: Settings) -> dict[str, object]:
    """The values of `fields` now, in the zone of the policy. Raises AhpError for an unknown zone."""
    year, month, day, hour, minute, weekday = _now(settings.timezone)
    date = f"{year:04}-{month:02}-{day:02}"
    return {"hour": hour, "minute": minute, "weekday": WEEKDAYS[weekday], "date": date}


def _now(zone: str) -> "tuple[int, int, int, int, int, int]":
    """Year, month, day, hour, minute, and the weekday from Monday = 0."""
    now = clock.now()
    if zone and zone != "UTC":
        return _in_zone(zone, now)
    broken = time.gmtime(now) if zone else time.localtime(now)
    return broken.tm_year, broken.tm_mon, broken.tm_mday, broken.tm_hour, broken.tm_min, broken.tm_wday


def _in_zone(zone: str, now: float) -> "tuple[int, int, int, int, int, int]":
    # Imported only for a policy that names a zone: the zone database is slow to load.
    from datetime import datetime
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        then = datetime.fromtimestamp(now, ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise AhpError(f"`timezone: {zone}`: no such zone; write one like Europe/Vienna or UTC") from None
    return then.year, then.month, then.day, then.hour, then.minute, then.weekday()

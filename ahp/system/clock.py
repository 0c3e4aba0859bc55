"""The one door to the clock: UTC, with milliseconds, and a monotonic clock for deadlines.  [light]"""

import time

from ahp.system.errors import AhpError

monotonic = time.monotonic
now = time.time

_second: "tuple[int, str]" = (-1, "")  # the second that was written last, without its fraction: one log has many of it
_hour: "tuple[str, int]" = ("", 0)  # the hour that was read last, and its beginning: a log's next record is of it, too


def iso(seconds: float) -> str:
    """RFC 3339 in UTC of `seconds` since the epoch: `2026-02-09T10:00:00.123Z` (seed 002 §6.2)."""
    global _second
    whole, millis = divmod(round(seconds * 1000), 1000)
    known, text = _second
    if whole != known:
        year, month, day, hour, minute, second = time.gmtime(whole)[:6]
        text = f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        _second = whole, text
    return f"{text}.{millis:03}Z"


def parse_iso(text: str) -> float:
    """Seconds since the epoch of what `iso` wrote; a fraction is optional. Raises AhpError for anything else."""
    try:
        if len(text) < 20 or text[-1] != "Z" or text[4] + text[7] + text[10] + text[13] + text[16] != "--T::":
            raise ValueError
        parts = [text[:4], text[5:7], text[8:10], text[11:13], text[14:16], text[17:19]]
        fraction = text[19:-1]
        if not ("".join(parts) + (fraction[1:] or "0")).isdecimal() or fraction[:1] not in ("", ".") or fraction == ".":
            raise ValueError
        year, month, day, hour, minute, second = [int(part) for part in parts]
        if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 61):
            raise ValueError
    except ValueError:
        raise AhpError(f"not a time stamp like 2026-02-09T10:00:00Z: {text[:40]!r}") from None
    return _days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second + float(fraction or 0)


def seconds(text: object) -> "float | None":
    """Seconds since the epoch of what `iso` wrote, None for all else: an edited file must not stop who reads it."""
    global _hour
    if not isinstance(text, str) or len(text) > 30 or not text.isascii():
        return None
    stem, begin = _hour
    if text[:14] == stem and len(text) == 24 and text[16] + text[19] + text[23] == ":.Z":
        digits = text[14:16] + text[17:19] + text[20:23]
        if digits.isdecimal():
            minute, rest = divmod(int(digits), 100_000)
            second, millis = divmod(rest, 1000)
            if minute < 60 and second < 61:
                return begin + minute * 60 + second + millis / 1000
    try:
        told = parse_iso(text)
        _hour = text[:14], int(parse_iso(text[:14] + "00:00Z"))
    except AhpError:
        return None
    return told


def is_iso(text: object) -> bool:
    """Whether `text` is what `iso` writes."""
    return seconds(text) is not None


def not_before(stamp: object, last: str) -> str:
    """The later of the time stamps `stamp` (none: now) and `last` (may be ""): time never runs back in a log."""
    text = stamp if isinstance(stamp, str) else iso(now())
    if len(text) == len(last):
        return text if text > last else last
    return text if not last or parse_iso(text) >= parse_iso(last) else last


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the Gregorian calendar (Hinnant, days_from_civil); `calendar` is a slow import."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468

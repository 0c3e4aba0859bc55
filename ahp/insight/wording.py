"""Figures in words and bars, as every page of the feedback loop shows them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from unicodedata import east_asian_width

_EIGHTHS = " ▏▎▍▌▋▊▉"
_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "m"), (1.0, "s"))


def duration(seconds: float) -> str:
    """`3d`, `2h`, `4m`, `20s`: one unit, two digits at most where that is possible."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{round(seconds / size)}{unit}"
    return "0s"


def percent(share: float) -> str:
    """A share of 0 to 1; what is neither none nor all never reads 0% or 100%."""
    whole = round(share * 100)
    return f"{min(99, max(1, whole)) if 0 < share < 1 else whole}%"


def many(number: float) -> str:
    """`1,204`, `12.4k`, `3.1M`: five characters at most, below a billion."""
    if number < 10_000:
        return f"{number:,.0f}"
    return f"{number / 1e3:.4g}k" if number < 999_950 else f"{number / 1e6:.3g}M"


def bar(share: float, width: int) -> str:
    """A bar of `width` characters."""
    eighths = round(share * width * 8)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width, "·")


def counted(number: int, word: str, plural: str = "") -> str:
    """`1 episode`, `2 episodes`."""
    return f"{number:,} {word if number == 1 else plural or word + 's'}"


def shortened(name: str, columns: int) -> str:
    """A name that takes at most so many columns: what tells names apart is often their end, so the middle is left out.

    A character of the East is two columns wide.
    """
    wide = [2 if east_asian_width(c) in "WF" else 1 for c in name]
    if sum(wide) <= columns:
        return name
    head = _fitting(wide, (columns - 1) // 2)
    tail = _fitting(wide[::-1], columns - 1 - sum(wide[:head]))
    return name[:head] + "…" + name[len(name) - tail :]


def _fitting(wide: Sequence[int], columns: int) -> int:
    """How many of the first characters fit."""
    return sum(reached <= columns for reached in accumulate(wide))

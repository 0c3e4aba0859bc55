"""What the figures of a rule advise its author to do, with the figures it rests on (seed 002 §5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple
from unicodedata import east_asian_width

from ahp.gate.match import COUNTED
from ahp.insight.stats import Figures, Stats
from ahp.protocol.triggers import TRIGGERS

SAMPLE = 10
"""Closed episodes below which nothing is advised."""
QUIET = 200
"""Evaluations without a word after which a rule is dormant, if they took at least `QUIET_FOR` seconds."""
QUIET_FOR = 28 * 86400.0
_EXCUSED, _UNMENDED = 0.3, 0.5
_SLOW_TRIES = 3
_AGAIN = 0.3
_MENDED, _UNQUESTIONED = 0.9, 0.05
_UNDECIDED = 0.5

NOISY, BLIND_SPOT, DORMANT, EFFECTIVE, FLAPPING = "noisy", "blind spot", "dormant", "effective", "flapping"
UNDECIDED = "undecided"


class Advice(NamedTuple):
    """One piece of advice: `kind` is one of the words above, `figures` what it rests on, `do` what may help.

    `change` is what an edit of the policy would do: `lower` or `raise` its level, `shadow`, `disable`; "" for none.
    """

    rule: str
    kind: str
    figures: str
    do: str
    change: str = ""


def advise(stats: Stats) -> list[Advice]:
    """The advice on the rules of the policies that judged last, those of most episodes first; `stats` are by rule."""
    levels: dict[str, list[str]] = {}
    for asked in stats.in_force:
        levels.setdefault(asked.rule, []).append(asked.level)
    seconds, about = stats.end - stats.begin, _about_calls(stats)
    return [
        advice
        for figures in stats.groups
        if figures.name in levels
        for advice in _of(figures, levels[figures.name], seconds, not any(about[figures.name]))
    ]


def never_mended(stats: Stats) -> set[str]:
    """The rules in force that are asked of tool calls, sessions and what people type, and nowhere else; of figures by
    hook, those hooks.

    Nothing there is mended (design §8.5): a call that was refused is not made again, and its episode is forgotten.
    """
    if stats.by == "hook":
        return {one.name for one in stats.groups if _is_call(one.name)}
    return {rule for rule, about in _about_calls(stats).items() if all(about)}


def _about_calls(stats: Stats) -> dict[str, list[bool]]:
    """Of each rule in force, whether its triggers are those."""
    found: dict[str, list[bool]] = {}
    for asked in stats.in_force:
        found.setdefault(asked.rule, []).append(_is_call(asked.hook))
    return found


def _is_call(hook: str) -> bool:
    return hook in TRIGGERS and TRIGGERS[hook].family in COUNTED


def _of(one: Figures, levels: list[str], seconds: float, may_mend: bool) -> list[Advice]:
    if dormant := _dormant(one, seconds):
        return [dormant]
    closed = one.episodes - one.states.get("open", 0)
    if closed < SAMPLE:
        return []
    if undecided := _undecided(one):
        return [undecided]
    found = [_noisy(one, closed, levels, may_mend), _blind_spot(one), _flapping(one), _effective(one, closed, levels)]
    return [advice for advice in found if advice]


def _dormant(one: Figures, seconds: float) -> Advice | None:
    spoke = one.signals or one.shadow or one.waived or one.undecided
    if spoke or one.asked < QUIET or seconds < QUIET_FOR or one.name in _of_packs():
        return None
    figures = f"silent in {counted(one.asked, 'evaluation')} over {duration(seconds)}"
    return Advice(one.name, DORMANT, figures, "give it a policy test that it fails, or remove it", "disable")


@cache
def _of_packs() -> frozenset[str]:
    """The rules that packs bring. They guard against what seldom happens and have tests of their own: that one of them
    is silent is no news."""
    # Reading policies takes longer to import than most of what `ahp stats` does.
    from ahp.policy import extends, sources
    from ahp.policy.expand import expand
    from ahp.policy.merge import merge
    from ahp.policy.raw import RawPolicy

    found: set[str] = set()
    for name in sources.packs():
        policy = RawPolicy()
        for file in extends.read_all(sources.TextSource(f"version: 1\nextends: [{name}]\n")):
            merge(policy, file)
        found.update(rule.key for rule in expand(policy)[0])
    return frozenset(found)


def _undecided(one: Figures) -> Advice | None:
    """That it hardly ever could be asked: how its episodes end tells nothing of its condition then."""
    signals, undecided = one.signals + one.shadow + one.waived, one.undecided - one.passed_over
    if undecided < _UNDECIDED * signals or not undecided:
        return None
    figures = f"{percent(undecided / signals)} of {counted(signals, 'signal')} only told that a fact is missing"
    return Advice(one.name, UNDECIDED, figures, "see that its evidence is made, or say `on_missing: skip`")


def _noisy(one: Figures, closed: int, levels: list[str], may_mend: bool) -> Advice | None:
    all_told = one.episodes + one.excuses.get("waived", 0)
    excused, unmended = one.excused / all_told, one.share("forgotten", "overridden", "bypassed", "reset")
    if excused < _EXCUSED and (unmended < _UNMENDED or not may_mend):
        return None
    figures = f"{percent(excused)} of {counted(all_told, 'episode')} excused"
    figures += f", {percent(unmended)} of {closed} not mended" if may_mend else ""
    change = "lower" if "block" in levels or "control" in levels else "shadow"
    return Advice(one.name, NOISY, figures, f"narrow its condition, or {_WORDS[change]}", change)


def _blind_spot(one: Figures) -> Advice | None:
    if one.tries is None or one.seconds is None or one.tries.count < SAMPLE or one.tries.median < _SLOW_TRIES:
        return None
    figures = (
        f"half of {counted(one.tries.count, 'mended episode')} took {one.tries.median:.0f} tries and "
        f"{duration(one.seconds.median)} or more"
    )
    return Advice(one.name, BLIND_SPOT, figures, "explain it in the agents' instructions, and give it a `fix`")


def _flapping(one: Figures) -> Advice | None:
    mended = one.states.get("mended", 0)
    if mended < SAMPLE or one.reopened / mended < _AGAIN:
        return None
    figures = f"{percent(one.reopened / mended)} of {counted(mended, 'mended episode')} came back within a day"
    return Advice(one.name, FLAPPING, figures, "look at what is mended: it may ask for less than it means")


def _effective(one: Figures, closed: int, levels: list[str]) -> Advice | None:
    is_quick = one.tries is not None and one.tries.median <= 1
    flaps = bool(_flapping(one))
    if one.share("mended") < _MENDED or one.excused / one.episodes > _UNQUESTIONED or not is_quick or flaps:
        return None
    if not {"prompt", "control"} & set(levels):
        return None
    figures = (
        f"{percent(one.share('mended'))} of {counted(closed, 'episode')} mended, half at the first try, "
        f"{percent(one.excused / one.episodes)} excused"
    )
    return Advice(one.name, EFFECTIVE, figures, _WORDS["raise"], "raise")


_WORDS = {"lower": "let it warn only", "shadow": "watch it in shadow", "raise": "consider to let it block"}


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

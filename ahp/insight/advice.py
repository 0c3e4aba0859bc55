"""What the figures of a rule advise its author to do, with the figures it rests on (seed 002 §5.3)."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from ahp.insight.stats import SLOW_TRIES, Figures, Stats, is_of_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.policy.rule import Policy

SAMPLE = 10
"""Closed episodes below which nothing is advised."""
QUIET = 200
"""Evaluations without a word after which a rule is dormant, if they took at least `QUIET_FOR` seconds."""
QUIET_FOR = 28 * 86400.0
_Z = 1.645  # the interval has nine of ten: one in twenty is beyond either end
# Shares that all of the interval has to be above, or (the last two) below.
_EXCUSED, _UNFIXED, _UNDECIDED = 0.3, 0.5, 0.5
_SLOW, _AGAIN = 0.4, 0.3
_FIXED, _AT_ONCE = 0.7, 0.5
_QUESTIONED, _CAME_BACK = 0.25, 0.3

NOISY, BLIND_SPOT, DORMANT, EFFECTIVE, FLAPPING = "noisy", "blind spot", "dormant", "effective", "flapping"
UNDECIDED, MISPLACED = "undecided", "misplaced"


class Share(NamedTuple):
    """`hits` of `many`, and the interval that the share they are a sample of lies in (Wilson 1927, 90 %)."""

    hits: float
    many: float
    low: float
    high: float

    @classmethod
    def of(cls, hits: float, many: float) -> Share:
        if many <= 0:
            return cls(hits, many, 0.0, 1.0)
        share, z2 = hits / many, _Z * _Z / many
        half = _Z * sqrt(share * (1 - share) / many + z2 / (4 * many))
        middle = share + z2 / 2
        return cls(hits, many, max(0.0, (middle - half) / (1 + z2)), min(1.0, (middle + half) / (1 + z2)))

    def __str__(self) -> str:
        return f"{percent(self.hits / self.many)} ({percent(self.low)} to {percent(self.high)})"


class Advice(NamedTuple):
    """One piece of advice: `kind` is one of the words above, `figures` what it rests on, `do` what may help.

    `change` is what an edit of the policy would do: `lower` or `raise` its level, `shadow`, `disable`, or `narrow` it
    to what is outside of `folders`; "" for none.
    """

    rule: str
    kind: str
    figures: str
    do: str
    change: str = ""
    folders: tuple[str, ...] = ()


def advise(stats: Stats, policy: Policy | None) -> list[Advice]:
    """The advice on the rules of the policies that judged last, those of most episodes first; `stats` are by rule.

    `policy` tells which rules are guards, that no advice weakens: those of severity high, locked ones, and every rule
    that it does not have.
    """
    levels: dict[str, list[str]] = {}
    for asked in stats.in_force:
        levels.setdefault(asked.rule, []).append(asked.level)
    may_weaken = weakenable(policy)
    own = {rule.key for rule in policy.rules if not rule.layer.startswith("pack ")} if policy is not None else set()
    seconds, about = stats.end - stats.begin, _about_calls(stats)
    found: list[Advice] = []
    for figures in stats.groups:
        if (name := figures.name) in levels:
            # Packs have tests of their own, and a rule that refuses is silent where it works.
            if name in own & may_weaken and set(levels[name]) == {"prompt"}:
                found += _dormant(figures, seconds)
            found += _of(figures, levels[name], may_fix=not any(about[name]), may_weaken=name in may_weaken)
    return found


def weakenable(policy: Policy | None) -> set[str]:
    """The rules that advice may weaken."""
    rules = policy.rules if policy is not None else ()
    guards = {rule.key for rule in rules if rule.locked or rule.raw.get("severity") == "high"}
    return {rule.key for rule in rules} - guards


def never_fixed(stats: Stats) -> set[str]:
    """The rules in force that are asked of tool calls, sessions and what people type, and nowhere else; of figures by
    hook, those hooks.

    Nothing there is fixed (design §8.5): a call that was refused is not made again, and its episode is forgotten.
    """
    if stats.by == "hook":
        return {one.name for one in stats.groups if is_of_calls(one.name)}
    return {rule for rule, about in _about_calls(stats).items() if all(about)}


def _about_calls(stats: Stats) -> dict[str, list[bool]]:
    """Of each rule in force, whether its triggers are those."""
    found: dict[str, list[bool]] = {}
    for asked in stats.in_force:
        found.setdefault(asked.rule, []).append(is_of_calls(asked.hook))
    return found


def _dormant(one: Figures, seconds: float) -> list[Advice]:
    spoke = one.signals or one.shadow or one.waived or one.undecided
    if spoke or one.asked < QUIET or seconds < QUIET_FOR:
        return []
    figures = f"silent in {counted(one.asked, 'evaluation')} over {duration(seconds)}"
    asks = f"does a case of `ahp policy test` reach it, or `ahp try {one.name}` on older commits? if not, remove it"
    return [Advice(one.name, DORMANT, figures, asks, "disable")]


def _of(one: Figures, levels: list[str], *, may_fix: bool, may_weaken: bool) -> list[Advice]:
    closed = one.episodes - one.states.get("open", 0)
    if closed < SAMPLE:
        return []
    signals = one.signals + one.shadow + one.waived
    undecided = Share.of(min(one.undecided - one.passed_over, signals), signals)
    if undecided.low >= _UNDECIDED:  # how its episodes end tells nothing of its condition then
        figures = f"{undecided} of {counted(signals, 'signal')} only told that a fact is missing"
        return [Advice(one.name, UNDECIDED, figures, "see that its evidence is made, or say `on_missing: skip`")]
    found: list[Advice] = []
    all_told = one.episodes + one.excuses.get("waived", 0)
    excused = Share.of(one.excused, all_told)
    unfixed = Share.of(sum(one.states.get(state, 0) for state in _NOT_FIXED), closed)
    if excused.low >= _EXCUSED or (unfixed.low >= _UNFIXED and may_fix):
        figures = f"{excused} of {counted(all_told, 'episode')} excused"
        figures += f", {unfixed} of {closed} not fixed" if may_fix else ""
        change = ("lower" if {"block", "control"} & set(levels) else "shadow") if may_weaken else ""
        do = f"{_WORDS[change]}, or narrow its condition" if change else "narrow its condition"
        found.append(Advice(one.name, NOISY, figures, do, change))
    many_fixed = one.states.get("fixed", 0)
    fixed, slow, again = (
        Share.of(many_fixed, closed),
        Share.of(one.slow, many_fixed),
        Share.of(one.reopened, many_fixed),
    )
    if many_fixed >= SAMPLE and slow.low >= _SLOW:
        figures = f"{slow} of {counted(many_fixed, 'fixed episode')} took {SLOW_TRIES} tries or more"
        do = "explain it in the agents' instructions, and give it a `fix`"
        found.append(Advice(one.name, BLIND_SPOT, figures, do))
    if many_fixed >= SAMPLE and again.low >= _AGAIN:
        figures = f"{again} of {counted(many_fixed, 'fixed episode')} came back within a day"
        found.append(Advice(one.name, FLAPPING, figures, "look at what is fixed: it may ask for less than it means"))
    at_once = Share.of(one.at_once, many_fixed)
    works = fixed.low >= _FIXED and at_once.low >= _AT_ONCE and excused.high <= _QUESTIONED
    if works and again.high <= _CAME_BACK and {"prompt", "control"} & set(levels):
        figures = f"{fixed} of {counted(closed, 'episode')} fixed, {at_once} of these at once, {excused} excused"
        found.append(Advice(one.name, EFFECTIVE, figures, _WORDS["raise"], "raise"))
    return found


_NOT_FIXED = ("forgotten", "overridden", "bypassed", "reset")
_WORDS = {
    "lower": "lower it to a warning",
    "shadow": "lower it: watch it in shadow",
    "raise": "raise it: let it block?",
}


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

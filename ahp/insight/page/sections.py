"""The sections of the page: each a title, sentences, perhaps a chart, and the table behind it."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ahp.insight import advice
from ahp.insight.advice import many, never_fixed, percent
from ahp.insight.outcomes import Grade
from ahp.insight.overview import Overview, Story
from ahp.insight.page import charts
from ahp.insight.page.charts import LEVELS, OUTCOMES, Bar, Panel, Part, buckets
from ahp.insight.page.texts import Texts
from ahp.insight.stats import Figures
from ahp.policy.rule import Policy, rule_digest
from ahp.policy.waivers import LONGEST_DAYS, WARNED_DAYS, Waiver
from ahp.protocol.text import one_line
from ahp.system import clock
from ahp.system.version import __version__

_COMMENTS = 30
_HINTS = 6  # that stand open, so that the charts are not far below
_NOT_WORTH_A_FOLD = 3
_ORDER = (advice.NOISY, advice.UNDECIDED, advice.BLIND_SPOT, advice.FLAPPING, advice.EFFECTIVE, advice.DORMANT)


def content(
    name: str,
    told: Overview,
    waivers: Sequence[Waiver] | str,
    say: Texts,
    *,
    now: float,
    policy: Policy | None = None,
    grades: Sequence[Grade] = (),
) -> dict[str, Any]:
    """What page.html shows of the project `name`; `waivers` is a sentence where they could not be read, `now` in
    seconds. `policy` is the committed one, None where there is none or it does not load.
    """
    digests = {rule.key: rule_digest(rule, policy) for rule in policy.rules} if policy else None
    begin, end = told.rules.begin, told.rules.end
    first, last = say.day(begin), say.day(end)
    period = "" if not begin else first if first == last else say("period", begin=first, end=last)
    made = say("made", at=say.moment(now), version=__version__)
    hints = _hints(told, say, policy)
    shown = _HINTS if len(hints) > _HINTS + _NOT_WORTH_A_FOLD else len(hints)
    drawn = (over_time, rules, stories, actors)
    given = [] if isinstance(waivers, str) else _waivers(waivers, told, say, now, digests)
    return {
        "language": say.language,
        "name": one_line(name),
        "period": period,
        "made": made,
        "lead": _lead(told, say),
        "tiles": _tiles(told, say),
        "hints": hints[:shown],
        "more_hints": hints[shown:],
        "hints_lead": say("advice_lead" if hints else "advice_none", sample=advice.SAMPLE),
        "sections": [*(one(told, say) for one in drawn), *_outcomes(grades, say)] if begin else [],
        "waivers": given,
        "no_waivers": waivers if isinstance(waivers, str) else say("waivers_none"),
        "comments": _comments(told, say),
        "is_empty": not begin,
        "is_filtered": len([one for one in told.rules.groups if one.signals]) > 1,
    }


def _lead(told: Overview, say: Texts) -> list[str]:
    stats, whole = told.rules, told.whole
    if not stats.begin:
        return [say("nothing")]
    said = []
    if stats.evaluations:
        share = percent(stats.denied / stats.evaluations)
        said.append(
            say("lead_asked", asked=say.count(stats.evaluations, "time"), denied=f"{stats.denied:,}", share=share)
        )
    closed, fixed = _fixable(told)
    if not whole.signals:
        said.append(say("lead_quiet"))
    if closed and whole.seconds:
        after = say.duration(whole.seconds.median)
        said.append(say("lead_fixed", closed=say.count(closed, "ended"), fixed=f"{fixed:,}", after=after))
    elif closed:
        said.append(say("lead_unfixed", closed=say.count(closed, "ended")))
    if told.open_count:
        said.append(say("lead_open", open=say.count(told.open_count, "episode")))
    if stats.undescribed:
        said.append(say("undescribed", many=say.count(stats.undescribed, "evaluation")))
    return said


def _fixable(told: Overview) -> tuple[int, int]:
    """How many episodes ended, and how many of them were fixed; calls are left out, nothing fixes one."""
    unfixed = advice.never_fixed(told.rules)
    states = Counter[str]()
    for one in told.rules.groups:
        states.update({} if one.name in unfixed else one.states)
    return states.total() - states["open"], states["fixed"]


def _tiles(told: Overview, say: Texts) -> list[tuple[str, str, str]]:
    """The few figures at the top: a name for programs, the value, the words."""
    stats, whole = told.rules, told.whole
    closed, fixed = _fixable(told)
    everything = whole.episodes + whole.excuses.get("waived", 0)
    none = say("none")
    return [
        ("evaluations", many(stats.evaluations), say("tile_asked")),
        ("denied", many(stats.denied), say("tile_denied")),
        ("fixed", percent(fixed / closed) if closed else none, say("tile_fixed")),
        ("after", say.duration(whole.seconds.median) if whole.seconds else none, say("tile_after")),
        ("excused", percent(whole.excused / everything) if everything else none, say("tile_excused")),
        ("open", many(told.open_count), say("tile_open")),
    ]


def _hints(told: Overview, say: Texts, policy: Policy | None) -> list[dict[str, str]]:
    """What is advised on rules: the kind in a `word`, the `figures` it rests on, what may help."""
    found = []
    for one in sorted(advice.advise(told.rules, policy), key=lambda one: _ORDER.index(one.kind)):
        change = say(f"change_{one.change or 'none'}") if one.kind == advice.NOISY else ""
        figures = one.figures if say.language == "en" else _basis(told, one, say)
        about = {"rule": one_line(one.rule), "kind": one.kind, "word": say(one.kind), "figures": figures}
        found.append({**about, "do": say(f"do_{one.kind}", change=change)})
    return found


def _basis(told: Overview, hint: advice.Advice, say: Texts) -> str:
    """What advice rests on, in other words than English ones."""
    (one,) = [figures for figures in told.rules.groups if figures.name == hint.rule]
    parts = [say.count(one.asked, "evaluation"), say.count(one.episodes, "episode")]
    if one.episodes:
        everything = one.episodes + one.excuses.get("waived", 0)
        if hint.rule not in advice.never_fixed(told.rules):
            parts.append(f"{say('fixed')} {percent(one.share('fixed'))}")
        parts.append(f"{say('excused')} {percent(one.excused / everything)}")
    if hint.kind == advice.FLAPPING:
        parts.append(f"{say('reopened')} {percent(one.reopened / one.states['fixed'])}")
    if one.tries:
        parts.append(f"{say('tries')} {one.tries.median:g}")
    return "，".join(parts)


def _waivers(
    given: Sequence[Waiver], told: Overview, say: Texts, now: float, digests: Mapping[str, str] | None
) -> list[dict[str, Any]]:
    """Each with the days that are `left` of it, as a `share` of the longest one too.

    `state` is `holds`, `soon` (it expires), `expired`, or `void`: it excuses nothing, as its rule or subject is gone.
    """
    today = datetime.datetime.fromtimestamp(now, datetime.UTC).date()
    listed = []
    for one in sorted(given, key=lambda waiver: waiver.expires):
        left = (one.expires - today).days
        is_void = digests is not None and one.is_void(digests)
        state = "expired" if left < 0 else "void" if is_void else "soon" if left <= WARNED_DAYS else "holds"
        listed.append(
            {
                "rule": one_line(one.rule),
                "subject": say("everything") if one.subject == "*" else one_line(one.subject),
                "approver": one_line(one.approver),
                "reason": one_line(one.reason, 400),
                "expires": one.expires.isoformat(),
                "left": say(state) if state in ("expired", "void") else say.count(left, "day"),
                "share": 0.0 if state == "void" else min(1.0, max(0.0, left / LONGEST_DAYS)),
                "state": state,
                "used": f"{told.waived.get(one.name, 0):,}",
            }
        )
    return listed


def _comments(told: Overview, say: Texts) -> Table | None:
    found = sorted((comment for one in told.rules.groups for comment in one.comments), reverse=True)[:_COMMENTS]
    if not found:
        return None
    rows = [
        [
            Cell(clock.iso(one.at)[:10]),
            Cell(one_line(one.rule)),
            Cell(one_line(one.by)),
            Cell(one_line(one.text, 1000)),
        ]
        for one in found
    ]
    return Table([Cell(say(head)) for head in ("when", "rule", "actor", "text")], rows, [row[1].text for row in rows])


_WIDE = 860
_NAMES = 190
_BARS = 16
_LISTED = 200
_NAME, _TEXT = 80, 300


class Cell(NamedTuple):
    """A cell of a table: `number` cells stand to the right, `kind` gives the mark of a level or an outcome."""

    text: str
    is_number: bool = False
    kind: str = ""


class Table(NamedTuple):
    """A table; `names` are the rules that its rows are about, for the filter, none where rows are about no rule."""

    heads: list[Cell]
    rows: list[list[Cell]]
    names: list[str]
    is_open: bool = False
    note: str = ""


class Section(NamedTuple):
    """`chart` is None for none; `key` names the kinds it shows."""

    id: str
    title: str
    lead: str
    chart: charts.Spec | None
    key: list[tuple[str, str]]
    table: Table | None
    notes: list[str]


def over_time(told: Overview, say: Texts) -> Section:
    """Signals over time, by level."""
    parts = buckets({at: count for at, count in told.days.items() if at[1] in LEVELS})  # a log may tell anything
    bars, rows = [], []
    for part in parts:
        name = say.day(part.begin)
        counts = _by_level(part.levels)
        bars.append(_bar(name, counts, say))
        rows.append([Cell(name), *map(_number, [*counts.values(), sum(counts.values())])])
    if not parts:
        return _empty("time", say("over_time"), say)
    most = max(range(len(parts)), key=lambda n: sum(parts[n].levels.values()))
    lead = say(
        f"most_{parts[0].unit}", when=bars[most].name, many=say.count(sum(parts[most].levels.values()), "signal")
    )
    times = [part.times for part in parts]
    present = [level for level in LEVELS if any(part.levels.get(level) for part in parts)]
    form = say.axis_format(parts[0].unit)
    heads = [Cell(say("from")), *[Cell(say(level), True, level) for level in LEVELS], Cell(say("all_levels"), True)]
    return Section(
        "time",
        say("over_time"),
        (" " if say.language == "en" else "").join([say("over_time_lead"), lead]),
        charts.columns(bars, times, _WIDE - 60, form),
        [(level, say(level)) for level in present],
        Table(heads, rows, []),
        [],
    )


def rules(told: Overview, say: Texts) -> Section:
    """Rules by what they cost and what they bring."""
    spoke = [one for one in told.rules.groups if one.attempts or one.episodes]
    spoke.sort(key=lambda one: (-one.attempts, -one.episodes, one.name))
    shown = spoke[:_BARS]
    names = [one_line(one.name, _NAME) for one in shown]
    cost = [_bar(name, _by_level(one.levels), say) for name, one in zip(names, shown, strict=True)]
    benefit = [_bar(name, _by_outcome(one), say) for name, one in zip(names, shown, strict=True)]
    width = (_WIDE - _NAMES - 50) // 2
    panels = [Panel(cost, say("cost"), width), Panel(benefit, say("benefit"), width)]
    panels = [panel for panel in panels if any(bar.parts for bar in panel.bars)]  # of aids there are no episodes
    notes = [say("rules_notes")]
    quiet = [one.name for one in told.rules.groups if not (one.signals or one.shadow or one.waived or one.undecided)]
    in_force = {asked.rule for asked in told.rules.in_force}
    silent = [one_line(name, _NAME) for name in quiet if name in in_force]
    if silent:
        listed = ", ".join(silent[:_LISTED])
        notes.append(say("silent", many=say.count(len(silent), "rule"), names=listed))
    present = {part.kind for bar in [*cost, *benefit] for part in bar.parts}
    return (
        Section(
            "rules",
            say("rules"),
            say("rules_lead")
            + (say("rules_some", shown=len(shown), total=f"{len(spoke):,}") if shown != spoke else ""),
            charts.beside(names, panels, _NAMES),
            [(kind, say(kind)) for kind in (*LEVELS, *OUTCOMES) if kind in present],
            _rules_table(spoke, never_fixed(told.rules), say),
            notes,
        )
        if shown
        else _empty("rules", say("rules"), say)
    )


def actors(told: Overview, say: Texts) -> Section:
    """Agents against people."""
    found = [one for one in told.actors.groups if one.episodes][:_BARS]
    if not found:
        return _empty("actors", say("actors"), say)
    names = [_who(one.name, say) for one in found]
    shares = [_as_shares(_bar(one_line(one.name, _NAME), _by_outcome(one), say), one.episodes) for one in found]
    tries = [
        Bar(name, [Part("given", 0, one.tries.median, f"{name}: {one.tries.median:g}")] if one.tries else [])
        for name, one in zip(names, found, strict=True)
    ]
    width = (_WIDE - _NAMES - 50) // 3
    panels = [Panel(shares, say("benefit"), 3 * width, True)]
    if any(bar.parts for bar in tries):
        panels = [panels[0]._replace(width=2 * width), Panel(tries, say("tries_half"), width)]
    present = {part.kind for bar in shares for part in bar.parts}
    heads = ["actor", "episodes", "attempts", "fixed", "after", "tries", "forgotten", "excused"]
    rows = [[Cell(name), *_figures(one, say)] for name, one in zip(names, found, strict=True)]
    unfixed = never_fixed(told.rules)
    of_calls = sum(one.episodes for one in told.rules.groups if one.name in unfixed)
    return Section(
        "actors",
        say("actors"),
        say("actors_lead"),
        charts.beside(names, panels, _NAMES),
        [(kind, say(kind)) for kind in OUTCOMES if kind in present],
        Table([Cell(say(head), n > 0) for n, head in enumerate(heads)], rows, []),
        [say("actors_calls", many=say.count(of_calls, "episode"))] if of_calls else [],
    )


def _outcomes(grades: Sequence[Grade], say: Texts) -> list[Section]:
    """Rules by what became of the commits that they spoke of, where that is known of any."""
    rows = [
        [
            Cell(one_line(one.rule, _NAME)),
            *map(_number, (one.spoke, sum(one.wrong.values()), one.missed)),
            Cell(str(one.precision), True),
            Cell(str(one.recall or ""), True),
            Cell("" if one.auc is None else f"{one.auc:.2f}", True),
        ]
        for one in grades
        if one.precision is not None
    ]
    if not rows:
        return []
    heads = [Cell(say(f"grade_{head}"), head != "rule") for head in _GRADES]
    table = Table(heads, rows, [row[0].text for row in rows], True)
    return [Section("outcomes", say("outcomes"), say("outcomes_lead"), None, [], table, [])]


_GRADES = ("rule", "spoke", "wrong", "missed", "precision", "recall", "auc")


def stories(told: Overview, say: Texts) -> Section:
    """Episodes with their ladder: what is open, and what took most attempts."""
    listed = [*told.open, *told.closed]
    if not listed:
        return _empty("episodes", say("stories"), say)
    rows = [
        [
            Cell(one_line(one.rule, _NAME)),
            Cell(one_line(one.subject, _NAME)),
            Cell(_actor(one.actor, say)),
            Cell(say.moment(one.opened)),
            _number(one.tries),
            Cell(" → ".join(_ladder(one))),
            Cell(_ended(one, say), kind=outcome(one.state)),
        ]
        for one in listed
    ]
    heads = ["rule", "subject", "actor", "opened", "tries", "ladder", "state"]
    notes = []
    if told.open_count > len(told.open):
        notes.append(say("stories_open", many=say.count(told.open_count, "episode"), shown=len(told.open)))
    table = Table([Cell(say(head), head == "tries") for head in heads], rows, [row[0].text for row in rows], True)
    return Section("episodes", say("stories"), say("stories_lead"), None, [], table, notes)


def outcome(state: str) -> str:
    """The outcome that a state of an episode is shown as."""
    if state in ("overridden", "bypassed"):
        return "passed"
    return "reset" if state == "withdrawn" else state


def _ended(one: Story, say: Texts) -> str:
    if not one.ended:
        return say("still_open")
    return f"{say(one.state)}, {say.duration(max(0.0, one.ended - one.opened))}"


def _ladder(one: Story) -> list[str]:
    """`prompt ×2`, `block`: the levels one after the other."""
    found = [(level, len([*alike])) for level, alike in groupby(one.ladder)]
    return [f"{level} ×{times}" if times > 1 else level for level, times in found]


def _bar(name: str, counts: Mapping[str, int], say: Texts) -> Bar:
    """A bar of the parts that are there, one behind the other."""
    at, parts = 0, []
    for kind, count in counts.items():
        if count:
            parts.append(Part(kind, at, at + count, f"{name}: {count:,} {say(kind)}"))
            at += count
    return Bar(name, parts)


def _by_level(levels: Mapping[str, int]) -> dict[str, int]:
    return {level: levels.get(level, 0) for level in LEVELS}


def _by_outcome(one: Figures) -> dict[str, int]:
    counts = dict.fromkeys(OUTCOMES, 0)
    for state, count in one.states.items():
        counts[outcome(state)] += count
    return counts


def _as_shares(bar: Bar, total: int) -> Bar:
    return Bar(bar.name, [part._replace(begin=part.begin / total, end=part.end / total) for part in bar.parts])


def _rules_table(found: Sequence[Figures], unfixed: Collection[str], say: Texts) -> Table:
    heads = ["rule", "asked", "episodes", "attempts", "fixed", "after", "tries", "forgotten", "excused"]
    rows = [
        [Cell(one_line(one.name, _NAME)), _number(one.asked), *_figures(one, say, one.name not in unfixed)]
        for one in found[:_LISTED]
    ]
    return Table(
        [Cell(say(head), n > 0) for n, head in enumerate(heads)],
        rows,
        [row[0].text for row in rows],
        len(rows) <= _BARS,
    )


def _figures(one: Figures, say: Texts, may_fix: bool = True) -> list[Cell]:
    """Episodes, attempts, fixed, after, tries, forgotten, excused."""
    closed = one.episodes - one.states.get("open", 0) if may_fix else 0
    everything = one.episodes + one.excuses.get("waived", 0)
    return [
        _number(one.episodes),
        _number(one.attempts),
        Cell(percent(one.share("fixed")) if closed else "", True),
        Cell(say.duration(one.seconds.median) if one.seconds else "", True),
        Cell(f"{one.tries.median:g}" if one.tries else "", True),
        Cell(percent(one.share("forgotten")) if closed else "", True),
        Cell(percent(one.excused / everything) if everything else "", True),
    ]


def _who(name: str, say: Texts) -> str:
    return {"(people)": say("people"), "(unknown)": say("unknown")}.get(name) or one_line(name, _NAME)


def _actor(actor: str, say: Texts) -> str:
    return one_line(actor, _NAME) or say("unknown")


def _number(value: int) -> Cell:
    return Cell(f"{value:,}", True)


def _empty(id: str, title: str, say: Texts) -> Section:
    return Section(id, title, say("empty"), None, [], None, [])

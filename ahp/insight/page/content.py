"""All that stands on the page, in its order: what matters most first."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ahp.insight import advice
from ahp.insight.advice import many, percent
from ahp.insight.overview import Overview
from ahp.insight.page import sections
from ahp.insight.page.sections import Cell, Section, Table
from ahp.insight.page.texts import Texts
from ahp.policy.rule import Policy, rule_digest
from ahp.policy.waivers import LONGEST_DAYS, WARNED_DAYS, Waiver
from ahp.protocol.text import one_line
from ahp.system import clock
from ahp.system.version import __version__

_COMMENTS = 30
_HINTS = 6  # that stand open, so that the charts are not far below
_NOT_WORTH_A_FOLD = 3
_ORDER = (advice.NOISY, advice.UNDECIDED, advice.BLIND_SPOT, advice.FLAPPING, advice.EFFECTIVE, advice.DORMANT)


class Tile(NamedTuple):
    """One of the few figures at the top; `id` names it for programs."""

    id: str
    value: str
    text: str


class Hint(NamedTuple):
    """What is advised on a rule: the kind in a word, the figures it rests on, what may help."""

    rule: str
    kind: str
    word: str
    figures: str
    do: str


class Granted(NamedTuple):
    """A waiver with the days that are left of it, as a share of the longest one too.

    `state` is `holds`, `soon` (it expires), `expired`, or `void`: it excuses nothing, as its rule or subject is gone.
    """

    rule: str
    subject: str
    approver: str
    reason: str
    expires: str
    left: str
    share: float
    state: str
    used: str


class Waivers(NamedTuple):
    """The waivers of the committed policy, or `problem`, the sentence that tells why there is nothing to show."""

    listed: list[Granted]
    problem: str


class Content(NamedTuple):
    """The page. `language` is of the words, `name` what the report is about."""

    language: str
    name: str
    period: str
    made: str
    lead: list[str]
    tiles: list[Tile]
    hints: list[Hint]
    more_hints: list[Hint]
    hints_lead: str
    sections: list[Section]
    waivers: Waivers
    comments: Table | None
    is_empty: bool
    is_filtered: bool


def content(
    name: str,
    told: Overview,
    waivers: Sequence[Waiver] | str,
    say: Texts,
    *,
    now: float,
    rule: str | None = None,
    policy: Policy | None = None,
) -> Content:
    """The page about the project `name`; `waivers` is a sentence where they could not be read, `now` in seconds.

    `policy` is the committed one, None where there is none or it does not load.
    """
    digests = {rule.key: rule_digest(rule, policy) for rule in policy.rules} if policy else None
    begin, end = told.rules.begin, told.rules.end
    first, last = say.day(begin), say.day(end)
    period = "" if not begin else first if first == last else say("period", begin=first, end=last)
    made = say("made", at=say.moment(now), version=__version__)
    if rule is not None:
        made += " · " + say("only_rule", rule=one_line(rule))
    hints = _hints(told, say, policy)
    shown = _HINTS if len(hints) > _HINTS + _NOT_WORTH_A_FOLD else len(hints)
    drawn = (sections.over_time, sections.rules, sections.stories, sections.answers, sections.actors)
    return Content(
        say.language,
        one_line(name),
        period,
        made,
        _lead(told, say),
        _tiles(told, say),
        hints[:shown],
        hints[shown:],
        say("advice_lead" if hints else "advice_none", sample=advice.SAMPLE),
        [one(told, say) for one in drawn] if begin else [],
        _waivers(waivers, told, say, now, digests),
        _comments(told, say),
        not begin,
        len([one for one in told.rules.groups if one.signals]) > 1,
    )


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


def _tiles(told: Overview, say: Texts) -> list[Tile]:
    stats, whole = told.rules, told.whole
    closed, fixed = _fixable(told)
    everything = whole.episodes + whole.excuses.get("waived", 0)
    none = say("none")
    return [
        Tile("evaluations", many(stats.evaluations), say("tile_asked")),
        Tile("denied", many(stats.denied), say("tile_denied")),
        Tile("fixed", percent(fixed / closed) if closed else none, say("tile_fixed")),
        Tile("after", say.duration(whole.seconds.median) if whole.seconds else none, say("tile_after")),
        Tile("excused", percent(whole.excused / everything) if everything else none, say("tile_excused")),
        Tile("open", many(told.open_count), say("tile_open")),
    ]


def _hints(told: Overview, say: Texts, policy: Policy | None) -> list[Hint]:
    found = []
    for one in sorted(advice.advise(told.rules, policy), key=lambda one: _ORDER.index(one.kind)):
        change = say(f"change_{one.change or 'none'}") if one.kind == advice.NOISY else ""
        figures = one.figures if say.language == "en" else _figures(told, one, say)
        found.append(Hint(one_line(one.rule), one.kind, say(one.kind), figures, say(f"do_{one.kind}", change=change)))
    return found


def _figures(told: Overview, hint: advice.Advice, say: Texts) -> str:
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
    given: Sequence[Waiver] | str, told: Overview, say: Texts, now: float, digests: Mapping[str, str] | None
) -> Waivers:
    if isinstance(given, str):
        return Waivers([], given)
    today = datetime.datetime.fromtimestamp(now, datetime.UTC).date()
    listed = []
    for one in sorted(given, key=lambda waiver: waiver.expires):
        left = (one.expires - today).days
        is_void = digests is not None and one.is_void(digests)
        state = "expired" if left < 0 else "void" if is_void else "soon" if left <= WARNED_DAYS else "holds"
        listed.append(
            Granted(
                one_line(one.rule),
                say("everything") if one.subject == "*" else one_line(one.subject),
                one_line(one.approver),
                one_line(one.reason, 400),
                one.expires.isoformat(),
                say(state) if state in ("expired", "void") else say.count(left, "day"),
                0.0 if state == "void" else min(1.0, max(0.0, left / LONGEST_DAYS)),
                state,
                f"{told.waived.get(one.name, 0):,}",
            )
        )
    return Waivers(listed, "" if listed else say("waivers_none"))


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

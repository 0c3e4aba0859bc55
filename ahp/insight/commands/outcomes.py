"""`ahp stats --outcomes` and `ahp try --outcomes`: rules by what became of the commits that they spoke of."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import click

from ahp.hosts.history import Tally, enforced, judge
from ahp.insight import reading
from ahp.insight.advice import MISPLACED, SAMPLE, Advice, Share, counted, percent, weakenable
from ahp.insight.outcomes import LABELLED, MOST, WITHIN, Aftermath, Grade, Spoken, aftermath, grade, spoken
from ahp.journal.query import is_meant
from ahp.policy.rule import Policy
from ahp.protocol.text import one_line
from ahp.system import clock, jsontext, terminal
from ahp.system.commits import Past, listed
from ahp.system.digest import tagged
from ahp.system.git import Repository

_WIDTH = 80
_TITLES = ("rule", "matched", "wrong", "good", "precision", "recall", "auc")
_WOULD = "would have matched"
_NEVER = (
    "Of many commits, never of one: a fix is joined to what it fixes by the lines that it takes back. precision: of "
    "what the rule matched, what went wrong; recall: of what went wrong, what it matched; auc: 0.5 tells nothing."
)


class Told(NamedTuple):
    """The grades of rules, and what they rest on."""

    after: Aftermath
    settled: set[str]
    grades: list[Grade]


def of_log(repo: Repository, revisions: str | None, red: Collection[str] = ()) -> Told:
    """The rules that the log knows, by the commits of a range, or by those since the log began; `red` are those that
    CI failed on. Raises AhpError.
    """
    base = (revisions or "").partition("..")[0] if ".." in (revisions or "") else ""
    first: Mapping[str, object] = next(reading.records(repo.ahp_dir), {})
    begin = clock.seconds(first.get("timestamp")) or 0.0
    with terminal.progress("reading history, commits") as seen:
        after = aftermath(repo, repo.ahp_dir, base, 0.0 if revisions else begin, seen, red)
    settled = after.settled(clock.now())
    if revisions:
        settled &= set(repo.run("rev-list", revisions, "--").decode().split())
    with reading.shown() as seen:
        told = spoken(repo.ahp_dir, after, seen)
    return Told(after, settled, _graded(told, after, settled))


def of_tried(repo: Repository, past: Sequence[Past], tally: Tally, red: Collection[str]) -> tuple[str, Any]:
    """What `ahp try --outcomes` says, and in JSON tells, of rules that would have spoken. Raises AhpError."""
    asked = {one.id for one in past} - {one.id for one, _ in tally.unjudged}
    spoke: dict[str, dict[str, str]] = {}
    for said in tally.said:
        spoke.setdefault(said.rule, {})[said.commit.id] = _WOULD
    oldest = min((one.time.timestamp() for one in past if one.id in asked), default=0.0)
    with terminal.progress("reading history, commits") as seen:
        after = aftermath(repo, repo.ahp_dir, "", oldest - 1, seen, red)
    settled = after.settled(clock.now()) & asked
    found = Told(after, settled, _graded({rule: Spoken(asked, some) for rule, some in spoke.items()}, after, settled))
    return _text(found), as_json(found)


def _graded(told: Mapping[str, Spoken], after: Aftermath, settled: set[str]) -> list[Grade]:
    grades = [grade(rule, one, after, settled) for rule, one in told.items()]
    return sorted(grades, key=lambda one: (-one.spoke, one.rule))


def misplaced(found: Told, policy: Policy | None) -> list[Advice]:
    """The advice on rules that are right far less often in some folders."""
    may_weaken = weakenable(policy)
    return [
        Advice(
            one.rule,
            MISPLACED,
            "; ".join(_weak(one)),
            f"narrow it to what is not in {', '.join(map(one_line, one.weak))}",
            "narrow",
            tuple(one.weak),
        )
        for one in found.grades
        if one.weak and one.rule in may_weaken
    ]


def compared(
    repo: Repository, found: Told, rules: Sequence[str], before: Policy, after: Policy
) -> tuple[dict[str, str], str]:
    """What two policies would have named with each of the rules, of the commits whose outcome is known; and how many
    commits that are, with the digest of their ids.
    """
    ids = sorted(found.settled)
    past, wrong = listed(repo, ids), found.after.outcomes.keys()
    named: dict[str, list[str]] = {rule: [] for rule in rules}
    for policy in (before, after):
        with terminal.progress("asking of commits") as seen:
            tally = judge(repo, enforced(policy), past, seen)
        for rule, told in named.items():
            some = {one.commit.id for one in tally.of(rule)}
            told.append(f"{len(some & wrong):,} that went wrong and {counted(len(some - wrong), 'good one')}")
    told_of = {rule: f"in history it names {new} instead of {old}" for rule, (old, new) in named.items()}
    return told_of, f"in history: {counted(len(ids), 'commit')}, {tagged(chr(10).join(ids).encode())}"


def show(found: Told, rule: str | None, form: str) -> None:
    """Prints it."""
    if rule is not None:
        found = found._replace(grades=[one for one in found.grades if is_meant(one.rule, rule)])
    click.echo(jsontext.encode(as_json(found)) if form == "json" else _text(found))


def as_json(found: Told) -> dict[str, Any]:
    """As plain data; shares as fractions."""
    after, kinds = found.after, _kinds(found)
    join = {"found": _share(after.found), "labelled": LABELLED, "false": after.false}
    head = {"commits": len(found.settled), "within_days": WITHIN, "wrong": kinds, "join": join}
    told = []
    for one in found.grades:
        weak = {folder: [*map(_share, both)] for folder, both in one.weak.items()}
        shares = {"precision": _share(one.precision), "recall": _share(one.recall), "weak": weak}
        told.append({**one._asdict(), **shares})
    return {**head, "rules": told}


def _share(one: Share | None) -> dict[str, float] | None:
    return {**one._asdict(), "share": one.hits / one.many} if one is not None and one.many else None


def _kinds(found: Told) -> dict[str, int]:
    return Counter(found.after.outcomes[id] for id in found.settled & found.after.outcomes.keys())


def _text(found: Told) -> str:
    kinds, after = _kinds(found), found.after
    wrong = ", ".join(f"{many} {kind}" for kind, many in sorted(kinds.items(), key=lambda one: -one[1]))
    head = f"{counted(len(found.settled), 'commit')} with a known outcome, {WITHIN} days later"
    lines = [f"{head}: {sum(kinds.values())} went wrong" + (f" ({wrong})" if wrong else ""), ""]
    graded = [one for one in found.grades if one.precision is not None]
    rows = [_row(one) for one in graded]
    if rows:
        wide = [max(map(len, column)) for column in zip(_TITLES, *rows, strict=True)]
        lines += [
            "  ".join(cell.ljust(wide[n]) if n == 0 else cell.rjust(wide[n]) for n, cell in enumerate(row)).rstrip()
            for row in (_TITLES, *rows)
        ]
    notes = []
    for one in graded:
        notes += [f"{one_line(one.rule, 40)}: narrow it? Its {said}" for said in _weak(one)]
    few = [one_line(one.rule, 40) for one in found.grades if one.precision is None and one.spoke]
    if few:
        notes.append(f"matched fewer than {MOST} of them: {', '.join(few)}")
    refused = [f"{one_line(one.rule, 40)} {one.refused:,}" for one in found.grades if one.refused]
    if refused:
        notes.append(f"refused, which became no commit and has no outcome: {', '.join(refused)}")
    if after.found.many >= SAMPLE:
        told = f"the join finds {after.found} of {after.found.many:.0f} that are known to be taken back"
        notes.append(
            f"{told}; {percent(LABELLED)} of the fixes are assumed to say so; the figures are corrected for that"
        )
    else:
        notes.append(
            f"{after.found.many:.0f} commits are known to be taken back, too few to measure how good the join is: the "
            "figures are as seen, and too low"
        )
    notes.append(_NEVER)
    wrapped = [textwrap.fill(note, _WIDTH, subsequent_indent="  ", break_on_hyphens=False) for note in notes]
    return "\n".join([*lines, *([""] if rows else []), *wrapped])


def _weak(one: Grade) -> list[str]:
    return [
        f"precision in {one_line(folder, 60)} is {here} of {here.many:.0f}, elsewhere {there} of {there.many:.0f}"
        for folder, (here, there) in one.weak.items()
    ]


def _row(one: Grade) -> tuple[str, ...]:
    wrong = sum(one.wrong.values())
    told = (one_line(one.rule, 30), str(one.spoke), str(wrong), str(one.spoke - wrong), str(one.precision))
    return (*told, str(one.recall or ""), "" if one.auc is None else f"{one.auc:.2f}")

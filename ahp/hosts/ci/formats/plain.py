"""The report for people who read a CI log.

CI runners take some lines of a log for commands: `::…` at the start of a line and `##[…` anywhere are GitHub's,
`##vso[…` is Azure's, `##teamcity[…` TeamCity's. A backslash breaks each where it comes from outside.
"""

from __future__ import annotations

import re

from ahp.hosts.ci.report import Report, Result, strongest_first

_PLACES = 20
_VERBS = {"block": "refused by", "control": "to be changed by", "prompt": "warned by", "aid": "advised by"}
_START = re.compile(r"^(\s*)(::|--- |\+\+\+ |~~~ |\^\^\^ )")
_ANYWHERE = re.compile(r"##(?=\w*\[)")


def write(report: Report) -> str:
    """A few lines a rule: what, where, how to mend it; what was judged comes last."""
    lines = [line for one in strongest_first(report.results) for line in _lines(one)]
    lines += [f"ahp: {note}" for note in report.notes]
    return "".join(f"{inert(line)}\n" for line in [*lines, f"ahp: {report.about}"])


def inert(line: str) -> str:
    """`line` so that no CI runner takes it, or a part of it, for a command."""
    return _ANYWHERE.sub(r"#\\#", _START.sub(r"\1\\\2", line))


def _lines(one: Result) -> list[str]:
    if one.excused:
        return [f"ahp: {one.rule} excused: {one.excused}", f"  {one.message}", *_places(one)]
    head = f"ahp: {_VERBS[one.level]} {one.rule}"
    return [head, f"  {one.message}", *_places(one), *[f"  - {step}" for step in one.steps]]


def _places(one: Result) -> list[str]:
    told = []
    for place in one.places[:_PLACES]:
        where = f"{place.file}:{place.line}" if place.line else place.file
        parts = [where, place.message, f"commit {place.commit[:12]}" if place.commit else ""]
        told.append("  " + ": ".join([part for part in parts if part]))
    left = one.total - len(told)
    return [*told, f"  and {left} more"] if told and left > 0 else told

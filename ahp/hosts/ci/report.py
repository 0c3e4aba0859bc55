"""What was found in a range, in the plain form that every output format is written from.

Everything shown here may come from a stranger: `of` makes each text one line without what moves a cursor, and each
format escapes what its own reader would take for more than text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ahp.hosts.verdict_text import VERBS
from ahp.policy.program import RuleAnswer
from ahp.protocol import signals
from ahp.protocol.signals import Signal, reason_of
from ahp.protocol.text import one_line
from ahp.system import digest

_MESSAGE = re.compile(r"commit [0-9a-f]{10}|tag [^ ]+")  # what the fact push.messages calls one by, in a file's place
_PACK = "pack "
_PLACES = 20
_VERBS = {**VERBS, "control": "to be changed by"}
_START = re.compile(r"^(\s*)(::|--- |\+\+\+ |~~~ |\^\^\^ )")
_ANYWHERE = re.compile(r"##(?=\w*\[)")


class Place(NamedTuple):
    """Where a rule is broken. `file` is "" for what is in no file, such as a message; `line` counts from 1, 0 is none.

    `fingerprint` stays the same while the finding does, wherever its line moves.
    """

    file: str
    line: int
    message: str
    commit: str
    fingerprint: str


class Result(NamedTuple):
    """What one rule says of the range; `total` is how many places there are, of which `places` has the first.

    `excused` says why a broken rule does not count, "" where it does.
    """

    rule: str
    level: str
    message: str
    steps: list[str]
    places: list[Place]
    total: int
    excused: str = ""


class RuleText(NamedTuple):
    """A rule as the policy has it, whether or not it says something; `line` of `file`, 0 where that is not known. The
    file of a pack's rule is "": the repository has none.
    """

    id: str
    level: str
    about: str
    help: str
    file: str
    line: int


class Judged(NamedTuple):
    """What a judgement is evidence of, beside what it found; ids are whole.

    `time` is when it ended, in UTC; `version` and `sources` (a digest) say which ahp judged; `target` is the full name
    of the ref, `tip` the commit that it had, whose policy judges (None for none of its own); `commits` are those that
    were asked, newest first; `policies` who judged, each by ref, commit and digest; `found` what each commit breaks, by
    rule, let pass or not. `moves` says that all rules were asked of what a protected ref has got, or is about to,
    that was there before: no proposal is that.
    """

    time: str
    version: str
    sources: str
    target: str
    tip: str | None
    head: str
    commits: Sequence[str]
    policies: list[dict[str, str]]
    found: list[dict[str, object]]
    passed: bool
    moves: bool


class Report(NamedTuple):
    """All that is told of a range. `about` is what was judged, in a sentence; `exit_code` is 0, 1 or 2 (design §10);
    `begin` are the commits that the range begins after; `judged` is None where no range was.
    """

    about: str
    exit_code: int
    rules: list[RuleText]
    results: list[Result]
    notes: list[str]
    begin: Sequence[str] = ()
    judged: Judged | None = None


def report(
    about: str,
    exit_code: int,
    rules: list[RuleText],
    results: list[Result],
    notes: list[str],
    begin: Sequence[str] = (),
    judged: Judged | None = None,
) -> Report:
    """The report with every text of its own, of the policy and of the notes on one line."""
    plain = [
        rule._replace(about=one_line(rule.about, 500), help=one_line(rule.help, 1000), file=one_line(rule.file, 500))
        for rule in rules
    ]
    notes = [one_line(note, 500) for note in notes]
    return Report(one_line(about, 500), exit_code, plain, results, notes, begin, judged)


def found(commit: str | None, rule: str, level: str, total: int, exemption: str) -> dict[str, object]:
    """What breaks a rule, of one commit or (None) of the whole range. An override counts in CI where an approver's key
    signed the commit; who approved a waiver is what the policy says.
    """
    proof = {"": None, "overridden": "signed"}.get(exemption.partition(" ")[0], "claimed")
    told = {"commit": commit, "rule": rule, "level": level, "total": total}
    return {**told, "exemption": one_line(exemption, 500) or None, "proof": proof}


def result(signal: Signal, rule: str, steps: list[str], excused: str = "") -> Result:
    """The result of a signal, for the rule as people call it."""
    found = signal.context.get("findings")
    listed = [_place(rule, one) for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    total = signal.context.get("findings_total")
    return Result(
        rule,
        signal.intensity,
        one_line(reason_of(signal.payload), 1000),
        [one_line(step, 500) for step in steps],
        listed,
        total if isinstance(total, int) else len(listed),
        one_line(excused, 500),
    )


def rule_text(name: str, rule: RuleAnswer) -> RuleText:
    """The rule as the policy has it, called `name`."""
    file, _, place = rule.position.partition(":")
    file, line = ("", "") if file.startswith(_PACK) else (file, place.partition(":")[0])
    level = signals.strongest(list(rule.intensity.values()))
    about = rule.message if rule.message is not None else rule.condition
    return RuleText(name, level, about, "; ".join(rule.resolution), file, int(line) if line.isdecimal() else 0)


def _place(rule: str, found: dict[str, object]) -> Place:
    file, message = one_line(found.get("file") or "", 500), one_line(found.get("message") or "", 500)
    line, commit = found.get("line"), one_line(found.get("commit") or "")
    print_of = str(found.get("fingerprint") or digest.sha256(f"{rule}\0{file}\0{message}".encode())[:16])
    if line is None and _MESSAGE.fullmatch(file):
        file, message = "", f"{file}: {message}" if message else file
    return Place(file, line if isinstance(line, int) and line > 0 else 0, message, commit, one_line(print_of))


def strongest_first(results: list[Result]) -> list[Result]:
    """What counts before what is excused, blocks before prompts, then by rule."""
    return sorted(results, key=lambda r: (bool(r.excused), -signals.strength(r.level), r.rule))


def sentence(one: Result, place: Place | None = None) -> str:
    """What a rule says, at one place where that has a text of its own."""
    said = f"{one.message}: {place.message}" if place and place.message else one.message
    if place and place.commit:
        said += f" (commit {place.commit[:12]})"
    return said


def unplaced(one: Result) -> Place:
    """The place of a result that names none: the rule on the whole of the range."""
    return Place("", 0, "", "", digest.sha256(f"{one.rule}\0{one.message}".encode())[:16])


def spread(results: list[Result]) -> list[tuple[Result, Place]]:
    """Every place of every result, strongest first, with a fingerprint that no two share."""
    told, seen = [], set()
    for one in strongest_first(results):
        for place in one.places or [unplaced(one)]:
            name, again = place.fingerprint, 1
            while (one.rule, name) in seen:
                again += 1
                name = f"{place.fingerprint}-{again}"
            seen.add((one.rule, name))
            told.append((one, place._replace(fingerprint=name)))
    return told


def text(told: Report) -> str:
    """The report for people who read a CI log: a few lines a rule; what was judged comes last."""
    lines = [line for one in strongest_first(told.results) for line in _lines(one)]
    lines += [f"ahp: {note}" for note in told.notes]
    return "".join(f"{inert(line)}\n" for line in [*lines, f"ahp: {told.about}"])


def inert(line: str) -> str:
    """`line` so that no CI runner takes it, or a part of it, for a command: a backslash breaks what would be one.

    `::…` at the start of a line and `##[…` anywhere are GitHub's, `##vso[…` is Azure's, `##teamcity[…` TeamCity's.
    """
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

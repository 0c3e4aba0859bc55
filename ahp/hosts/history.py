"""What a policy would have said to commits that exist: judged from git's objects, never logged (design §10)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from ahp.facts.absent import Absent
from ahp.facts.commit import parts
from ahp.facts.registry import declared
from ahp.facts.time import WEEKDAYS
from ahp.gate.decide import decide
from ahp.hosts import asking
from ahp.policy import compile as compiling
from ahp.policy.judge import WORKING, Judge
from ahp.policy.program import Program
from ahp.policy.rule import Policy
from ahp.protocol.actor import Actor
from ahp.protocol.event import Workspace
from ahp.protocol.levels import strength
from ahp.protocol.signals import Signal, reason_of
from ahp.protocol.text import one_line
from ahp.system.commits import Past, views
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.history import RangeView

_OF_MERGES = "pre-merge-commit"
_OF_ALL = ("pre-commit", "commit-msg")
TRIGGERS = ("pre-commit", _OF_MERGES, "commit-msg")
_BUDGET = 60.0  # seconds for one commit


class Said(NamedTuple):
    """One signal to one commit; `level` is its intensity, or "undecidable"."""

    commit: Past
    trigger: str
    rule: str
    level: str
    message: str


@dataclass
class Tally:
    """What a policy said: every signal, the commits it judged, and those it could not judge with the reason."""

    judged: int = 0
    said: list[Said] = field(default_factory=list)
    unjudged: list[tuple[Past, str]] = field(default_factory=list)

    def of(self, rule: str) -> list[Said]:
        """What `rule` said, newest commit first."""
        return [one for one in self.said if one.rule == rule]

    def count(self, *levels: str) -> int:
        """Commits whose strongest signal has one of these levels."""
        strongest: dict[str, str] = {}
        for one in self.said:
            if _rank(one.level) > _rank(strongest.get(one.commit.id, "allow")):
                strongest[one.commit.id] = one.level
        return sum(1 for level in strongest.values() if level in levels)


def _rank(level: str) -> float:
    return 0.5 if level == "undecidable" else strength(level)


def rules(policy: Policy) -> dict[str, bool]:
    """Every rule by its key, and whether the past can be asked: what is judged at pushes and issues is not in git."""
    keys = dict.fromkeys((rule.key for rule in policy.rules), False)
    return {**keys, **{rule.key: True for rule in policy.rules if rule.trigger in TRIGGERS}}


def enforced(policy: Policy) -> dict[str, Program]:
    """The programs of `policy` as if nothing of it only watched: without shadow rules and `mode: observe`."""
    made = compiling.programs(policy)
    for program in made.values():
        assert program.answers is not None
        program.answers.mode = "enforce"
        for rule in program.answers.rules.values():
            rule.shadow = False
    return made


def judge(
    repo: Repository,
    programs: dict[str, Program],
    past: list[Past],
    seen: Callable[[int, int], None] = lambda done, total: None,
) -> Tally:
    """Asks `programs` about each commit (authority §5): pre-commit and commit-msg about what it brings itself, of a
    merge what no parent has; pre-merge-commit about what a merge brings to its first parent.

    What git does not record is absent (each namespace declares it), as are reports and commands. Times are the
    committer's.
    """
    tally = Tally()
    with_text = any("diff" in programs[trigger].reads for trigger in TRIGGERS)
    for number, (commit, view) in enumerate(zip(past, views(repo, past, with_text), strict=True), 1):
        seen(number, len(past))
        try:
            said = [
                one
                for trigger in (TRIGGERS if commit.is_merge else _OF_ALL)
                for one in _ask(repo, programs[trigger], commit, view if trigger == _OF_MERGES else view.own)
            ]
        except AhpError as error:
            tally.unjudged.append((commit, str(error)))
            continue
        tally.judged += 1
        tally.said += said
    return tally


def _ask(repo: Repository, program: Program, commit: Past, view: RangeView) -> Iterator[Said]:
    if not program.rules:
        return
    view.change()  # where that is not known, nothing is judged
    where = Workspace(repo.root or repo.git_dir, repo.ahp_dir, {}, repo)
    event = asking.event(program.trigger, "history", Actor("human"), where, mode="replay", budget=_BUDGET)
    event.view = view
    event.given = {
        **{name: Absent(one.past) for name, one in declared().items() if one.past},
        "time": _time(commit.made, program.settings.timezone),
        "commit": _commit(commit, is_written=program.trigger == "commit-msg"),
    }
    verdict = decide(event, [Judge(program, WORKING)])
    for signal in verdict.signals:
        level = "undecidable" if signal.context.get("undecidable") else signal.intensity
        yield Said(commit, event.trigger, str(signal.context["rule"]), level, _sentence(signal))
    for dropped in verdict.dropped:
        if dropped["why"].startswith("undecided: "):
            yield Said(commit, event.trigger, dropped["rule"], "undecidable", dropped["why"])


def _commit(commit: Past, is_written: bool) -> dict[str, object]:
    """The facts of `commit`; the message is not written yet at pre-commit."""
    email = commit.author.rpartition("<")[2].removesuffix(">")
    told: dict[str, object] = {"author": commit.author, "author_email": email, "is_merge": commit.is_merge}
    return {**told, **parts(commit.message)} if is_written else told


def _sentence(signal: Signal) -> str:
    """What it said, and where first."""
    findings: Any = signal.context.get("findings") or [{}]
    place = findings[0].get("file", "")
    line = findings[0].get("line")
    said = one_line(reason_of(signal.payload))
    return said + (f" ({one_line(place)}{f':{line}' if line else ''})" if place else "")


def _time(made: str, zone: str) -> dict[str, object]:
    """The facts of `time` when a commit was made, on its committer's clock unless the policy states a zone."""
    then = datetime.fromisoformat(made)
    if zone:
        then = then.astimezone(ZoneInfo(zone))
    day = WEEKDAYS[then.weekday()]
    return {"hour": then.hour, "minute": then.minute, "weekday": day, "date": then.date().isoformat()}

"""What a policy would have said to commits that exist: judged from git's objects, never logged (design §10)."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ahp.gate.asked import Context, asked, of_commit, outcome, rank
from ahp.gate.candidate import Candidate
from ahp.gate.signalling import signal, why_not
from ahp.hosts import asking
from ahp.policy import compile as compiling
from ahp.policy.judge import WORKING, Judge
from ahp.policy.policies import Policies
from ahp.policy.program import Program
from ahp.policy.rule import Policy
from ahp.protocol.event import Actor, Workspace
from ahp.protocol.signals import SILENT, UNDECIDED, Signal, reason_of
from ahp.protocol.text import one_line
from ahp.protocol.triggers import OF_COMMITS
from ahp.system import clock
from ahp.system.commits import Past, views
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.terminal import Seen, unseen

_BUDGET = 60.0  # seconds for one commit
_UNDECIDABLE = "undecidable"  # as `ahp try` has called it from the beginning


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
            if rank(one.level) > rank(strongest.get(one.commit.id, SILENT)):
                strongest[one.commit.id] = one.level
        return sum(1 for level in strongest.values() if level in levels)


def rules(policy: Policy) -> dict[str, bool]:
    """Every rule by its key, and whether the past can be asked: what is judged at pushes and issues is not in git."""
    keys = dict.fromkeys((rule.key for rule in policy.rules), False)
    return {**keys, **{rule.key: True for rule in policy.rules if rule.trigger in OF_COMMITS}}


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
    seen: Seen = unseen,
) -> Tally:
    """Asks `programs` about each commit, whoever made it and on whatever branch, in the environment of this place.

    A commit of which it is not known what it changes is not judged.
    """
    tally = Tally()
    where = Workspace(repo.root or repo.git_dir, repo.ahp_dir, {}, repo)
    budget = _BUDGET * (len(past) + 1)
    event = asking.event("pre-commit", "history", Actor("human"), where, mode="replay", budget=budget)
    context = Context(event)
    policies = Policies(lambda trigger: [Judge(programs[trigger], WORKING)])
    with_text = any("diff" in judge.program.reads for judge in context.judges(policies))
    for number, (commit, view) in enumerate(zip(past, views(repo, past, with_text), strict=True), 1):
        seen(number, len(past))
        try:
            view.change()
            told = asked(of_commit(commit, view), policies, context)
        except AhpError as error:
            tally.unjudged.append((commit, str(error)))
            continue
        tally.judged += 1
        tally.said += [said for one in told if (said := _said(commit, one)) is not None]
    return tally


def _said(commit: Past, candidate: Candidate) -> Said | None:
    level = outcome(candidate, "control" if candidate.own == "control" else candidate.intensity)
    if level == SILENT:
        return None
    words = _sentence(signal(candidate, clock.now())) if candidate.enforced else why_not(candidate)
    return Said(commit, candidate.event.trigger, candidate.key, _UNDECIDABLE if level == UNDECIDED else level, words)


def _sentence(signal: Signal) -> str:
    """What it said, and where first."""
    findings: Any = signal.context.get("findings") or [{}]
    place = findings[0].get("file", "")
    line = findings[0].get("line")
    said = one_line(reason_of(signal.payload))
    return said + (f" ({one_line(place)}{f':{line}' if line else ''})" if place else "")

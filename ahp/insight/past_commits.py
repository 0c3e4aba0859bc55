"""What another policy would have said to commits that exist: both judge them from git's objects (authority §5).

Nothing is guessed: what git does not keep of a commit (reports, commands, sessions, variables) leaves a rule undecided.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ahp.facts import branch
from ahp.facts.registry import Absent
from ahp.gate.asked import outcome, rank
from ahp.gate.candidate import Candidate
from ahp.gate.rendering import quoted
from ahp.hosts import history
from ahp.insight.changes import EXAMPLES, Backtest, Change, Example
from ahp.policy import compile as compiling
from ahp.policy.rule import Policy, rule_digest
from ahp.protocol.signals import SILENT, UNDECIDED
from ahp.protocol.text import one_line
from ahp.system.commits import Past
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.terminal import Seen, unseen

_NOBODY_KNOWS = Absent("git does not record on which branch a commit was made")
_BRANCH: dict[str, object] = dict.fromkeys(branch.NAMESPACE.schema, _NOBODY_KNOWS)
_SHOWN = 10  # digits of a commit's id


@dataclass
class CommitBacktest(Backtest):
    """A back-test whose evaluations are commits. `unjudged` are those that neither policy could judge, with the reason;
    `elsewhere` the rules that differ and that no commit is asked about.
    """

    unjudged: list[tuple[str, str]] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)


def replay(
    repo: Repository,
    before: Policy,
    after: Policy,
    past: list[Past],
    seen: Seen = unseen,
) -> CommitBacktest:
    """What `after` says of the commits `past`, oldest first, where `before` says something else; logs nothing.

    Of each rule what it says itself counts: no ladder, no waiver, no override. Raises AhpError.
    """
    done = CommitBacktest(elsewhere=_elsewhere(before, after))
    changes: dict[tuple[str, str, str], Change] = {}
    both = [compiling.programs(policy) for policy in (before, after)]
    for commit, told in history.ask_each(repo, both, past, seen, {"branch": _BRANCH}):
        if isinstance(told, AhpError):
            done.unjudged.append((commit.id, str(told)))
            continue
        done.begin = done.begin or commit.time.timestamp()
        done.end = max(done.end, commit.time.timestamp())
        done.judged += 1
        was, will = (_outcomes(one) for one in told)
        for candidate in [one for found in told for one in found]:
            if (path := _lacking(candidate)) and path not in done.missing.setdefault(candidate.key, []):
                done.missing[candidate.key].append(path)
        done.refused += "block" in was.values()
        done.refuses += "block" in will.values()
        for key in dict.fromkeys([*was, *will]):
            levels = (was.get(key, SILENT), will.get(key, SILENT))
            if levels[0] != levels[1]:
                change = changes.setdefault((key, *levels), Change(key, *levels))
                change.count += 1
                if len(change.examples) < EXAMPLES:
                    change.examples.append(_example(commit, [*told[1], *told[0]], key))
    done.changes = sorted(changes.values(), key=lambda one: (one.weight, -one.count, one.rule, one.before, one.after))
    return done


def _outcomes(told: list[Candidate]) -> dict[str, str]:
    """What each rule says of one commit, the strongest of its triggers."""
    found: dict[str, str] = {}
    for candidate in told:
        level = _outcome(candidate)
        if candidate.key not in found or rank(level) > rank(found[candidate.key]):
            found[candidate.key] = level
    return found


def _outcome(candidate: Candidate) -> str:
    is_open = candidate.enforced and not candidate.environment and len(set(candidate.rule.intensity.values())) > 1
    return UNDECIDED if is_open else outcome(candidate, candidate.own)


def _lacking(candidate: Candidate) -> str:
    """The fact for want of which it is undecided, "" for none."""
    return candidate.hit.undecided.path or "" if candidate.hit.undecided is not None else ""


def _example(commit: Past, told: list[Candidate], key: str) -> Example:
    """The commit, with what the rule read where either policy's matched."""
    candidate = next((one for one in told if one.key == key and one.enforced), None)
    facts = candidate.read() if candidate is not None else {}
    trigger = candidate.event.trigger if candidate is not None else "pre-commit"
    shown = ", ".join(f"{path} = {quoted(value)}" for path, value in facts.items())
    return Example(
        commit.time.timestamp(), trigger, f"{commit.id[:_SHOWN]} {commit.subject}", commit.author, one_line(shown, 300)
    )


def _elsewhere(before: Policy, after: Policy) -> list[str]:
    """The rules that are others now, or new, or gone, and of which git keeps nothing to ask them about."""
    kept = history.rules(before) | history.rules(after)
    digests = [
        {(rule.trigger, rule.key): rule_digest(rule, policy) for rule in policy.rules if rule.enabled}
        for policy in (before, after)
    ]
    differs = {key for _, key in {place for place, _ in digests[0].items() ^ digests[1].items()}}
    return sorted(key for key in differs if not kept.get(key))

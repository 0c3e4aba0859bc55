"""The one way to judge what exists already: commits, objects that a ref names, files as they lie (authority §5).

A push, CI, a server, a look at the past and one at a whole tree call `asked`. Each hands in the change, the policies
and what only it knows: who acts, the branch, the time. Nothing here reads HEAD, the index or the work tree.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from ahp.conditions.evaluate import set_deadline
from ahp.facts import environment as environments
from ahp.facts import registry
from ahp.facts.commit import by, parts, reads_signature, signature
from ahp.facts.registry import Absent
from ahp.facts.time import WEEKDAYS
from ahp.gate import actions, signalling, weighing
from ahp.gate.candidate import Candidate
from ahp.gate.hearing import Hearing
from ahp.gate.weighing import Weighing
from ahp.policy.judge import Judge
from ahp.policy.policies import Policies
from ahp.protocol.event import Actor, Event
from ahp.protocol.signals import LEVEL_OF, SILENT, UNDECIDED, strength
from ahp.protocol.text import one_line
from ahp.protocol.triggers import OF_COMMITS, OF_CONTENT, OF_MERGES, OF_MESSAGES
from ahp.system import clock
from ahp.system.commits import Past, PastView
from ahp.system.view import View

# What is the same of a commit for whatever one actor brings to one remote.
_ALIKE = frozenset(
    {"files", "diff", "content", "debuggers", "source", "ignored", "generated", "owners"}
    | {"repo", "commit", "deps", "policy", "actor", "limits", "time"}
)

Excuse = Callable[[Past, Candidate], str]
"""Why a rule that a commit breaks does not count: who let it pass, and why; "" where nobody did."""


class Change(NamedTuple):
    """What is judged: the view that the rules of each trigger have of it. `commit` is None for files as they lie."""

    views: Mapping[str, View]
    commit: Past | None = None


def of_commit(commit: Past, view: PastView) -> Change:
    """A commit: rules of merges see what a merge brings to its first parent, all others what no parent has."""
    merged = {OF_MERGES: view} if commit.is_merge else {}
    return Change({OF_CONTENT: view.own, **merged, OF_MESSAGES: view.own}, commit)


def of_object(oid: str, view: View) -> Change:
    """A tree or a blob that a ref names: all that is in it, for the rules of content."""
    return Change({OF_CONTENT: view}, Past(oid, (), clock.iso(clock.now()), "", "", is_object=True))


class Context:
    """What is known of many changes beside their content.

    `event` is what they are judged for, such as the push of one ref: who acts, until when there is time, where it goes.
    Of commits, `known` are facts that whoever asks knows of all (namespace → fields), `gathered` the namespaces that
    are read as ever; what else git does not record is absent, and its rules are skipped. `excuse` tells what was let
    pass, `triggers` whose rules are asked, in this order. `notes` collects what the judges say beside their rules.
    """

    def __init__(
        self,
        event: Event,
        *,
        known: Mapping[str, Mapping[str, object]] | None = None,
        gathered: Iterable[str] = (),
        excuse: Excuse = lambda commit, candidate: "",
        triggers: Sequence[str] = OF_COMMITS,
    ) -> None:
        self.event, self.excuse, self.triggers = event, excuse, triggers
        self.notes: dict[str, None] = {}
        self._known, self._gathered = dict(known or {}), frozenset(gathered)
        self._hearings: dict[tuple[Policies, str], list[Hearing]] = {}
        self._given: dict[tuple[Judge, str], dict[str, Any]] = {}
        self._alike: dict[Policies, tuple[object, ...] | None] = {}

    def judges(self, policies: Policies) -> list[Judge]:
        """Those of `policies` that have rules to ask here."""
        return [judge for name in self.triggers for judge in policies.at(name) if judge.program.rules]

    def hearings(self, change: Change, policies: Policies, trigger: str) -> list[Hearing]:
        """What each judge finds in a change; they are made once and hear every change after the other."""
        heard = self._hearings.setdefault((policies, trigger), [])
        for number, judge in enumerate(one for one in policies.at(trigger) if one.program.rules):
            event = self._event_of(change, judge, trigger)
            set_deadline(event.deadline)
            if number < len(heard):
                heard[number].hear(event)
            else:
                heard.append(Hearing(judge, event, heard[0] if number else None))
        return heard

    def alike(self, policies: Policies) -> tuple[object, ...] | None:
        """What besides a commit decides whether anything is said of it; None where that may be anything."""
        if policies not in self._alike:
            self._alike[policies] = self._hangs_on(policies)
        return self._alike[policies]

    def _hangs_on(self, policies: Policies) -> tuple[object, ...] | None:
        actor = self.event.actor
        known: list[object] = [policies, self.event.remote, actor.kind, actor.name, actor.is_verified]
        for trigger in self.triggers:
            for judge in policies.at(trigger):
                given, reads = self._common(judge, trigger), judge.program.reads
                if reads_signature(reads) or not ("environment" in given and {*given, *_ALIKE}.issuperset(reads)):
                    return None
                known.append(given["environment"][""])
                known += [repr(self._known[name].get(field)) for name in self._known for field in reads.get(name, ())]
        return tuple(known)

    def _event_of(self, change: Change, judge: Judge, trigger: str) -> Event:
        """The event that one judge hears; of a commit with what git tells of its time."""
        commit, actor = change.commit, self.event.actor
        if commit is None:
            return self.event.but(trigger=trigger, view=change.views[trigger])
        is_written = trigger == OF_MESSAGES  # before that there is no message yet
        given = {
            **self._common(judge, trigger),
            "time": _time(commit.time, judge.program.settings.timezone),
            "commit": _commit(commit, is_written)
            | signature(change.views[trigger].repo, commit.id, judge.program.reads),
        }
        if actor.kind == "ci" and not actor.name:
            actor = Actor("ci", commit.author)
        draft = commit.message.encode("utf-8", "surrogateescape") if is_written else None
        more = {"draft": draft, "given": given, "actor": actor, "mode": "replay", "from_objects": True}
        return self.event.but(trigger=trigger, view=change.views[trigger], **more)

    def _common(self, judge: Judge, trigger: str) -> dict[str, Any]:
        """The facts that are the same for all commits: those that are known, and why the others are absent."""
        key = (judge, trigger)
        if key not in self._given:
            program = judge.program
            reads = [name for name in program.reads if registry.is_known(name) and name not in self._gathered]
            past = {name: registry.namespace(name).past for name in reads}
            given: dict[str, Any] = {name: Absent(why, elsewhere=True) for name, why in past.items() if why}
            given |= self._known
            named = environments.name_of(self.event, program.settings)
            if isinstance(named, str):
                given["environment"] = {"": named}
            self._given[key] = given
        return self._given[key]


def asked(change: Change, policies: Policies, context: Context) -> list[Candidate]:
    """What the rules of `policies` say of a change, trigger by trigger, each rule at its own level. Raises AhpError."""
    found: list[Candidate] = []
    for trigger in context.triggers:
        if trigger not in change.views:
            continue
        hearings = context.hearings(change, policies, trigger)
        if any(hearing.hits for hearing in hearings):
            weighings = [_Weighing(hearing, change, context) for hearing in hearings]
            found += weighing.join([one.weigh() for one in weighings])
            context.notes |= dict.fromkeys(note for one in weighings for note in one.notes)
    return found


class _Weighing(Weighing):
    """Rules speak at their own level: what exists already is no attempt, so that no rung and no ladder counts."""

    def __init__(self, hearing: Hearing, change: Change, context: Context) -> None:
        super().__init__(hearing, hearing.facts.event, None, clock.now())
        self._commit, self._excuse, self.mode = change.commit, context.excuse, context.event.mode

    def _climb(self) -> None:
        for candidate in self.candidates:
            if candidate.enforced and candidate.intensity == "control":
                _advise(candidate, is_commit=self._commit is not None)

    def _soften_for_policy_only(self) -> None:
        if self._commit is not None:  # else no change is under way that could mend the policy
            super()._soften_for_policy_only()

    def _override(self) -> None:
        for candidate in self.candidates:
            if self._commit is not None and candidate.enforced and candidate.intensity == "block":
                candidate.dropped = self._excuse(self._commit, candidate)


def _advise(candidate: Candidate, is_commit: bool) -> None:
    """Nothing is changed that exists already: what an action would do to a commit is told as an amend."""
    action = candidate.rule.action
    if candidate.has_fixer:
        candidate.dropped = actions.ELSEWHERE
        return
    if action is None or action.max_batch is not None or not is_commit:
        candidate.soften("")
        return
    try:
        done = actions.modify(action, candidate.event, candidate.message())
    except actions.CannotApply as error:
        candidate.soften(str(error))
        return
    if done is None:
        candidate.dropped = actions.CLEAN
        return
    change = signalling.without_values(done[0]) if candidate.rule.redact else done[0]
    before, after = one_line(change["original"], 80), one_line(change["updated"], 80)
    candidate.soften(f"amend it: {change['target']}: {before!r} → {after!r}")


def outcome(candidate: Candidate, level: str) -> str:
    """What a rule says of a change: `level`, UNDECIDED, or SILENT where it does not count."""
    if candidate.undecided and not candidate.shadow:
        return UNDECIDED
    return level if candidate.enforced and level in LEVEL_OF else SILENT


def rank(outcome: str) -> float:
    """How much an outcome counts: what is undecided less than any level, and more than silence."""
    return strength(outcome) if outcome in LEVEL_OF else 0 if outcome == SILENT else 0.5


def _commit(commit: Past, is_written: bool) -> dict[str, object]:
    """The facts of `commit`, with those of its message once that `is_written`."""
    told = {**by({"author": commit.author, "committer": commit.committer}), "is_merge": commit.is_merge}
    return {**told, "signed": commit.is_signed, **parts(commit.message)} if is_written else told


def _time(then: datetime, zone: str) -> dict[str, object]:
    """The facts of `time` when a commit was made, on its committer's clock unless the policy states a zone."""
    if zone:
        then = then.astimezone(ZoneInfo(zone))
    day = WEEKDAYS[then.weekday()]
    told = {"hour": then.hour, "minute": then.minute, "weekday": day, "date": then.date().isoformat()}
    return {**told, "days": then.timestamp() / 86400}

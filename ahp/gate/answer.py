"""The rich half of the decision: hits become signals, signals a verdict, and all of it a record (design §2, §4, §7).

Nothing here evaluates a condition: when an action changes the event, `decide` judges it again.
"""

from ahp.facts import environment as environments
from ahp.facts import registry
from ahp.facts.registry import Command
from ahp.gate import signalling
from ahp.gate.candidate import Candidate, changed_paths
from ahp.gate.escalation import Ladder, repeats_commits, resets, standing
from ahp.gate.match import COUNTED, Facts, Hit, Matcher
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable, episode_key
from ahp.journal.state import State
from ahp.policy import cache
from ahp.policy.program import Answers, Program
from ahp.protocol.event import Event
from ahp.protocol.levels import DECISION_OF, strength, strongest
from ahp.protocol.triggers import TRIGGERS
from ahp.protocol.verdict import Verdict
from ahp.system import clock, files
from ahp.system.errors import AhpError

ROUNDS = 3
_WAIVERS_LIMIT = 1 << 20
_REPLACED = (
    "the log that this gate was installed with is gone: escalation starts anew, "
    "and `ahp log verify` says so; a person who knows why runs: ahp install git"
)


class Answer:
    """One event on the rich path, over as many rounds as its control actions need.

    `is_replaced` says that the log is not the one that the gate was installed with.
    """

    def __init__(
        self, event: Event, program: Program, matcher: Matcher, journal: Journal, is_replaced: bool = False
    ) -> None:
        self.event, self.program, self.matcher = event, program, matcher
        answers = answers_of(program, event)
        self.rules, self.observes = answers.rules, answers.mode == "observe"
        self.ladder = Ladder.of(answers.escalation)
        self.journal, self.is_replaced = journal, is_replaced
        self.state = State.open(self.journal) if event.mode != "replay" else None
        self.now = self.state.now if self.state else clock.now()
        self.modified = event
        self.environment = ""
        self.rounds = 0
        self.settled: dict[str, Candidate] = {}
        self.candidates: list[Candidate] = []
        self.facts: Facts | None = None
        self.notes = ["mode: observe — signals are logged, none is enforced"] if self.observes else []

    def weigh(self, facts: Facts, hits: list[Hit]) -> Event | None:
        """Takes one round of hits; the event as the control actions leave it, None when nothing is left to judge."""
        self.facts = facts
        named = environments.name_of(facts.event, self.program.settings)
        self.environment = named if isinstance(named, str) else ""
        found = [Candidate(hit.key, self.rules[hit.key], hit, facts, self.environment) for hit in hits]
        self.candidates = sorted(found, key=lambda c: c.rule.priority)
        for candidate in self.candidates:
            candidate.shadow = candidate.shadow or self.observes
            self._recall(candidate)
        self._waive()
        self._refine()
        self._climb()
        self._mend()
        self._override()
        return self._act(facts.event)

    def _waive(self) -> None:
        """Marks what the waivers of the work tree excuse. Raises PolicyError for mistakes in their file."""
        data = files.read(f"{self.event.root}/{cache.WAIVERS}", _WAIVERS_LIMIT)
        if data is not None:
            from ahp.gate import waivers

            self.notes += waivers.excuse(data, self.candidates, self.event.subject, self.state)

    def _override(self) -> None:
        """Lets a block pass that a person took the risk of, once, for this change."""
        blocks = [c for c in self.candidates if self.state is not None and c.enforced and c.intensity == "block"]
        for candidate in blocks:
            taken = self.state.risks_taken(candidate.key) if self.state is not None else []
            if taken:
                from ahp.gate import overrides

                candidate.override = overrides.find(
                    taken,
                    candidate.act(self.now),
                    digest=candidate.rule.digest,
                    evidence=candidate.content(),
                    overridable=candidate.rule.overridable,
                )

    def _recall(self, candidate: Candidate) -> None:
        """Evidence that this subject had and has no more keeps the rule's own intensity (design §4)."""
        path = candidate.hit.undecided.path if candidate.hit.undecided is not None else None
        if path and self.state is not None and self._had(path):
            candidate.insist()

    def _had(self, path: str) -> bool:
        """Whether the log tells a value of the fact at `path` for this subject."""
        from ahp.journal import past_facts

        return past_facts.had_fact(self.event.journal, self.event.subject, path)

    def verdict(self) -> Verdict:
        """The verdict of the last round, recorded."""
        delivered = [c for c in self.everything() if c.enforced and c.intensity != "allow"]
        decision = DECISION_OF[strongest([c.intensity for c in delivered])]
        denied = decision == "deny"
        if denied:
            for candidate in delivered:
                if candidate.intensity == "control" and not candidate.advises:
                    candidate.dropped = "the action is refused, so it is not changed"
            delivered = [c for c in delivered if not c.dropped]
        verdict = Verdict(decision, self.event.trigger, self.event.subject, self.program.policy, notes=self.notes)
        verdict.signals = [signalling.signal(c, self.now) for c in delivered]
        verdict.dropped = [{"rule": c.key, "why": signalling.why_not(c)} for c in self.everything() if not c.enforced]
        if not denied:
            verdict.modifications = [m for c in delivered if c.intensity == "control" for m in c.modifications]
            verdict.modified = self.modified if self.modified is not self.event else None
            verdict.trailers = [c.override.trailer for c in self.everything() if c.override]
        if self.state is not None:
            if self.event.mode == "real":
                self._record(self.state, verdict, delivered)
            self.state.close()
        return verdict

    def everything(self) -> list[Candidate]:
        """The control rules of earlier rounds that do not block now, each once, then the rest of the last round."""
        blocking = {c.key for c in self.candidates if c.enforced and c.intensity == "block"}
        settled = {key: c for key, c in self.settled.items() if key not in blocking}
        return [*settled.values(), *[c for c in self.candidates if c.key not in settled]]

    def _refine(self) -> None:
        """Drops what another enforced signal of its oracle speaks for (design §4, Refinement)."""
        speaking = [c for c in self.candidates if c.enforced and not c.undecided and c.intensity != "allow"]
        by_key = {c.key: c for c in self.candidates}
        for candidate in speaking:
            for key, why in candidate.rule.refines.items():
                other = by_key.get(key)
                if other is None or other.undecided:
                    continue
                if other.rule.locked and strength(candidate.intensity) < strength(other.intensity):
                    continue
                risky = candidate.intensity == "block" and candidate.rule.overridable
                if risky and not other.rule.overridable:
                    continue  # else an override of the one would let the other pass, too
                other.dropped = f"refined by {candidate.key} ({why})"

    def _climb(self) -> None:
        """Puts each signal on the rung of its episode (design §8)."""
        for candidate in self.candidates:
            if not candidate.enforced or candidate.intensity in ("allow", "aid"):
                continue
            climbs = candidate.rule.escalates and not candidate.undecided
            candidate.standing = standing(
                self.state.episode(candidate.episode) if self.state else None,
                candidate.act(self.now),
                candidate.own,
                ladder=self.ladder,
                escalates=climbs,
                can_control=candidate.rule.action is not None,
            )
            candidate.intensity = candidate.standing.intensity

    def _mend(self) -> None:
        """A change of nothing but the policy is stopped only by what guards the policy."""
        paths = changed_paths(self.event)
        if paths and all(path.startswith(".ahp") for path in paths):
            from ahp.gate import mending

            mending.soften(self.candidates, self.event)

    def _act(self, event: Event) -> Event | None:
        """Applies the control actions; where the action is refused anyway, only those that advise."""
        controls = [c for c in self.candidates if c.enforced and c.intensity == "control"]
        if any(c.enforced and c.intensity == "block" for c in self.candidates):
            controls = [c for c in controls if c.advises]
        changed = event
        for candidate in controls:
            changed = self._apply(candidate, changed)
        if changed is event or any(c.intensity == "block" for c in controls):
            return None
        self.rounds += 1
        if self.rounds > ROUNDS:
            for candidate in controls:
                candidate.intensity = "block"
                candidate.refused = f"its changes do not come to rest in {ROUNDS} rounds"
            return None
        for candidate in controls:
            before = self.settled.get(candidate.key)
            if before is not None and not candidate.advises:
                candidate.modifications[:0] = before.modifications
            self.settled[candidate.key] = candidate
        self.modified = changed
        return changed

    def _apply(self, candidate: Candidate, event: Event) -> Event:
        """One control action; what the host or the target does not take becomes a block that says what to change."""
        from ahp.gate import actions

        action = candidate.rule.action
        if action is None:
            return event
        reason = candidate.message()
        try:
            if action.max_batch is not None:
                candidate.modifications.append(actions.split(action.max_batch, candidate.paths(), reason))
                return event
            if action.command is not None:
                candidate.intensity, candidate.refused = "block", _run(action.command, event)
                return event
            done = actions.modify(action, event, reason)
        except actions.CannotApply as error:
            candidate.intensity, candidate.refused = "block", str(error)
            return event
        if done is None:
            if candidate.key not in self.settled:
                candidate.dropped = "its action changes nothing: all is as it would have it"
            return event
        candidate.modifications.append(signalling.without_values(done[0]) if candidate.rule.redact else done[0])
        return done[1]

    def _record(self, state: State, verdict: Verdict, delivered: list[Candidate]) -> None:
        """Appends what happened; where the log takes nothing, an agent's climbing warning becomes a refusal."""
        lines = self._resets(state)
        signals = {signal.context["rule"]: signal for signal in verdict.signals}
        for candidate in self.everything():
            signal = signals.get(candidate.key)
            if candidate.dropped or candidate.intensity == "allow":
                continue
            lines.append(
                signalling.record(
                    candidate,
                    signal or signalling.signal(candidate, self.now),
                    verdict,
                    counted=not self._already_told(state, candidate),
                    ladder=self.ladder,
                )
            )
        if TRIGGERS[self.event.trigger].family not in COUNTED:
            assert self.facts is not None
            more = signalling.undelivered(self.everything())
            lines.append(self.facts.verdict_record(self.now, verdict.decision, **more))
        durable = verdict.denied or any(c.override or c.waived for c in self.everything())
        try:
            state.settle()
            self.journal.append(lines, durable)
        except JournalUnwritable as error:
            self._unrecorded(verdict, delivered, str(error))
        else:
            verdict.notes += [_REPLACED] if self.is_replaced else []

    def _resets(self, state: State) -> list[dict[str, object]]:
        """The ends of the episodes that this clean evaluation mends (design §8.5)."""
        event = self.event
        hit = {c.key for c in self.everything()} | self.matcher.filtered
        paths = changed_paths(event)
        ended = []
        for rule in self.program.rules:
            key = rule.key
            if key in hit:
                continue
            name = episode_key(TRIGGERS[event.trigger].family, key, event.subject, event.actor.kind)
            episode = state.episode(name)
            if episode is None or self._forgets(key):
                continue
            if resets(episode, issue=event.issue, paths=paths):
                ended.append(signalling.mended(event, key, episode.id, self.now))
        return ended

    def _forgets(self, key: str) -> bool:
        """Whether a rule is clean only because evidence that this subject had is gone, by its `has` or `default`.

        A list is not logged, so one that is absent counts as gone (design §4).
        """
        assert self.facts is not None
        gone = [path for path in self.rules[key].reads if path in self.facts.missing]
        return any(registry.is_list(path) or self._had(path) for path in gone)

    def _already_told(self, state: State, candidate: Candidate) -> bool:
        """Whether a push repeats only what its commits were told: that does not count again (design §8.2)."""
        if self.event.trigger != "pre-push":
            return False
        signalled = state.signalled_paths("commit", candidate.key, self.event.subject, self.event.actor.kind)
        return repeats_commits(candidate.paths(), signalled)

    def _unrecorded(self, verdict: Verdict, delivered: list[Candidate], why: str) -> None:
        climbing = [c for c in delivered if c.standing and c.standing.of]
        if climbing and self.event.actor.kind == "agent":
            verdict.decision = "deny"
            verdict.notes.append(f"refused: a warning that climbs must be recorded, and {why}")
        else:
            verdict.notes.append(f"unrecorded: {why}")


def answers_of(program: Program, event: Event) -> Answers:
    """The words and actions of `program`, the policy of `event`; compiled again where their file was cut or removed.

    Raises AhpError when the policy is another one by now.
    """
    if program.answers is None and not cache.read_answers(program):
        from ahp.policy.compile import program_for

        fresh = program_for(event)
        if fresh.policy != program.policy:
            raise AhpError("the policy changed while it was judging; ask again")
        program.answers = fresh.answers
    assert program.answers is not None
    return program.answers


def _run(fixer: Command, event: Event) -> str:
    """Runs an accepted fixer; what became of it."""
    from ahp.gate import actions
    from ahp.policy import trust

    if not trust.checker(event)(fixer):
        return "its fixer was not accepted in this clone; a person runs: ahp trust"
    if event.mode != "real":
        return "its fixer would run: " + " ".join(fixer.run)
    return actions.run_fixer(fixer, event)

"""What the rich half of the decision leaves in the log: signals, ended episodes, the verdict (design §7, §8)."""

from ahp.gate import signalling, weighing
from ahp.gate.candidate import Candidate, changed_paths
from ahp.gate.escalation import coverage, repeats_commits, resets
from ahp.gate.match import COUNTED
from ahp.gate.weighing import Weighing
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable, episode_key
from ahp.journal.state import State
from ahp.policy import cache
from ahp.policy.judge import Judge
from ahp.protocol import records
from ahp.protocol.event import Event
from ahp.protocol.triggers import TRIGGERS
from ahp.protocol.verdict import Verdict
from ahp.system import clock

_REPLACED = (
    "the log that this gate was installed with is gone: escalation starts anew, "
    "and `ahp log verify` says so; a person who knows why runs: ahp install git"
)


class Recording:
    """The lines of one event: `candidates` are what its judges said, joined, `commits` how many were judged with it."""

    def __init__(
        self,
        event: Event,
        weighings: list[Weighing],
        candidates: list[Candidate],
        state: State,
        now: float,
        commits: int = 0,
    ) -> None:
        self.event, self.weighings, self.candidates = event, weighings, candidates
        self.state, self.now, self.commits = state, now, commits

    def write(self, journal: Journal, verdict: Verdict, delivered: list[Candidate], is_replaced: bool) -> None:
        """Appends what happened; where the log takes nothing, an agent's climbing warning becomes a refusal."""
        lines = [*self._policies(journal), *self._resets()]
        signals = {signal.context["rule"]: signal for signal in verdict.signals}
        for candidate in self.candidates:
            signal = signals.get(candidate.key)
            if candidate.dropped or candidate.intensity == "allow":
                continue
            made = signal or signalling.signal(candidate, self.now)
            in_advance = candidate.override if candidate.override and candidate.override.skip else None
            if in_advance is not None:
                in_advance.signal = made.id
            lines.append(
                signalling.record(
                    candidate,
                    made,
                    verdict,
                    counted=not self._already_told(candidate),
                    forget_after=weighing.forget_after(candidate.key, self.weighings),
                )
            )
            if in_advance is not None:
                from ahp.gate import skips

                lines.append(skips.answer(candidate, made))
        if TRIGGERS[self.event.trigger].family not in COUNTED:
            more, hidden = signalling.undelivered(self.candidates)
            facts = self.weighings[0].hearing.facts
            told = {"working": verdict.working, "commits": self.commits}
            lines.append(facts.verdict_record(self.now, verdict.decision, hidden=hidden, **more, **told))
        durable = verdict.denied or any(c.override or c.waived for c in self.candidates)
        try:
            self.state.settle()
            journal.append(lines, durable)
        except JournalUnwritable as error:
            self._unrecorded(verdict, delivered, str(error))
        else:
            verdict.notes += [note for note in (_REPLACED if is_replaced else "", journal.loss) if note]

    def _policies(self, journal: Journal) -> list[dict[str, object]]:
        """The records of the policies that judge and that the log does not describe yet."""
        index = journal.index()
        judges = [weighing.judge for weighing in self.weighings if not weighing.judge.is_described(index)]
        return [record for judge in judges if (record := policy_record(judge, self.event, self.now))]

    def _resets(self) -> list[dict[str, object]]:
        """The ends of the episodes that this clean evaluation mends (design §8.5)."""
        event = self.event
        paths = changed_paths(event)
        hit = {candidate.key for candidate in self.candidates}
        ended = []
        for key in dict.fromkeys(rule.key for one in self.weighings for rule in one.hearing.program.rules):
            if key in hit:
                continue
            name = episode_key(TRIGGERS[event.trigger].family, key, event.subject, event.actor.kind)
            episode = self.state.episode(name)
            if episode is None or not weighing.is_clean(key, self.weighings):
                continue
            if resets(episode, issue=event.issue, paths=paths):
                is_found = not episode.found.isdisjoint(paths)
                about = None if is_found or not paths else coverage(episode, paths)
                ended.append(signalling.mended(event, key, episode.id, self.now, about))
        return ended

    def _already_told(self, candidate: Candidate) -> bool:
        """Whether a push repeats only what its commits were told: that does not count again (design §8.2)."""
        if self.event.trigger != "pre-push":
            return False
        signalled = self.state.signalled_paths("commit", candidate.key, self.event.subject, self.event.actor.kind)
        return repeats_commits(candidate.paths(), signalled)

    def _unrecorded(self, verdict: Verdict, delivered: list[Candidate], why: str) -> None:
        verdict.is_logged = False
        if any(c.override and c.override.skip for c in self.candidates):
            verdict.decision = "deny"
            verdict.notes.append(f"refused: a skip lets nothing pass that is not recorded, and {why}")
            return
        climbing = [c for c in delivered if c.standing and c.standing.of]
        if climbing and self.event.actor.kind == "agent":
            verdict.decision = "deny"
            for signal in verdict.signals:
                signalling.refuse_going_on(signal)
            verdict.notes.append(f"refused: a warning that climbs must be recorded, and {why}")
        else:
            verdict.notes.append(f"unrecorded: {why}")


def policy_record(judge: Judge, event: Event, now: float) -> dict[str, object] | None:
    """Digest, origin and rules (`[trigger, key, levels by environment, digest]`) of a judge's policy.

    A committed one also has the id of its commit. None for a policy that is not among the compiled ones.
    """
    program = judge.program
    rules = cache.rules_of(program)
    if rules is None:
        return None
    told: dict[str, object] = {"digest": program.policy, "origin": judge.origin}
    commit = _commit(judge, event)
    if commit:
        told["commit"] = commit
    return records.other("policy", clock.iso(now), **told, rules=rules)


def _commit(judge: Judge, event: Event) -> str:
    if judge.tree is None:
        return ""
    return judge.tree.commit or (event.repo.head_id() if event.repo is not None else "")

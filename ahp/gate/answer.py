"""The rich half of the decision: hits become signals, signals a verdict, and all of it a record (design §2, §4, §7).

Nothing here evaluates a condition: when an action changes the event, `decide` judges it again.
"""

from ahp.gate import signalling, weighing
from ahp.gate.candidate import Candidate
from ahp.gate.hearing import Hearing
from ahp.gate.recording import Recording
from ahp.gate.weighing import Weighing
from ahp.journal.append import Journal
from ahp.journal.state import State
from ahp.policy import cache
from ahp.policy.judge import digest_beside
from ahp.protocol.event import Event
from ahp.protocol.signals import DECISION_OF, strongest
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.system import clock, files
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.gate.fixing import Fixing
    from ahp.gate.of_commits import OfCommits

ROUNDS = 3
_WAIVERS_LIMIT = 1 << 20
INSIDE = "AHP_FOLLOW_UP"  # names the rule whose command runs; what that does starts none


class Answer:
    """One event on the rich path, over as many rounds as its control actions need.

    `hearings` are the judges', the one that counts most first; `of_commits` is what was told of the commits of a range.
    `is_replaced` says that the log is not the one that the gate was installed with.
    """

    def __init__(
        self,
        event: Event,
        hearings: list[Hearing],
        journal: Journal,
        is_replaced: bool = False,
        of_commits: "OfCommits | None" = None,
    ) -> None:
        self.event, self.hearings, self.journal, self.is_replaced = event, hearings, journal, is_replaced
        self.of_commits = of_commits
        self.state = State.open(journal) if event.mode != "replay" else None
        self.now = self.state.now if self.state else clock.now()
        self.weighings = [Weighing(hearing, event, self.state, self.now) for hearing in hearings]
        self.modified = event
        self.rounds = 0
        self.settled: dict[str, Candidate] = {}
        self.candidates: list[Candidate] = []
        self.fixing: Fixing | None = None

    @property
    def environment(self) -> str:
        """The named environment by the policy that counts most, "" where it cannot be told."""
        return self.weighings[0].environment

    def weigh(self) -> Event | None:
        """Takes one round of hits; the event as the control actions leave it, None when nothing is left to judge."""
        weighed = [weighing.weigh() for weighing in self.weighings]
        if self.of_commits is not None:
            weighed.append(self.of_commits.candidates(self.event, self.state))
        self.candidates = weighing.join(weighed)
        if self.event.trigger.startswith("post-"):
            self._follow_up()
            return None
        return self._act(self.hearings[0].facts.event)

    def verdict(self) -> Verdict:
        """The verdict of the last round, recorded."""
        delivered = [c for c in self.everything() if c.enforced and c.intensity != "allow"]
        decision = DECISION_OF[strongest([c.intensity for c in delivered])]
        denied = decision == "deny"
        if denied:
            for candidate in delivered:
                if candidate.standing and candidate.intensity != "block":  # what is refused counts on no ladder
                    candidate.standing = candidate.standing._replace(text="")
                if candidate.intensity == "control" and not candidate.advises:
                    candidate.dropped = "the action is refused, so it is not changed"
        for candidate in delivered:
            candidate.dropped = candidate.dropped or candidate.told_before
        delivered = [c for c in delivered if not c.dropped]
        policy = self.hearings[0].program.policy
        verdict = Verdict(decision, self.event.trigger, self.event.subject, policy, notes=self._notes(delivered))
        verdict.working = digest_beside([hearing.judge for hearing in self.hearings])
        verdict.signals = [signalling.signal(c, self.now) for c in delivered]
        verdict.dropped = [{"rule": c.key, "why": signalling.why_not(c)} for c in self.everything() if not c.enforced]
        if not denied:
            verdict.modifications = [m for c in delivered if c.intensity == "control" for m in c.modifications]
            verdict.modified = self.modified if self.modified is not self.event else None
            verdict.trailers = [c.override.trailer for c in self.everything() if c.override]
        if self.fixing is not None and self.event.fixes and self.event.mode == "real":
            verdict.settle = self.fixing.settle
        elif self.fixing is not None:
            self.fixing.close()
        verdict.is_logged = self.event.mode == "real"
        if self.state is not None:
            if self.event.mode == "real":
                judged = self.of_commits.judged if self.of_commits is not None else 0
                Recording(self.event, self.weighings, self.everything(), self.state, self.now, judged).write(
                    self.journal, verdict, delivered, is_replaced=self.is_replaced
                )
            self.state.close()
        return verdict

    def _notes(self, delivered: list[Candidate]) -> list[str]:
        notes = [note for one in self.weighings for note in (*one.judge.notes, *one.notes)]
        notes += self.of_commits.notes if self.of_commits is not None else []
        notes += [
            f"{candidate.key} is {candidate.dropped}"
            for candidate in self.candidates
            if candidate.elsewhere and not candidate.unsaid and not candidate.commits
        ]
        if self.event.actor.kind == "human" and (note := weighing.not_in_force_yet(delivered, self.weighings)):
            notes.append(note)
        if self.event.actor.kind == "human" and (note := self._own_waivers(delivered)):
            notes.append(note)
        return list(dict.fromkeys(notes))

    def _own_waivers(self, delivered: list[Candidate]) -> str:
        """What to say of waivers of the work tree that are not committed; only such ones load their module."""
        tree = next((one.judge.excusing for one in self.weighings if one.judge.excusing is not None), None)
        if tree is None or not self.event.root or not any(one.enforced for one in delivered):
            return ""
        try:
            data = files.read(f"{self.event.root}/{cache.WAIVERS}", _WAIVERS_LIMIT)
            if not data or data == tree.read(cache.WAIVERS):
                return ""
            from ahp.gate import waivers

            return waivers.not_in_force_yet(data, delivered, self.event.subject, tree.name)
        except AhpError:
            return ""  # `ahp policy lint` and `ahp doctor` tell what is wrong with that file

    def everything(self) -> list[Candidate]:
        """The control rules of earlier rounds that do not block now, each once, then the rest of the last round."""
        blocking = {c.key for c in self.candidates if c.enforced and c.intensity == "block"}
        settled = {key: c for key, c in self.settled.items() if key not in blocking}
        return [*settled.values(), *[c for c in self.candidates if c.key not in settled]]

    def _follow_up(self) -> None:
        """The action is done, so nothing can be changed; an aid may have a command that goes on from there."""
        for candidate in self.candidates:
            if candidate.enforced and candidate.intensity == "aid":
                candidate.followed_up = _followed_up(candidate, self.event)

    def _act(self, event: Event) -> Event | None:
        """Applies the control actions; where the action is refused anyway, only those that advise."""
        controls = [c for c in self.candidates if c.enforced and c.intensity == "control"]
        if any(c.enforced and c.intensity == "block" for c in self.candidates):
            controls = [c for c in controls if c.advises]
        changed = event
        for candidate in controls:
            changed = self._apply(candidate, changed)
        if fixers := [c for c in controls if c.has_fixer]:
            from ahp.gate.fixing import Fixing

            self.fixing = self.fixing or Fixing()
            changed = self.fixing.run(fixers, changed, self.settled)
        if changed is event or any(c.intensity == "block" for c in controls):
            return None
        self.rounds += 1
        if self.rounds > ROUNDS:
            for candidate in controls:
                candidate.intensity = "block"
                candidate.refused = f"it still changes something after {ROUNDS} rounds"
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
        if action is None or action.command is not None:
            return event
        reason = candidate.message()
        try:
            if action.max_batch is not None:
                candidate.modifications.append(actions.split(action.max_batch, candidate.paths(), reason))
                return event
            done = actions.modify(action, event, reason)
        except actions.CannotApply as error:
            candidate.intensity, candidate.refused = "block", str(error)
            return event
        if done is None:
            if candidate.key not in self.settled:
                candidate.dropped = actions.CLEAN
            return event
        candidate.modifications.append(signalling.without_values(done[0]) if candidate.rule.redact else done[0])
        return done[1]


def _followed_up(candidate: Candidate, event: Event) -> str:
    """Runs the command of an aid's action and says how it went; "" for an aid without one.

    The command knows the trigger, the rule and the issue by its environment. It never fails the event: what could not
    be done is said.
    """
    from ahp.policy import trust
    from ahp.system import environ, places

    command = candidate.rule.action.command if candidate.rule.action is not None else None
    if command is None:
        return ""
    named = one_line(" ".join(command.run))
    if event.env.get(INSIDE):
        return f"not done, since another follow-up did this: {named}"
    if candidate.judge.adds:
        return f"not done, since its rule is not committed: {named}"
    if event.mode != "real":
        return f"would run: {named}"
    try:
        if not trust.checker(event)(command):
            return f"not done, since nobody accepted it in this clone (a person runs: ahp trust): {named}"
        env = environ.scrubbed(event.env)
        env |= {INSIDE: candidate.key, "AHP_TRIGGER": event.trigger, "AHP_ISSUE": event.issue or ""}
        seconds = max(min(command.timeout, event.deadline - clock.monotonic()), 0.0)
        result = places.run(
            command.place, command.run, cwd=f"{event.root}/{command.directory}", env=env, timeout=seconds
        )
    except AhpError as error:
        return f"not done, {one_line(error)}: {named}"
    words = (result.out if result.code == 0 else result.err or result.out).decode("utf-8", "replace").strip()
    ended = "done" if result.code == 0 else f"ended with {result.code}"
    last = one_line(words.splitlines()[-1]) if words else ""
    return f"{ended}: {named}" + (f" ({last})" if last else "")

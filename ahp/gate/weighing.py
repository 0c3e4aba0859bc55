"""One judge's hits on their way to signals: their levels, what excuses them, what speaks for them (design §4, §8).

Each judge weighs by its own rules, mode, environment and ladder; `joining` puts together what several say.
"""

from collections.abc import Iterable, Sequence

from ahp.facts import environment as environments
from ahp.facts import registry
from ahp.gate.candidate import Candidate, changed_paths
from ahp.gate.escalation import Ladder, standing
from ahp.gate.hearing import Hearing
from ahp.policy import cache
from ahp.policy.judge import COMMITTED, WORKING
from ahp.policy.program import RuleAnswer
from ahp.policy.tree import FOLDER, HOOKS, LOCK
from ahp.protocol.event import Event
from ahp.protocol.signals import strength
from ahp.protocol.text import one_line
from ahp.protocol.triggers import FORGET_AFTER, TRIGGERS
from ahp.system.errors import AhpError, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.journal.episodes import Attempt
    from ahp.journal.state import State
    from ahp.system.git import Repository

_FAMILIES = ("commit", "push", "pre-merge")
_CONTENT = ("files", "diff")


def may_speak_for(rule: RuleAnswer, level: str, other: RuleAnswer, other_level: str) -> bool:
    """Whether a rule that refines another one takes its place, at the levels that both have (design §4, Refinement)."""
    if other.locked and strength(level) < strength(other_level):
        return False
    # Else an override of the one would let the other pass, too.
    return not (level == "block" and rule.overridable and not other.overridable)


class Weighing:
    """How one judge weighs the hits of its hearing. `state` is what the log tells, None in a replay."""

    def __init__(self, hearing: Hearing, event: Event, state: "State | None", now: float) -> None:
        self.hearing, self.judge, self.event, self.state, self.now = hearing, hearing.judge, event, state, now
        answers = self.judge.answers(event)
        self.rules, self.observes = answers.rules, answers.mode == "observe"
        self.mode = event.mode
        self.ladder = Ladder.of(answers.escalation)
        self.environment = ""
        self.notes: list[str] = []
        self.candidates: list[Candidate] = []

    def weigh(self) -> list[Candidate]:
        """One round of hits as candidates with the level that is in force, by priority."""
        facts = self.hearing.facts
        named = environments.name_of(facts.event, self.hearing.program.settings)
        self.environment = named if isinstance(named, str) else ""
        found = [
            Candidate(hit.key, self.rules[hit.key], hit, facts, self.environment, self.judge)
            for hit in self.hearing.hits
        ]
        # Nobody is to notice it at work; who asks for the gate's opinion, and CI, is told.
        if self.observes and self.mode != "real":
            self.notes = ["mode: observe — signals are logged, none is enforced"]
        self.candidates = sorted(found, key=lambda c: c.rule.priority)
        for candidate in self.candidates:
            candidate.shadow = candidate.shadow or self.observes
            self._recall(candidate)
        self._waive()
        self._refine()
        self._climb()
        self._soften_for_policy_only()
        self._override()
        waits = "its action waits until this policy is committed" if self.judge.origin == WORKING else ""
        for candidate in self.candidates if self.judge.adds else ():
            if candidate.intensity == "control":
                candidate.soften(waits)
        return self.candidates

    def _soften_for_policy_only(self) -> None:
        """A change of nothing but the policy is stopped only by what guards the policy: all others speak as prompts.

        A wrong rule would else refuse the very commit that mends it (authority §2.5). Raises GitError, AhpError.
        """
        paths, levels = changed_paths(self.event), ("block", "control")
        if not paths or not all(path.startswith(FOLDER) for path in paths):
            return
        stopping = [c for c in self.candidates if c.enforced and c.intensity in levels and not guards(c.rule)]
        for candidate in stopping if stopping and is_policy_only(self.event) else ():
            candidate.soften("this changes only the policy, so it may go on")

    def forgets(self, key: str) -> bool:
        """Whether a rule is clean only because evidence that this subject had is gone, by its `has` or `default`.

        A list is not logged, so one that is absent counts as gone (design §4).
        """
        gone = [path for path in self.rules[key].reads if path in self.hearing.facts.missing]
        return any(registry.is_list(path) or self._had(path) for path in gone)

    def _waive(self) -> None:
        """Marks what the waivers excuse that were committed with the policy. Mistakes in their file excuse nothing."""
        tree = self.judge.excusing
        if tree is None or not self.candidates:
            return
        try:
            if any(tree.read(path) is not None for path in (cache.WAIVERS, LOCK)):
                from ahp.gate import waivers

                self.notes += waivers.excuse(tree.read, self.candidates, self.event.subject, self.state)
        except AhpError as error:
            why = one_line(str(error).partition("\n")[0], 300)
            self.notes.append(f"the waivers of {tree.name} cannot be read, so none holds: {why}")

    def _override(self) -> None:
        """Lets a block, or a fixer, pass that a person took the risk of, once, for this change or in advance."""
        blocks = [
            c
            for c in self.candidates
            if self.state is not None
            and c.enforced
            and (c.intensity == "block" or (c.intensity == "control" and c.has_fixer))
        ]
        for candidate in blocks:
            taken = self.state.risks_taken(candidate.key) if self.state is not None else []
            if taken:
                from ahp.gate import overrides

                candidate.override = overrides.find(
                    taken,
                    candidate.act(self.now),
                    self.event,
                    digest=candidate.rule.digest,
                    evidence=candidate.content(),
                    overridable=candidate.rule.overridable,
                )
        left = [candidate for candidate in blocks if candidate.override is None]
        left += [c for c in self.candidates if c.enforced and c.intensity == "prompt"]  # skipped, it is silent
        if left and self.state is not None and self.state.may_have_skips():
            from ahp.gate import skips

            self.notes += skips.find(left, self.now)

    def _recall(self, candidate: Candidate) -> None:
        """Evidence that this subject had and has no more keeps the rule's own intensity (design §4). A rule that may do
        without evidence is not told as skipped where there never was any.
        """
        path = candidate.hit.undecided.path if candidate.hit.undecided is not None else None
        if not path or self.state is None:
            return
        if candidate.elsewhere:
            candidate.unsaid = candidate.rule.on_missing == "skip" and not self._had(path)
        elif self._had(path):
            candidate.insist()

    def _had(self, path: str) -> bool:
        """Whether the log tells a value of the fact at `path` for this subject."""
        from ahp.journal import segments

        return segments.had_fact(self.event.journal, self.event.subject, path)

    def _refine(self) -> None:
        """Drops what another enforced signal of its oracle speaks for (design §4, Refinement)."""
        speaking = [c for c in self.candidates if c.enforced and not c.undecided and c.intensity != "allow"]
        by_key = {c.key: c for c in self.candidates}
        for candidate in speaking:
            for key, why in candidate.rule.refines.items():
                other = by_key.get(key)
                if other is None or other.undecided:
                    continue
                if may_speak_for(candidate.rule, candidate.intensity, other.rule, other.intensity):
                    other.dropped = f"refined by {candidate.key} ({why})"

    def _climb(self) -> None:
        """Puts each signal on the rung of its episode (design §8)."""
        for candidate in self.candidates:
            if not candidate.enforced or candidate.intensity in ("allow", "aid"):
                continue
            climbs = candidate.rule.escalates and not candidate.undecided
            episode = self.state.episode(candidate.episode) if self.state else None
            if episode is not None and episode.landing is not None:
                candidate.given_up = self._given_up(candidate, episode.landing)
            candidate.standing = standing(
                episode,
                candidate.act(self.now),
                candidate.own,
                ladder=self.ladder,
                escalates=climbs,
                can_control=candidate.rule.action is not None,
            )
            candidate.intensity = candidate.standing.intensity

    def _given_up(self, candidate: Candidate, waits: "Attempt") -> str:
        """The token of the attempt that `waits` for word of its commit, where HEAD has moved and none came of it."""
        repo, head = self.event.repo, candidate.act(self.now).head
        if repo is None or self.state is None or head is None or waits.act.head in (None, head):
            return ""
        return waits.act.token if _is_given_up(repo, self.state, candidate.episode, waits) else ""


def _is_given_up(repo: "Repository", state: "State", key: str, attempt: "Attempt") -> bool:
    """Whether no commit came of `attempt` of the episode `key`, by git's reflog once HEAD has moved (design §8.2); not
    where nothing tells.

    A hook of another tool may have changed the files after it was judged: the same files are enough.
    """
    from ahp.system import reflogs

    made = reflogs.made_from(repo, attempt.act.head or "")
    if made is None:
        return False
    paths = {path for one in state.enforced(key) if one.act.token == attempt.act.token for path in one.paths}
    return not any(_is_of(repo, attempt, commit, paths) for commit in made)


def _is_of(repo: "Repository", attempt: "Attempt", commit: str, paths: set[str]) -> bool:
    """Whether `commit` brings the change of `attempt`, or files among which are its `paths`."""
    from ahp.system.history import RangeView

    try:
        view = RangeView(repo, attempt.act.head or repo.empty_tree(), commit)
        return view.change().digest == attempt.act.change or (bool(paths) and paths.issubset(view.touched()))
    except (AhpError, Unknown):
        return True  # it is not here any more, so nothing tells


def guards(rule: RuleAnswer) -> bool:
    """Whether a rule also stops such a change: it is locked, reads `policy`, or is severe and reads contents."""
    spaces = {path.partition(".")[0] for path in rule.reads}
    return rule.locked or "policy" in spaces or (rule.severity == "high" and not spaces.isdisjoint(_CONTENT))


def is_policy_only(event: Event) -> bool:
    """Whether a commit or range has files of the policy alone.

    A push that takes commits from the remote changes more than the policy.
    """
    from ahp.facts import push
    from ahp.policy import weakening

    if TRIGGERS[event.trigger].family not in _FAMILIES or not weakening.touches_only_policy(event):
        return False
    if event.push is None or TRIGGERS[event.trigger].family == "commit":
        return True
    told = push.gather(event, frozenset({"is_force", "is_delete"}), None)
    return not (told["is_force"] or told["is_delete"])


def join(weighed: Sequence[list[Candidate]]) -> list[Candidate]:
    """One candidate a rule, in the order of the first judge, then of those after it.

    One that is not delivered gives way to one of another judge that is.
    """
    found: dict[str, Candidate] = {}
    for candidate in (candidate for candidates in weighed for candidate in candidates):
        known = found.get(candidate.key)
        if known is None or candidate.weight > known.weight:
            found[candidate.key] = candidate
    return list(found.values())


def is_clean(key: str, weighings: Iterable[Weighing]) -> bool:
    """Whether every judge that has the rule asked it, with its evidence there, and found nothing (design §8.5)."""
    for weighing in weighings:
        if key not in weighing.rules:
            continue
        matcher = weighing.hearing.matcher
        if key in matcher.filtered or any(hit.key == key for hit in matcher.hits) or weighing.forgets(key):
            return False
    return True


def forget_after(key: str, weighings: Iterable[Weighing]) -> float:
    """Seconds until an episode of the rule ends by itself: the longest of the judges that have it."""
    having = [one.ladder.forget_after if one.ladder else FORGET_AFTER for one in weighings if key in one.rules]
    return max(having, default=FORGET_AFTER)


def not_in_force_yet(delivered: Iterable[Candidate], weighings: Sequence[Weighing]) -> str:
    """For a person whose edit of the policy would have said less: which commit makes it so; "" where there is none."""
    beside = next((one for one in weighings if one.judge.origin == WORKING and one.judge.adds), None)
    if beside is None:
        return ""
    own = {candidate.key: candidate for candidate in beside.candidates}
    keys = []
    for candidate in delivered:
        mine, rule = own.get(candidate.key), beside.rules.get(candidate.key)
        changed = rule is None or rule.digest != candidate.rule.digest
        if candidate.judge.origin == COMMITTED and changed and (mine is None or mine.weight < candidate.weight):
            keys.append(candidate.key)
    if not keys:
        return ""
    tree = next((one.judge.tree for one in weighings if one.judge.tree is not None), None)
    name = tree.name if tree is not None else "HEAD"
    how = f"committed: git commit {HOOKS}" if name == "HEAD" else f"on {name}"
    return f"your edit of {HOOKS} ({', '.join(keys[:3])}) takes effect once it is {how}"

"""A rule that matched, on its way to a signal: its own intensity, what becomes of it, and what it says (design §4)."""

from ahp.facts import diff
from ahp.facts.registry import Absent, undecided
from ahp.gate import rendering
from ahp.gate.escalation import Standing
from ahp.gate.match import Facts, Hit
from ahp.journal.episodes import Act
from ahp.journal.index import episode_key
from ahp.policy.program import RuleAnswer
from ahp.protocol.event import Event
from ahp.protocol.signals import strength, strongest
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS
from ahp.system import digest, jsontext
from ahp.system.errors import OutputLimit, Unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.facts.registry import Absent
    from ahp.gate.overrides import Override
    from ahp.policy.judge import Judge

_PATHS = 500


class Candidate:
    """One hit of a judge's rule, with that rule's answer half.

    `environment` is "" when it cannot be told. `own` is the intensity that rule and environment give it, `intensity`
    the one in force after the ladder. `dropped` says why it is not delivered ("" when it is); `shadow` and `waived` are
    delivered to the log only. `modifications` are what its action changed or proposes, `changed` the files that its
    fixer changed, `refused` why it could not, `softened` why it speaks as a prompt, `followed_up` what became of an
    aid's command. `told_before` says where it was told already that counts here as well, `unsaid` that the log alone is
    told why it was not decided.
    """

    def __init__(self, key: str, rule: RuleAnswer, hit: Hit, facts: Facts, environment: str, judge: "Judge") -> None:
        self.key, self.rule, self.hit, self.facts, self.judge = key, rule, hit, facts, judge
        self.event = facts.event
        self.environment = environment
        self.dropped = ""
        self.shadow = rule.shadow
        self.waived = ""
        self.override: Override | None = None
        self.refused = self.softened = self.followed_up = self.told_before = self.given_up = ""
        self.unsaid = False
        self.modifications: list[dict[str, object]] = []
        self.changed: list[str] = []
        self.standing: Standing | None = None
        self._content: str | None = None
        if not self.undecided:
            facts.also(rule.shows)
        self.own = self.intensity = self._own()

    @property
    def undecided(self) -> bool:
        return self.hit.undecided is not None or self.hit.bound is not None

    @property
    def elsewhere(self) -> bool:
        """Whether it cannot be decided where commits are judged: a fact of another place is missing."""
        absent = self._absent()
        return absent is not None and absent.elsewhere

    @property
    def unknowable(self) -> bool:
        """Whether the change itself makes it unknowable: too much to read, or objects that are not here."""
        absent = self._absent()
        return absent is not None and absent.unknowable

    @property
    def enforced(self) -> bool:
        """Whether it counts for the verdict."""
        return not (self.dropped or self.shadow or self.waived or self.override)

    @property
    def weight(self) -> int:
        """How strongly it speaks among those of one rule; what is not enforced, least of all."""
        return strength(self.intensity) if self.enforced else -1

    @property
    def advises(self) -> bool:
        """Whether its control action is advice that changes nothing: the batches of a large change."""
        action = self.rule.action
        return action is not None and action.type == "split_suggestion"

    @property
    def has_fixer(self) -> bool:
        """Whether its control action runs a command."""
        action = self.rule.action
        return action is not None and action.command is not None

    @property
    def total(self) -> int:
        """How many findings there are, also those that are not listed."""
        return len(self.hit.items or ())

    @property
    def commits(self) -> dict[str, object]:
        """What the log keeps of the commits that break it, where commits are judged."""
        return {}

    def _own(self) -> str:
        level = self._declared()
        if self.hit.bound is not None:
            return "block"
        if self.hit.undecided is None or level == "allow":
            return level
        absent = self._absent()
        if absent and absent.elsewhere:
            self.dropped = f"not decidable here: {absent.reason}"
            return level
        if absent and absent.unknowable and not TRIGGERS[self.event.trigger].post:
            return level
        if TRIGGERS[self.event.trigger].post or self.rule.on_missing == "skip":
            self.dropped = "undecided: " + self.message()
            return level
        return self.rule.on_missing

    def _declared(self) -> str:
        """What the rule says for this environment; the strictest of all where nobody can tell the environment."""
        declared = self.rule.intensity
        if not self.environment:
            return strongest(list(declared.values()))
        return declared.get(self.environment, declared["default"])

    def insist(self) -> None:
        """Gives an undecided rule at least its own intensity: evidence that goes away does not soften it."""
        if not TRIGGERS[self.event.trigger].post:
            told = [] if self.dropped else [self.own]
            self.dropped = ""
            self.own = self.intensity = strongest([self._declared(), *told])

    def soften(self, why: str) -> None:
        """Has it speak as a prompt, whatever its rung."""
        self.intensity, self.softened = "prompt", why
        if self.standing is not None:
            self.standing = self.standing._replace(intensity="prompt", of=0, text="")

    def message(self) -> str:
        """The sentence of its signal."""
        if self.hit.bound is not None:
            return f"its condition goes beyond a limit, so this cannot be judged: {one_line(self.hit.bound)}"
        if self.hit.undecided is None:
            return rendering.message(self.rule, self.facts.values, self.hit)
        path = self.hit.undecided.path or ""
        if not path:
            return f"cannot tell: {one_line(self.hit.undecided.told())}"
        if absent := self._absent():
            return undecided(absent.reason, absent.command, path)
        return f"cannot tell: {one_line(self.hit.undecided.told())}"

    def _absent(self) -> "Absent | None":
        """The fact for want of which it could not be decided."""
        return self.facts.missing.get(self.hit.undecided.path or "") if self.hit.undecided else None

    def steps(self) -> list[str]:
        """How to mend it."""
        if self.undecided:
            absent = self._absent()
            return [f"to get it: {one_line(absent.command)}"] if absent and absent.command else []
        return rendering.steps(self.rule.resolution, rendering.with_items(self.rule, self.facts.values, self.hit))

    def suggestions(self) -> list[dict[str, object]]:
        """`{type, description}` each."""
        if self.undecided:
            return [{"type": "follow_up", "description": step} for step in self.steps()]
        given: list[dict[str, object]] = [
            {"type": suggestion.type, "description": text}
            for suggestion in self.rule.suggestions
            for text in rendering.steps([suggestion.description], self.facts.values)
        ]
        if self.followed_up:
            given.append({"type": "follow_up", "description": self.followed_up})
        return given

    def findings(self) -> list[dict[str, object]]:
        if self.undecided or self.changed:  # what its fixer changed is named already
            return []
        found = rendering.findings(self.rule, self.facts.values, self.hit)
        if found and self.event.tool is not None:
            from ahp.gate import witness

            witness.name_commands(found, self.rule, self.hit, self.facts)
        return found

    def read(self) -> dict[str, object]:
        """The facts it read that may be shown and logged."""
        if self.rule.redact:
            return {}
        scalars = self.facts.scalars()
        return {path: scalars[path] for path in self.rule.reads if path in scalars}

    def evidence(self) -> str:
        """The digest of all it read: the same again is the same evidence (design §8)."""
        values = {path: self.facts.values.get(path) for path in self.rule.reads}
        content = [self.key, values, self.hit.items, self.message() if self.undecided else None]
        return digest.tagged(jsontext.encode(content).encode())

    def content(self) -> str:
        """The digest of what the change is to this rule, which a person's override is bound to."""
        if self._content is None:
            self._content = content(self.event, self.hit) or self.evidence()
        return self._content

    def act(self, at: float) -> Act:
        """What the attempt is recognised by."""
        event = self.event
        change = event.view.digest() if event.view is not None else ""
        return Act(at, event.host, event.trigger, event.attempt, change, self.evidence(), _head(event), self.given_up)

    def paths(self) -> list[str]:
        """The files it is about: its findings', else all that changed; at most 500."""
        found = self.changed or [str(finding["file"]) for finding in self.findings() if "file" in finding]
        named = (self.event.tool or {}).get("paths")
        of_call = [str(path) for path in named] if isinstance(named, list) else []
        return list(dict.fromkeys(found or changed_paths(self.event) or of_call))[:_PATHS]

    @property
    def target(self) -> str | None:
        """What an agent's call is aimed at; part of the key of its episode (design §8.3)."""
        named = (self.event.tool or {}).get("target")
        return str(named) if named else None

    @property
    def episode(self) -> str:
        """The key of its episode."""
        event = self.event
        return episode_key(TRIGGERS[event.trigger].family, self.key, event.subject, event.actor.kind, self.target)


def _head(event: Event) -> str | None:
    """What a commit or a push starts from: when it has moved, the action has come about (design §8.2)."""
    if event.push is not None:
        return event.push.local_oid
    if event.repo is None or TRIGGERS[event.trigger].family != "commit":
        return None
    return event.repo.head_id()


def changed_paths(event: Event) -> list[str]:
    """The paths that the event changes, old names of renamed files included."""
    return [] if event.view is None else event.view.touched()


_FORM = "evidence1"  # part of what is digested: another form makes other digests


def content(event: Event, hit: Hit) -> str:
    """The digest of the findings' files and texts, else of the change's files with their added and removed lines.

    "" for an event that changes nothing and found nothing. Raises GitError, AhpError.
    """
    parts = [_finding(item) for item in hit.items] if hit.items else _change(event)
    if not parts:
        return ""
    return digest.tagged("\n".join([_FORM, *sorted(parts)]).encode("utf-8", "surrogateescape"))


def _finding(item: object) -> str:
    known = {key: value for key, value in item.items() if key != "line"} if isinstance(item, dict) else item
    return jsontext.encode(known)


def _change(event: Event) -> list[str]:
    if event.view is None:
        return []
    parts = []
    try:
        entries = event.view.change().entries
    except Unknown:  # what it is cannot be told: at a push the tip stands for it
        return [f"tip {event.push.local_oid}"] if event.push is not None else []
    for entry in entries:
        binary = (entry.new_oid.strip("0") or entry.content) if entry.insertions is None else ""
        parts.append(jsontext.encode([entry.status, entry.path, entry.old_path, entry.new_mode, binary]))
    for sign, lines in _lines(event).items():
        if not isinstance(lines, list):  # they are too many to be read, or not known
            return [f"{entry.path} {entry.new_oid}" for entry in entries]
        parts += [jsontext.encode([sign, line["path"], line["text"]]) for line in lines]
    return parts


def _lines(event: Event) -> dict[str, object]:
    try:
        return diff.gather(event, frozenset({"added", "removed"}), None)
    except (OutputLimit, Absent):
        return {"added": None}

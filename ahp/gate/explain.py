"""Why the gate says what it says: every rule of an event, with the values it saw (design §10)."""

from collections.abc import Iterator
from typing import NamedTuple

from ahp.conditions import reference
from ahp.conditions.evaluate import MISSING, Bound, Undecided
from ahp.facts.gather import gather
from ahp.facts.registry import Absent, is_private
from ahp.gate.answer import Answer
from ahp.gate.candidate import Candidate
from ahp.gate.decide import with_places
from ahp.gate.hearing import hear
from ahp.gate.match import Hit
from ahp.gate.weighing import Weighing
from ahp.journal.append import Journal
from ahp.policy.judge import Judge
from ahp.policy.judges import judges_of
from ahp.policy.program import RuleAnswer
from ahp.protocol.event import Event
from ahp.protocol.verdict import Verdict

HIDDEN = object()


class Reason(NamedTuple):
    """One rule: its answer half, how it came out, and the values of its sub-expressions, outermost first.

    `outcome` is true, false, undecided, filtered (its `when` does not hold) or bound; `fate` what became of its signal
    ("delivered as block", "refined by …", "" when there is none). `origin` says whose rule it is: committed or working.
    """

    rule: RuleAnswer
    key: str
    outcome: str
    fate: str
    values: list[tuple[str, object]]
    origin: str


class Explanation(NamedTuple):
    """The verdict of a dry run and the reasons, in the order in which rules are asked."""

    verdict: Verdict
    environment: str
    reasons: list[Reason]
    missing: dict[str, Absent]


def explain(event: Event) -> Explanation:
    """Judges `event`, which must be dry, and says why. Raises what `decide` raises."""
    hearings = hear(judges_of(event), event)
    answer = Answer(event, hearings, Journal(event.journal, event.genesis))
    first = [_First(weighing) for weighing in answer.weighings]
    while (modified := answer.weigh()) is not None:
        for hearing in hearings:
            hearing.hear(modified)
    candidates = answer.everything()
    verdict = answer.verdict()
    with_places(verdict, hearings)
    reasons = [reason for one in first for reason in one.reasons(candidates, verdict)]
    missing = {path: why for one in reversed(first) for path, why in one.facts.missing.items()}
    return Explanation(verdict, answer.environment, reasons, missing)


class _First:
    """What one judge found before any action changed the event."""

    def __init__(self, weighing: Weighing) -> None:
        hearing = weighing.hearing
        self.judge, self.rules, self.order = hearing.judge, weighing.rules, hearing.program.rules
        self.facts, self.filtered = hearing.facts, set(hearing.matcher.filtered)
        self.hits = {hit.key: hit for hit in hearing.matcher.hits}

    def reasons(self, candidates: list[Candidate], verdict: Verdict) -> Iterator[Reason]:
        # The compiler folds the policy's limits into the plans, so that no rule has read them as facts.
        settings = self.facts.program.settings
        known = {**gather({"limits": list(settings.limits)}, self.facts.event, settings)[0], **self.facts.values}
        joined = {candidate.key: candidate for candidate in candidates}
        for entry in self.order:
            key = entry.key
            outcome = _outcome(self.hits.get(key), key in self.filtered)
            fate = _fate(joined.get(key), verdict, self.judge, entry.box) if key in self.hits else ""
            values = _values(self.rules[key], known, outcome == "filtered")
            yield Reason(self.rules[key], key, outcome, fate, values, self.judge.origin)


def _outcome(hit: Hit | None, filtered: bool) -> str:
    if filtered:
        return "filtered"
    if hit is None:
        return "false"
    if hit.bound is not None:
        return "bound"
    return "true" if hit.undecided is None else "undecided"


def _fate(candidate: Candidate | None, verdict: Verdict, judge: Judge, box: dict[str, object] | None) -> str:
    if candidate is None:
        is_saving = box is not None and box["type"] == "snapshot"
        return "saves the work tree before the call" if is_saving else "runs the call in a box"
    if candidate.judge is not judge:
        return f"the {candidate.judge.origin} policy decides"
    why = next((dropped["why"] for dropped in verdict.dropped if dropped["rule"] == candidate.key), "")
    if why:
        return why
    if candidate.intensity == "allow":
        return f"silent: {candidate.rule.id} is `allow` in {candidate.environment}"
    return f"delivered as {candidate.intensity}"


def _values(rule: RuleAnswer, known: dict[str, object], filtered: bool) -> list[tuple[str, object]]:
    """The sub-expressions of `when` and condition; an `each` shows its list, whose items have no single value. Where
    `when` does not hold nothing else was asked.
    """
    if rule.redact:
        return []
    texts = [text for text in ((rule.when,) if filtered else (rule.when, rule.each, rule.condition)) if text]
    private = [path for path in rule.reads if is_private(path)]
    if rule.each and not filtered:
        listed = rule.each.partition(" in ")[2].strip()
        return [*_of(rule.when, known, private), _bared(listed, known.get(listed, MISSING), private)]
    return [pair for text in texts for pair in _of(text, known, private)]


def _of(text: str | None, known: dict[str, object], private: list[str]) -> list[tuple[str, object]]:
    return [_bared(part, value, private) for part, value in reference.explain(text, known)] if text else []


def _bared(part: str, value: object, private: list[str]) -> tuple[str, object]:
    """A sub-expression and its value; of what is never shown (design §7) only numbers and where it stands."""
    items = value if isinstance(value, list) else [value]
    words = [item for item in items if isinstance(item, str | dict) and item]
    if any(path in part for path in private) and not all("path" in word and isinstance(word, dict) for word in words):
        return part, HIDDEN
    return part, value


def shown(value: object) -> str:
    """A value as a person reads it."""
    from ahp.gate.rendering import quoted

    if value is HIDDEN:
        return "(not shown)"
    if isinstance(value, Undecided):
        return f"? ({value.told()})"
    if isinstance(value, Bound):
        return f"? ({value})"
    return "? (missing)" if value is MISSING else quoted(value)

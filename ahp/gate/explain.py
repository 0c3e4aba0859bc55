"""Why the gate says what it says: every rule of an event, with the values it saw (design §10)."""

from typing import NamedTuple

from ahp.conditions import reference
from ahp.conditions.evaluate import MISSING, Bound, Undecided
from ahp.facts.gather import gather
from ahp.facts.registry import is_private
from ahp.gate.answer import Answer
from ahp.gate.candidate import Candidate
from ahp.gate.decide import program_of
from ahp.gate.match import Facts, Hit, Matcher
from ahp.journal.append import Journal
from ahp.policy.program import RuleAnswer
from ahp.protocol.event import Event
from ahp.protocol.verdict import Verdict

HIDDEN = object()


class Reason(NamedTuple):
    """One rule: its answer half, how it came out, and the values of its sub-expressions, outermost first.

    `outcome` is true, false, undecided, filtered (its `when` does not hold) or bound; `fate` what became of its signal
    ("delivered as block", "refined by …", "" when there is none).
    """

    rule: RuleAnswer
    key: str
    outcome: str
    fate: str
    values: list[tuple[str, object]]


class Explanation(NamedTuple):
    """The verdict of a dry run and the reasons, in the order in which rules are asked."""

    verdict: Verdict
    environment: str
    reasons: list[Reason]
    missing: dict[str, tuple[str, str]]


def explain(event: Event) -> Explanation:
    """Judges `event`, which must be dry, and says why. Raises what `decide` raises."""
    program = program_of(event)
    facts, matcher = Facts(program, event), Matcher(program)
    hits = matcher.hits(facts)
    filtered = set(matcher.filtered)
    answer = Answer(event, program, matcher, Journal(event.journal, event.genesis))
    first, first_hits = facts, hits
    while (modified := answer.weigh(facts, hits)) is not None:
        facts = Facts(program, modified)
        hits = matcher.hits(facts)
    candidates = {candidate.key: candidate for candidate in answer.everything()}
    verdict = answer.verdict()
    found = {hit.key: hit for hit in first_hits}
    known = {**_constants(first), **first.values}
    reasons = []
    for entry in program.rules:
        key = entry.key
        rule = answer.rules[key]
        outcome = _outcome(found.get(key), key in filtered)
        reasons.append(Reason(rule, key, outcome, _fate(candidates.get(key), verdict), _values(rule, known)))
    return Explanation(verdict, answer.environment, reasons, first.missing)


def _outcome(hit: Hit | None, filtered: bool) -> str:
    if filtered:
        return "filtered"
    if hit is None:
        return "false"
    if hit.bound is not None:
        return "bound"
    return "true" if hit.undecided is None else "undecided"


def _fate(candidate: Candidate | None, verdict: Verdict) -> str:
    if candidate is None:
        return ""
    why = next((dropped["why"] for dropped in verdict.dropped if dropped["rule"] == candidate.key), "")
    if why:
        return why
    if candidate.intensity == "allow":
        return f"silent: {candidate.rule.id} is `allow` in {candidate.environment}"
    return f"delivered as {candidate.intensity}"


def _constants(facts: Facts) -> dict[str, object]:
    """The policy's limits: the compiler folds them into the plans, so that no rule has read them as facts."""
    names = list(facts.program.settings.limits)
    return gather({"limits": names}, facts.event, facts.program.settings)[0]


def _values(rule: RuleAnswer, known: dict[str, object]) -> list[tuple[str, object]]:
    """The sub-expressions of `when` and condition; an `each` shows its list, whose items have no single value."""
    if rule.redact:
        return []
    texts = [text for text in (rule.when, rule.each, rule.condition) if text]
    private = [path for path in rule.reads if is_private(path)]
    if rule.each:
        listed = rule.each.partition(" in ")[2].strip()
        return [*_of(rule.when, known, private), _bared(listed, known.get(listed, MISSING), private)]
    return [pair for text in texts for pair in _of(text, known, private)]


def _of(text: str | None, known: dict[str, object], private: list[str]) -> list[tuple[str, object]]:
    return [_bared(part, value, private) for part, value in reference.explain(text, known)] if text else []


def _bared(part: str, value: object, private: list[str]) -> tuple[str, object]:
    """A sub-expression and its value; of what is never shown (design §7) only numbers and where it stands."""
    items = value if isinstance(value, list) else [value]
    words = [item for item in items if item and isinstance(item, str | dict)]
    if any(path in part for path in private) and not all("path" in word and isinstance(word, dict) for word in words):
        return part, HIDDEN
    return part, value


def shown(value: object) -> str:
    """A value as a person reads it."""
    from ahp.gate.rendering import quoted

    if value is HIDDEN:
        return "(not shown)"
    if isinstance(value, Undecided):
        return f"? ({value.path} is missing)" if value.path else f"? ({value.kind.replace('_', ' ')})"
    if isinstance(value, Bound):
        return f"? ({value})"
    return "? (missing)" if value is MISSING else quoted(value)

"""Candidates as signals and as lines of the log (design §7; seed 002 §2.2, §3.1, §6.2)."""

import uuid
from collections.abc import Mapping

from ahp.facts.registry import is_private
from ahp.gate.candidate import Candidate
from ahp.journal.episodes import new_id
from ahp.protocol import records, signals
from ahp.protocol.event import Event
from ahp.protocol.signals import Signal
from ahp.protocol.text import one_line
from ahp.protocol.triggers import FORGET_AFTER
from ahp.protocol.verdict import Verdict
from ahp.system import clock, digest, jsontext

_FILES = 100
_LINE = 1024


def signal(candidate: Candidate, now: float) -> Signal:
    """The signal of a candidate, with the payload of its intensity."""
    event, stands = candidate.event, candidate.standing
    known = stands.correlation_id if stands else ""
    header: dict[str, object] = {
        "id": str(uuid.uuid4()),
        "type": candidate.rule.type,
        "timestamp": clock.iso(now),
        "source": candidate.rule.oracle,
        "intensity": candidate.intensity,
        "correlation_id": known or new_id(now),
    }
    context: dict[str, object] = {
        "hook": event.trigger,
        "issue_id": event.issue,
        "subject": event.subject,
        "environment": candidate.environment,
        "files": [one_line(path, 500) for path in candidate.paths()[:_FILES]],
        "facts": candidate.read(),
        "rule": candidate.key,
        "declared": candidate.own,
        "origin": candidate.judge.origin,
    }
    if candidate.undecided:
        context["undecidable"] = True
        if candidate.unknowable:
            context["unknowable"] = True
    found = candidate.findings()
    if found:
        context["findings"] = found
        context["findings_total"] = candidate.total
    if stands and stands.text:
        context["standing"] = stands.text
        context["attempt"] = stands.nth
        context["blocks_after"] = stands.of
    if candidate.intensity == "block" and candidate.rule.overridable:
        context["overridable"] = True
    if candidate.rule.ask:
        context["ask"] = True
    return Signal(header, context, _payload(candidate))


def record(
    candidate: Candidate, signal: Signal, given: Verdict, counted: bool, forget_after: float
) -> dict[str, object]:
    """The log line of a signal (design §7), with what the journal recognises attempts and episodes by."""
    event = candidate.event
    act = candidate.act(clock.parse_iso(str(signal.header["timestamp"])))
    more: dict[str, object] = {
        "rule": candidate.key,
        "declared": candidate.own,
        **records.about(event),
        "message": one_line(signals.reason_of(signal.payload), _LINE),
        "facts": candidate.read(),
        "evidence": act.evidence,
        "policy": candidate.judge.program.policy,
        "origin": candidate.judge.origin,
        "decision": given.decision,
        "paths": [one_line(path, _LINE) for path in candidate.paths()],
        "overridable": candidate.rule.overridable,
        "digest": candidate.rule.digest,
    }
    listed = signal.payload.get("modifications")
    changes = listed if isinstance(listed, list) else []
    optional: dict[str, object] = {
        "issue": event.issue,
        "target": candidate.target,
        "findings": _without_words(signal.context.get("findings")),
        "findings_total": signal.context.get("findings_total"),
        "shadow": candidate.shadow,
        "waived": candidate.waived,
        "advises": candidate.intensity == "control" and candidate.advises,
        "forget_after": forget_after if forget_after != FORGET_AFTER else None,
        "overrides": candidate.override.signal if candidate.override else None,
        "content": candidate.content() if candidate.intensity == "block" and candidate.rule.overridable else None,
        "undecidable": candidate.undecided,
        "given_up": candidate.given_up,
        "modifications": [without_values(m) if is_private(str(m["target"])) else m for m in changes],
    }
    more |= {name: value for name, value in optional.items() if value} | candidate.commits
    if act.head is not None:
        more["head"] = act.head
    if not counted:
        more["counted"] = False
    return records.signal(signal, **more)


def _without_words(found: object) -> object:
    """Findings without the words of commands: they stand in a tool call (design §7)."""
    listed = found if isinstance(found, list) else []
    return [{name: value for name, value in one.items() if name != "words"} for one in listed]


def mended(event: Event, rule: str, episode: str, now: float, about: tuple[int, int] | None) -> dict[str, object]:
    """The log line that ends an episode of a rule, since a clean evaluation was about the same thing (design §8.5).

    `about` is how many of how many files the clean change covers, None where a finding's own file or the issue tells.
    """
    more = {"covered": about[0], "files": about[1]} if about and about[0] else {}
    return records.other(
        "episode-end",
        clock.iso(now),
        hook=event.trigger,
        rule=rule,
        subject=event.subject,
        actor=str(event.actor),
        correlation_id=episode,
        attempt=event.attempt,
        reason="mended",
        **more,
    )


def refuse_going_on(signal: Signal) -> None:
    """Has a warning say no more that the action may go on, nor how often it still may."""
    standing = signal.context.pop("standing", "")
    signal.context.pop("blocks_after", None)
    if "continue_allowed" in signal.payload:
        signal.payload["continue_allowed"] = False
        signal.payload["message"] = str(signal.payload["message"]).removesuffix(f" ({standing})")


def undelivered(candidates: list[Candidate]) -> tuple[dict[str, list[dict[str, str]]], set[str]]:
    """What a verdict record says of rules that are no part of the verdict: those that matched and were not delivered
    (`dropped`), and those that could not be decided (`skipped`); and which facts it must not tell, as a redacting rule
    read them.
    """
    kept = [(c, {"rule": c.key, "why": one_line(why_not(c), _LINE)}) for c in candidates if not c.enforced]
    told = {
        "dropped": [told for c, told in kept if not c.undecided],
        "skipped": [told for c, told in kept if c.undecided],
    }
    return told, {path for c in candidates if c.rule.redact for path in c.rule.reads}


def without_values(modification: Mapping[str, object]) -> dict[str, object]:
    """A modification that tells only digests of what was there and what is there now (design §7)."""
    values = {name: jsontext.encode(modification[name]).encode() for name in ("original", "updated")}
    return {**modification, **{name: digest.tagged(value) for name, value in values.items()}}


def why_not(candidate: Candidate) -> str:
    """Why a matching rule is not part of the verdict."""
    if candidate.dropped:
        return candidate.dropped
    if candidate.shadow:
        return f"shadow: would have been {candidate.intensity}"
    if candidate.waived:
        return f"waived: {candidate.waived}"
    assert candidate.override is not None
    return f"overridden by {candidate.override.by}: {candidate.override.reason}"


def _payload(candidate: Candidate) -> dict[str, object]:
    said = candidate.message()
    if more := candidate.refused or candidate.softened:
        said = f"{said}; {more}"
    if candidate.standing and candidate.standing.text:
        said = f"{said} ({candidate.standing.text})"
    suggestions = candidate.suggestions()
    rule = candidate.rule
    if candidate.intensity == "block":
        steps = candidate.steps() or [str(s["description"]) for s in suggestions]
        return signals.blocking(said, steps, rule.resolvable)
    if candidate.intensity == "control":
        return signals.controlling([{**m, "reason": said} for m in candidate.modifications], rule.reversible)
    if candidate.intensity == "prompt":
        texts = [str(suggestion["description"]) for suggestion in suggestions] or candidate.steps()
        return signals.prompting(said, rule.severity, texts, rule.continue_allowed)
    return signals.aiding(said, suggestions)

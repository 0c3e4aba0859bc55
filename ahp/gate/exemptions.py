"""What excuses a signal: a waiver for a while, a person's override for this once (design §7)."""

from ahp.gate import overrides
from ahp.gate.candidate import Candidate
from ahp.journal.state import State
from ahp.protocol.event import Event
from ahp.system import files

_LIMIT = 1 << 20


def waive(candidates: list[Candidate], event: Event, state: State | None, notes: list[str]) -> None:
    """Marks what `.ahp/waivers.yaml` excuses; warnings about these rules' waivers go to `notes`. Raises PolicyError."""
    data = files.read(f"{event.root}/.ahp/waivers.yaml", _LIMIT)
    if data is None:
        return
    from ahp.gate import waivers

    today = waivers.now()
    given = waivers.parse(data, today=today)
    first_use = state.waived_as if state else lambda name: None
    for candidate in candidates:
        if not candidate.enforced or candidate.rule.locked or candidate.intensity == "allow":
            continue
        waiver = given.find(candidate.key, event.subject, candidate.rule.digest, today, first_use)
        if waiver is not None:
            candidate.waived = waiver.name
    keys = {candidate.key: candidate.rule.digest for candidate in candidates}
    concerned = waivers.Waivers(waivers=[w for w in given.waivers if w.rule in keys])
    notes += concerned.warnings(today, keys)


def override(candidates: list[Candidate], state: State | None, now: float) -> None:
    """Lets a block pass that a person took the risk of, once, for this change."""
    if state is None:
        return
    for candidate in candidates:
        if candidate.enforced and candidate.intensity == "block":
            taken = state.risks_taken(candidate.key)
            if taken:
                candidate.override = overrides.find(taken, candidate.act(now), overridable=candidate.rule.overridable)

"""Which signals the waivers of the policy excuse (design §7)."""

from collections.abc import Callable, Iterable

from ahp.gate.candidate import Candidate
from ahp.journal.state import State
from ahp.policy import waivers


def excuse(
    read: Callable[[str], bytes | None], candidates: list[Candidate], subject: str, state: State | None
) -> list[str]:
    """Marks the candidates that the waivers among the policy's files excuse on `subject`; what is excused, by whom and
    until when, and warnings about these rules' waivers. A locked rule is excused by its organisation alone.

    Raises PolicyError, AhpError.
    """
    today = waivers.now()
    given = waivers.in_force(read, today)
    shared = waivers.Waivers.model_construct(waivers=[one for one in given.waivers if one.repository is not None])
    first_use = state.waived_as if state else lambda name: None
    notes = []
    for candidate in candidates:
        if not candidate.enforced or candidate.intensity == "allow":
            continue
        known = shared if candidate.rule.locked else given
        waiver = known.find(candidate.key, subject, candidate.rule.digest, today, first_use)
        if waiver is not None:
            candidate.waived = waiver.name
            notes.append(f"waived: {waivers.texts([waiver])[0]}")
    digests = {candidate.key: candidate.rule.digest for candidate in candidates}
    return notes + waivers.Waivers(waivers=[w for w in given.waivers if w.rule in digests]).warnings(today, digests)


def not_in_force_yet(data: bytes, delivered: Iterable[Candidate], subject: str, judging: str) -> str:
    """For a person whose own waivers, the bytes `data`, would excuse one of these: which commit makes it so; "" where
    there is none. `judging` names the tree whose waivers count. Raises PolicyError.
    """
    today, given = waivers.now(), waivers.parse(data)
    enforced = [one for one in delivered if one.enforced and not one.rule.locked]
    keys = [one.key for one in enforced if given.find(one.key, subject, one.rule.digest, today)]
    how = f"committed: git add {waivers.PATH} && git commit {waivers.PATH}" if judging == "HEAD" else f"on {judging}"
    return f"your waiver of {', '.join(keys[:3])} takes effect once it is {how}" if keys else ""

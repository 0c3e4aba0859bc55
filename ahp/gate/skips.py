"""A rule that a person skips in advance, for the branch's next commit: `ahp skip`.

It becomes the override that `proceed_with_risk` would have been, for what this attempt is: the digests of the rule and
of the change are known now. It holds until the branch has moved, so an attempt that is given up uses nothing up.
"""

from ahp.gate.candidate import Candidate
from ahp.gate.overrides import Override
from ahp.journal import skips
from ahp.journal.answers import RISK
from ahp.protocol import records
from ahp.protocol.signals import Signal
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS
from ahp.system import reflogs


def find(candidates: list[Candidate], now: float) -> list[str]:
    """Gives an override to those of `candidates` that a person skips: blocks pass, warnings are silent. Returns notes.

    Only for a person's own commit: what an agent would do under it nobody has seen. Raises AhpError.
    """
    wanted = [candidate for candidate in candidates if candidate.rule.overridable and _is_commit_of_a_person(candidate)]
    if not wanted:
        return []
    event = wanted[0].event
    given = skips.given(event.journal, now)
    repo = event.repo
    if not given or repo is None or not (branch := repo.branch()):
        return []
    here = (branch, repo.head_id(), reflogs.mark(repo, branch), now, event.attempt)
    notes = []
    for candidate in wanted:
        own = [skip for skip in given if skip.rule == candidate.key]
        holding = next((skip for skip in own if not skip.why_not(*here)), None)
        if holding is not None:
            told = (candidate.key, candidate.rule.digest, candidate.content(), holding.by, holding.reason)
            candidate.override = Override("", *told, skip=holding.id)
            who = holding.by.partition(":")[2] or "a person"
            notes.append(f"{_name(candidate)} is skipped, as {who} said before: {one_line(holding.reason, 300)}")
        elif own:
            notes.append(f"the skip of {_name(candidate)} does not hold: {own[0].why_not(*here)}")
    return notes


def answer(candidate: Candidate, signal: Signal) -> dict[str, object]:
    """The log line that makes a skip the answer to the `signal` that it let pass."""
    override = candidate.override
    assert override is not None
    of: dict[str, object] = {name: signal.header[name] for name in ("intensity", "source", "id")}
    return records.response(
        {**of, "hook": candidate.event.trigger},
        str(signal.header["timestamp"]),
        RISK,
        override.by,
        rule=candidate.key,
        subject=candidate.event.subject,
        details={"reason": override.reason},
        digest=override.digest,
        content=override.evidence,
        skip=override.skip,
        attempt=candidate.event.attempt,
    )


def _is_commit_of_a_person(candidate: Candidate) -> bool:
    event = candidate.event
    trigger = TRIGGERS[event.trigger]
    return trigger.family == "commit" and not trigger.post and event.actor.kind == "human"


def _name(candidate: Candidate) -> str:
    return one_line(candidate.key, 100)

"""The only way to a verdict (design §2): the light half, which imports almost nothing.  [light]"""

from ahp.conditions.evaluate import set_deadline
from ahp.facts.registry import is_list, undecided
from ahp.gate.hearing import hear
from ahp.gate.match import COUNTED
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
from ahp.policy.judge import digest_beside
from ahp.policy.judges import judges_of
from ahp.protocol.triggers import TRIGGERS
from ahp.protocol.verdict import Verdict
from ahp.system import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ahp.gate.hearing import Hearing
    from ahp.gate.of_commits import OfCommits
    from ahp.journal.index import Index
    from ahp.policy.judge import Judge
    from ahp.protocol.event import Event


def decide(event: "Event", judges: "Sequence[Judge] | None" = None, of_commits: "OfCommits | None" = None) -> Verdict:
    """Judges `event` by every policy of `judges`, the one that counts most first; without them by those of its place.

    `of_commits` is what the rules of commits say of those that a push or a range brings: a part of the verdict.

    Raises PolicyError for an invalid policy, AhpError when a fact or a bound makes judging impossible; a host turns
    either into a refusal.
    """
    if judges is None:
        judges = judges_of(event)
    if of_commits is None and not any(judge.program.rules for judge in judges):
        return _nothing_to_say(event, judges)
    set_deadline(event.deadline)
    hearings = hear(judges, event)
    journal = Journal(event.journal, event.genesis)
    index = journal.index() if event.mode == "real" else None
    skipped = _skipped(event, hearings)
    hits = {hit.key for hearing in hearings for hit in hearing.hits}
    speaks = hits - skipped.keys() or (of_commits is not None and of_commits.speak)
    if not speaks and (index is None or not _is_waited_for(event, judges, journal, index)):
        verdict = _allow(event, hearings, journal, of_commits, skipped)
        return with_places(verdict, hearings)
    from ahp.gate.answer import Answer

    is_replaced = index is not None and journal.tampered(index)
    answer = Answer(event, hearings, journal, is_replaced=is_replaced, of_commits=of_commits)
    while (modified := answer.weigh()) is not None:
        for hearing in hearings:
            hearing.hear(modified)
    verdict = answer.verdict()
    return with_places(verdict, hearings)


def with_places(verdict: Verdict, hearings: "list[Hearing]") -> Verdict:
    """The verdict with where an allowed call has to run, and whether the work tree is saved before it."""
    if not verdict.denied:
        verdict.box, verdict.snapshot = box_of(hearings, "sandbox"), box_of(hearings, "snapshot")
    return verdict


def box_of(hearings: "list[Hearing]", kind: str) -> "dict[str, Any] | None":
    """What becomes of an allowed call: the policy that counts most says so first (`Hearing.box`)."""
    return next((box for hearing in hearings if (box := hearing.box(kind)) is not None), None)


def _skipped(event: "Event", hearings: "list[Hearing]") -> dict[str, str]:
    """The hits on a tool call of which the rich half would say nothing, and why: rules that skip what cannot be known.

    What a shell call writes is often not known. Only of facts that are never logged, for evidence that was there and
    is gone counts (design §4).
    """
    found: dict[str, str] = {}
    if TRIGGERS[event.trigger].family != "tool-use" or event.mode != "real":
        return found
    speaking = set()
    for hearing in hearings:
        skips = {rule.key for rule in hearing.program.rules if rule.skips} if hearing.hits else ()
        for hit in hearing.hits:
            path = hit.undecided.path if hit.undecided is not None and hit.items is None else None
            absent = hearing.facts.missing.get(path or "")
            quiet = absent is not None and not (absent.unknowable or absent.elsewhere)
            if absent is not None and path and quiet and hit.key in skips and is_list(path):
                found[hit.key] = "undecided: " + undecided(absent.reason, absent.command, path)
            else:
                speaking.add(hit.key)
    return {key: why for key, why in found.items() if key not in speaking}


def _is_waited_for(event: "Event", judges: "Sequence[Judge]", journal: Journal, index: "Index") -> bool:
    """Whether the log has an episode that a clean evaluation may end, or does not describe a policy that judges yet."""
    family = TRIGGERS[event.trigger].family
    return (
        index.has_open(family, event.subject, event.actor.kind)
        or journal.tampered(index)
        or (family not in COUNTED and not all(judge.is_described(index) for judge in judges))
    )


def _nothing_to_say(event: "Event", judges: "Sequence[Judge]") -> Verdict:
    verdict = Verdict("allow", event.trigger, event.subject, judges[0].program.policy)
    verdict.working = digest_beside(judges)
    verdict.notes = [note for judge in judges for note in judge.notes]
    return verdict


def _allow(
    event: "Event",
    hearings: "list[Hearing]",
    journal: Journal,
    of_commits: "OfCommits | None",
    skipped: dict[str, str],
) -> Verdict:
    """A clean evaluation: recorded where the past is tried on it later, else only counted."""
    verdict = _nothing_to_say(event, [hearing.judge for hearing in hearings])
    verdict.dropped = [{"rule": key, "why": why} for key, why in skipped.items()]
    if event.mode != "real":
        return verdict
    try:
        if TRIGGERS[event.trigger].family in COUNTED:
            journal.count(event.trigger, str(event.actor), event.session or "", verdict.policy)
        else:
            commits = of_commits.judged if of_commits is not None else 0
            journal.append([hearings[0].facts.verdict_record(clock.now(), working=verdict.working, commits=commits)])
            verdict.notes += [journal.loss] if journal.loss else []
    except JournalUnwritable as error:
        verdict.notes.append(str(error))
    return verdict

"""The only way to a verdict (design §2): the light half, which imports almost nothing."""

from ahp.conditions.evaluate import set_deadline
from ahp.gate.match import COUNTED, Facts, Matcher
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
from ahp.policy import cache
from ahp.protocol.triggers import TRIGGERS
from ahp.protocol.verdict import Verdict
from ahp.system import clock
from ahp.system.digest import tagged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.journal.index import Index
    from ahp.policy.program import Program
    from ahp.protocol.event import Event


_NOTHING = (None, tagged(b""))  # no file, and one of no bytes, as a full disk or a crash leaves it


def program_of(event: "Event") -> "Program":
    """The compiled policy of the event's trigger, compiled anew when the cache does not fit.

    Raises PolicyError, also when the project's policy is in git but gone from the work tree or empty there.
    """
    program = cache.load(event)
    if program is None:
        from ahp.policy.compile import program_for

        program = program_for(event)
    if event.root and event.repo is not None and program.sources[0][1] in _NOTHING:  # no project layer
        from ahp.policy import removed

        removed.refuse(event.repo, event.actor.kind)
    return program


def decide(event: "Event", program: "Program | None" = None) -> Verdict:
    """Judges `event`. A given `program` is used as it is (CI, replay, policy tests).

    Raises PolicyError for an invalid policy, AhpError when a fact or a bound makes judging impossible; a host turns
    either into a refusal.
    """
    if program is None:
        program = program_of(event)
    if not program.rules:
        return Verdict("allow", event.trigger, event.subject, program.policy)
    set_deadline(event.deadline)
    matcher = Matcher(program)
    facts = Facts(program, event)
    hits = matcher.hits(facts)
    journal = Journal(event.journal, event.genesis)
    index = journal.index() if event.mode == "real" else None
    if not hits and (index is None or not _is_waited_for(event, journal, index)):
        return _allow(event, program, facts, journal)
    from ahp.gate.answer import Answer

    answer = Answer(event, program, matcher, journal, is_replaced=index is not None and journal.tampered(index))
    while (modified := answer.weigh(facts, hits)) is not None:
        facts = Facts(program, modified)
        hits = matcher.hits(facts)
    return answer.verdict()


def _is_waited_for(event: "Event", journal: Journal, index: "Index") -> bool:
    """Whether the log has something that a clean evaluation may have to answer: an episode to end, aids to deliver."""
    return (
        index.has_open(TRIGGERS[event.trigger].family, event.subject, event.actor.kind)
        or index.has_pending(event.session, event.subject)
        or journal.tampered(index)
    )


def _allow(event: "Event", program: "Program", facts: Facts, journal: Journal) -> Verdict:
    """A clean evaluation: recorded where the past is tried on it later, else only counted."""
    verdict = Verdict("allow", event.trigger, event.subject, program.policy)
    if event.mode != "real":
        return verdict
    try:
        if TRIGGERS[event.trigger].family in COUNTED:
            journal.count(event.trigger, str(event.actor), event.session or "", program.policy)
        else:
            journal.append([facts.verdict_record(clock.now())])
    except JournalUnwritable as error:
        verdict.notes.append(str(error))
    return verdict

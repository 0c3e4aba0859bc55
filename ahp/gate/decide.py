"""The only way to a verdict (design §2): the light half, which imports almost nothing."""

from ahp.conditions.evaluate import set_deadline
from ahp.gate.facts import Facts
from ahp.gate.match import Matcher
from ahp.journal.append import Journal
from ahp.journal.index import JournalUnwritable
from ahp.policy import cache
from ahp.protocol import records
from ahp.protocol.triggers import TRIGGERS
from ahp.protocol.verdict import Verdict
from ahp.system import clock
from ahp.system.digest import tagged

TYPE_CHECKING = False
if TYPE_CHECKING:
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

        removed.refuse(event.repo)
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
    if not hits and not _episode_open(event, journal):
        return _allow(event, program, facts, journal)
    from ahp.gate.answer import Answer

    answer = Answer(event, program, matcher)
    while (modified := answer.weigh(facts, hits)) is not None:
        facts = Facts(program, modified)
        hits = matcher.hits(facts)
    return answer.verdict()


def _episode_open(event: "Event", journal: Journal) -> bool:
    """Whether a signal of this subject still waits for its reset."""
    if event.mode != "real":
        return False
    index = journal.index()
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
        _record(event, program, facts, journal)
    except JournalUnwritable as error:
        verdict.notes.append(str(error))
    return verdict


def _record(event: "Event", program: "Program", facts: Facts, journal: Journal) -> None:
    """Appends the verdict record of an evaluation without signals. Raises JournalUnwritable."""
    if TRIGGERS[event.trigger].family in ("tool-use", "session-start", "prompt-submit"):
        journal.count(event.trigger, event.actor.kind, event.session or "")
        return
    more = {"policy": program.policy, "host": event.host, "actor": str(event.actor), "attempt": event.attempt}
    if event.view is not None:
        more["change"] = event.view.change().digest
    stamp = clock.iso(clock.now())
    journal.append([records.verdict(stamp, event.trigger, "allow", event.subject, facts.scalars(), **more)])

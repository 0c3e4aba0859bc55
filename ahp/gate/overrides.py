"""`proceed_with_risk`: a person lets one rule pass once, for this tree, and the commit says so (design §7).

Light: commit-msg asks for trailers on every commit that it judges.
"""

from ahp.journal.append import Journal
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ahp.journal.logged_signal import Act, LoggedSignal
    from ahp.protocol.event import Event

TRAILER = "Ahp-Override"
_REASON = 300


class Override:
    """A person's leave for one rule: the id of the signal that it answers, the rule, who gave it and why."""

    __slots__ = ("by", "reason", "rule", "signal")

    def __init__(self, signal: str, rule: str, by: str, reason: str) -> None:
        self.signal, self.rule, self.by, self.reason = signal, rule, by, reason

    @property
    def trailer(self) -> str:
        """The line that a commit made under this override carries."""
        return f"{TRAILER}: {one_line(self.rule)} {one_line(self.reason, _REASON)}"


def find(risks: "Iterable[LoggedSignal]", act: "Act", *, overridable: bool) -> "Override | None":
    """The override that lets `act` pass, among the `proceed_with_risk` answers to this rule (`State.risks_taken`).

    It must be for the same change (without one, the same evidence) and not be spent by another attempt: the hooks of
    one git command are one. One for a push holds as often as that is tried: what the remote has is no part of the
    next push's change. Always None for a rule that cannot be overridden.
    """
    for signal in risks if overridable else ():
        if not _tree(act) or _tree(signal.act) != _tree(act):
            continue
        if signal.spent is None or signal.spent.same(act) or TRIGGERS[act.hook].family == "push":
            return _override(signal)
    return None


def trailers(event: "Event") -> list[str]:
    """The trailer lines that the commit of a commit-msg event has to carry: one for each override that it passed under.

    Raises AhpError when the log cannot be read.
    """
    journal = Journal(event.journal, event.genesis)
    if not journal.index().has_open(TRIGGERS[event.trigger].family, event.subject, event.actor.kind):
        return []  # what passes under an override has an episode that is still open
    from ahp.journal.state import State

    change = event.view.change().digest if event.view is not None else ""
    with State.open(journal) as state:
        used = [
            _override(signal) for signal in state.risks_taken(None) if signal.spent and signal.spent.change == change
        ]
    return list(dict.fromkeys(override.trailer for override in used)) if change else []


def _override(signal: "LoggedSignal") -> Override:
    return Override(signal.id, signal.rule, signal.by, str((signal.details or {}).get("reason") or ""))


def _tree(act: "Act") -> str:
    return act.change or act.evidence

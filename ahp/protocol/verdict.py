"""The outcome of an event (design §7).  [light]"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ahp.protocol.event import Event
    from ahp.protocol.signals import Signal


class Verdict:
    """What the gate answers a host.

    `decision` is allow, suggest, warn, allow_with_modification or deny; `modifications` those a host has to apply, in
    order; `dropped` the rules that matched and were not delivered, each `{"rule", "why"}`; `notes` sentences about the
    judging itself (an unrecorded prompt, a last good policy), never about a rule. `policy` is the digest of the policy
    that counts most, `working` that of a work tree's which was asked beside it, "" where none was. `modified` is the
    event after the modifications, None when there are none; `trailers` are lines that the commit's message has to
    carry. `settle` puts what fixers changed where it belongs, given whether the event is allowed, and gives what is to
    be noted. `is_logged` says that the log knows the signals by their ids, so that they can be answered. `box` is where
    an allowed call has to run: the `rule` that says so, the `keys` of the box, what becomes of it `otherwise`.
    """

    __slots__ = (
        "box",
        "decision",
        "dropped",
        "is_logged",
        "modifications",
        "modified",
        "notes",
        "policy",
        "settle",
        "signals",
        "snapshot",
        "subject",
        "trailers",
        "trigger",
        "working",
    )

    def __init__(
        self,
        decision: str,
        trigger: str,
        subject: str,
        policy: str,
        signals: "list[Signal] | None" = None,
        modifications: list[dict[str, object]] | None = None,
        notes: list[str] | None = None,
    ) -> None:
        self.decision, self.trigger, self.subject, self.policy = decision, trigger, subject, policy
        self.signals = signals or []
        self.modifications = modifications or []
        self.dropped: list[dict[str, str]] = []
        self.notes = notes or []
        self.working = ""
        self.modified: Event | None = None
        self.settle: Callable[[bool], list[str]] | None = None
        self.trailers: list[str] = []
        self.is_logged = True
        self.box: dict[str, Any] | None = None
        self.snapshot: dict[str, Any] | None = None

    @property
    def denied(self) -> bool:
        return self.decision == "deny"

    def as_dict(self) -> dict[str, object]:
        """The verdict as JSON shows it; `notes` only when there are any."""
        shown: dict[str, object] = {
            "decision": self.decision,
            "trigger": self.trigger,
            "subject": self.subject,
            "signals": [signal.as_dict() for signal in self.signals],
            "modifications": self.modifications,
            "dropped": self.dropped,
            "policy": self.policy,
        }
        if self.working:
            shown["working"] = self.working
        if self.box is not None:
            shown["box"] = self.box
        if self.snapshot is not None:
            shown["snapshot"] = {name: self.snapshot[name] for name in ("rule", "otherwise")}
        if self.notes:
            shown["notes"] = self.notes
        return shown

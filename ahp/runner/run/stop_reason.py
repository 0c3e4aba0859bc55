"""The ends of a run that are not its success."""

from collections.abc import Iterable

from ahp.system.errors import AhpError


class Stop(AhpError):
    """Ends the run in BLOCKED from any depth: `reason` is its stop_reason, `advice` a sentence for the person.

    `overridable` are the ids of the signals that a person could let pass.
    """

    def __init__(self, reason: str, advice: str, overridable: Iterable[str] = ()) -> None:
        super().__init__(f"{reason}: {advice}")
        self.reason = reason
        self.advice = advice
        self.overridable = list(overridable)

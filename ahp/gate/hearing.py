"""What one judge finds in an event: the facts under its policy, and which of its rules match.  [light]"""

from ahp.gate.match import Facts, Matcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ahp.gate.match import Hit
    from ahp.policy.judge import Judge
    from ahp.protocol.event import Event


class Hearing:
    """One judge's part in deciding an event, over as many rounds as control actions need.

    What the hearing `beside` has gathered already, of the same event, is not gathered again.
    """

    __slots__ = ("_beside", "_boxing", "facts", "judge", "matcher", "program")

    def __init__(self, judge: "Judge", event: "Event", beside: "Hearing | None" = None) -> None:
        self.judge, self.program, self._beside = judge, judge.program, beside
        self._boxing = {rule.key: rule.box for rule in self.program.rules if rule.box is not None}
        self.matcher = Matcher(self.program)
        self.facts: Facts
        self.hear(event)

    def hear(self, event: "Event") -> None:
        """Asks every rule about `event`, with the facts of the hearing beside, which has heard it already."""
        self.facts = Facts(self.program, event, self._beside.facts if self._beside else None)
        self.matcher.run(self.facts)

    @property
    def hits(self) -> "list[Hit]":
        """The rules that match, or could not be decided, in the program's order; none that has no signal."""
        boxing = self._boxing
        return [hit for hit in self.matcher.hits if hit.key not in boxing] if boxing else self.matcher.hits

    def box(self, kind: str) -> "dict[str, Any] | None":
        """What the first rule with the action `kind`, `sandbox` or `snapshot`, wants: its `rule`, `keys`, `otherwise`.

        One that cannot be decided holds: a box keeps more from happening than none.
        """
        for hit in self.matcher.hits if self._boxing else ():
            told = self._boxing.get(hit.key)
            if told is not None and told["type"] == kind:
                return {"rule": hit.key, "keys": told["keys"], "otherwise": told["otherwise"]}
        return None


def hear(judges: "Sequence[Judge]", event: "Event") -> list[Hearing]:
    """The hearings of `judges`, each beside the first."""
    first = Hearing(judges[0], event)
    return [first, *[Hearing(judge, event, first) for judge in judges[1:]]]

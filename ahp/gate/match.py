"""Which rules match: the sole evaluator in production (design §2).

A rule whose `when` or condition cannot be decided for want of a fact is a hit too: the answer turns it into a signal
of the rule's `on_missing` intensity. Nothing here reads a policy's text or decides an intensity.
"""

from ahp.conditions.evaluate import Bound, Undecided, build, build_each

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ahp.gate.facts import Facts
    from ahp.policy.cache import Program


class Hit:
    """A rule that is true (`undecided` None; `items` what an `each` found), or could not be decided, and why.

    `bound` is set when its condition exceeded a limit: the event is refused then (design §5).
    """

    __slots__ = ("bound", "items", "key", "undecided")

    def __init__(
        self,
        key: str,
        undecided: "Undecided | None" = None,
        items: "list[object] | None" = None,
        bound: "Bound | None" = None,
    ) -> None:
        self.key, self.undecided, self.items, self.bound = key, undecided, items, bound


class _Rule:
    """A rule of the program, built to run."""

    __slots__ = ("condition", "costly", "each", "key", "when")

    def __init__(self, data: "dict[str, Any]", slot_of: dict[str, int]) -> None:
        self.key: str = data["key"]
        self.when: int = data["when"]
        self.costly: bool = data["costly"]
        self.condition: Callable[[list[object]], bool] | None = None
        self.each: Callable[[list[object]], tuple[list[object], Undecided | None]] | None = None
        if data["each"] is None:
            self.condition = build(data["plan"], slot_of)
        else:
            self.each = build_each(data["each"][1], data["plan"], data["each"][0], slot_of)


class Matcher:
    """The rules of one program as closures over fact slots, built once and run as often as the event is judged.

    `filtered` are the keys that a `when` kept from being asked in the last run.
    """

    __slots__ = ("_rules", "_whens", "filtered")

    def __init__(self, program: "Program") -> None:
        slot_of = {path: index for index, path in enumerate(program.slots)}
        self._rules = [_Rule(data, slot_of) for data in program.rules]
        self.filtered: set[str] = set()
        self._whens = [build(plan, slot_of) for plan in program.whens]

    def hits(self, facts: "Facts") -> list[Hit]:
        """The hits, in the program's order.

        Costly facts are gathered only when a rule that reads them is undecided without.
        """
        self.filtered.clear()
        hits = self._run(self._rules, facts.slots)
        if not any(hit.undecided is not None for hit in hits):
            return hits
        open_keys = {hit.key for hit in hits if hit.undecided is not None}
        waiting = [rule for rule in self._rules if rule.costly and rule.key in open_keys]
        if not waiting:
            return hits
        facts.gather_costly()
        keys = {rule.key for rule in waiting}
        hits = [hit for hit in hits if hit.key not in keys] + self._run(waiting, facts.slots)
        order = {rule.key: index for index, rule in enumerate(self._rules)}
        return sorted(hits, key=lambda hit: order[hit.key])

    def _run(self, rules: list[_Rule], slots: list[object]) -> list[Hit]:
        whens = [_decide(when, slots) for when in self._whens]
        hits: list[Hit] = []
        for rule in rules:
            holds: bool | Undecided = True
            if rule.when >= 0:
                holds = whens[rule.when]
                if holds is False:
                    self.filtered.add(rule.key)
                    continue
            try:
                if rule.condition is not None:
                    if rule.condition(slots):
                        hits.append(Hit(rule.key, None if holds is True else holds))  # type: ignore[arg-type]
                    continue
                items, doubt = rule.each(slots)  # type: ignore[misc]
            except Undecided as error:
                hits.append(Hit(rule.key, error))
                continue
            except Bound as error:
                hits.append(Hit(rule.key, bound=error))
                continue
            if items:
                hits.append(Hit(rule.key, None if holds is True else holds, items))  # type: ignore[arg-type]
            elif doubt is not None:
                hits.append(Hit(rule.key, doubt))
        return hits


def _decide(condition: "Callable[[list[object]], bool]", slots: list[object]) -> "bool | Undecided":
    """Kleene's third value is the exception that says what was missing; a filter past its bounds counts as unknown."""
    try:
        return condition(slots) is True
    except Undecided as error:
        return error
    except Bound as error:
        return Undecided("bound", str(error))

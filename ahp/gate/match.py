"""Which rules match an event's facts: the sole evaluator in production (design §2).  [light]

Facts are a list of slots, of which the costly ones are filled only where a rule is undecided without them. A rule whose
`when` or condition cannot be decided for want of a fact is a hit too: the answer turns it into a signal of the rule's
`on_missing` intensity. Nothing here reads a policy's text or decides an intensity.
"""

from ahp.conditions.evaluate import MISSING, Bound, Undecided, build, build_each
from ahp.conditions.language import children, with_children
from ahp.facts import registry
from ahp.facts.gather import gather
from ahp.facts.registry import Absent
from ahp.protocol import records
from ahp.system import clock, patience
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ahp.facts.registry import Settings
    from ahp.policy.program import Program, RulePlan
    from ahp.protocol.event import Event


# Families of triggers whose clean evaluations are only counted: there are too many to record each.
COUNTED = ("tool-use", "session-start", "prompt-submit")


class Facts:
    """Values by slot (`MISSING` where absent), and why each absent one is: `(reason, command that makes it)`.

    Costly namespaces (commands) stay missing until `gather_costly`: a rule that is decided without them, by Kleene's
    logic, would be decided the same with them. What the facts `beside`, of the same event under another policy, know
    already is not gathered again where both policies mean the same by it.
    """

    __slots__ = ("begun", "beside", "event", "missing", "program", "slots", "values")

    def __init__(self, program: "Program", event: "Event", beside: "Facts | None" = None) -> None:
        self.program, self.event, self.begun, self.beside = program, event, clock.monotonic(), beside
        self.values: dict[str, object] = {}
        self.missing: dict[str, Absent] = {}
        self.slots: list[object] = []
        costly = program.costly
        program.settings.compare_policies = _compare_policies
        self._gather({name: fields for name, fields in program.reads.items() if name not in costly}, program.settings)

    def gather_costly(self) -> None:
        """Fills the slots of the costly namespaces; commands that nobody accepted stay missing."""
        from ahp.policy import trust

        costly = self.program.costly
        reads = {name: fields for name, fields in self.program.reads.items() if name in costly}
        self._gather(reads, self.program.settings.but(trusted=trust.checker(self.event)))

    def also(self, paths: list[str]) -> None:
        """Gathers what only a message names, once a rule has matched; commands are not run for a sentence."""
        unknown = [path for path in paths if path not in self.values and path not in self.missing]
        for namespace, fields in registry.by_namespace(unknown).items():
            if namespace in self.program.settings.commands:
                continue
            try:
                self._gather({namespace: fields}, self.program.settings)
            except AhpError as error:  # the sentence says "(unknown)"; the rule has matched without it
                self.missing.update({f"{namespace}.{field}": Absent(str(error)) for field in fields})

    def _gather(self, reads: dict[str, list[str]], settings: "Settings") -> None:
        if self.beside is not None:
            reads = self._take_over(reads, self.beside)
        values, missing = gather(reads, self.event, settings)
        self.values.update(values)
        self.missing.update(missing)
        get = self.values.get
        self.slots = [get(path, MISSING) for path in self.program.slots]

    def _take_over(self, reads: dict[str, list[str]], known: "Facts") -> dict[str, list[str]]:
        """Takes what `known` has of `reads`; the rest."""
        left: dict[str, list[str]] = {}
        for namespace, fields in reads.items():
            alike = registry.alike(namespace, self.program.settings, known.program.settings)
            for field in fields:
                path = f"{namespace}.{field}" if field else namespace
                if alike and path in known.values:
                    self.values[path] = known.values[path]
                elif alike and path in known.missing:
                    self.missing[path] = known.missing[path]
                else:
                    left.setdefault(namespace, []).append(field)
        return left

    def verdict_record(
        self,
        now: float,
        decision: str = "allow",
        *,
        hidden: "set[str] | None" = None,
        **more: object,
    ) -> dict[str, object]:
        """The log line of the evaluation (design §7); `hidden` are facts that it must not tell, `more` what else it
        tells: `working`, the digest of a work tree's policy that was asked beside, rules `dropped` and `skipped`, how
        many `commits` were judged with it.
        """
        told = {path: value for path, value in self.scalars().items() if not hidden or path not in hidden}
        ms = (clock.monotonic() - self.begun) * 1000
        more["environment"] = self._environment()
        return records.verdict(clock.iso(now), self.event, decision, self.program.policy, told, ms, **more)

    def _environment(self) -> str:
        """The named environment, "" where it cannot be told."""
        if not self.program.settings.environment:
            return "development"
        from ahp.facts import environment

        named = environment.name_of(self.event, self.program.settings)
        return named if isinstance(named, str) else ""

    def scalars(self) -> dict[str, object]:
        """The facts a log line may hold: numbers, truth values and short words, never contents (design §7)."""
        return {path: _bare(value) for path, value in self.values.items() if _loggable(path, value)}


def _compare_policies(event: "Event") -> dict[str, object]:
    from ahp.policy import weakening

    return weakening.facts(event)


def _loggable(path: str, value: object) -> bool:
    if registry.is_private(path):
        return False
    return value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 200)


def _bare(value: object) -> object:
    """A value without the passwords of addresses."""
    if not isinstance(value, str) or "://" not in value:
        return value
    from ahp.protocol.text import without_credentials

    return without_credentials(value)


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
    """A rule of the program, built when it is first asked. `pending` are the namespaces that it is asked without.

    `listed` is the slot of the fact whose items its `each` takes, -1 where it takes no plain fact: a rule about the
    items of an empty list has nothing to say.
    """

    __slots__ = ("_pending", "_plan", "_slot_of", "condition", "costly", "each", "is_built", "key", "listed", "when")

    def __init__(self, rule: "RulePlan", slot_of: dict[str, int], pending: "list[str] | None" = None) -> None:
        self.key, self.when, self.costly = rule.key, rule.when, rule.costly
        self._plan, self._slot_of, self._pending = rule, slot_of, pending
        self.condition: Callable[[list[object]], bool] | None = None
        self.each: Callable[[list[object]], tuple[list[object], Undecided | None]] | None = None
        self.is_built = False
        items = rule.items
        self.listed = slot_of.get(items[1], -1) if items is not None and items[0] == "fact" else -1

    def build(self) -> None:
        """Makes its closure."""
        rule, pending = self._plan, self._pending
        plan = left_open(rule.plan, pending) if pending else rule.plan
        if rule.items is None:
            self.condition = build(plan, self._slot_of)
        else:
            items = left_open(rule.items, pending) if pending else rule.items
            self.each = build_each(items, plan, rule.var, self._slot_of)
        self.is_built = True

    def source(self) -> str:
        """The fact whose items its `each` takes, where it reads nothing else of that fact: what it says of some of the
        items does not hang on the others. "" where it does.
        """
        items = self._plan.items
        return items[1] if items is not None and items[0] == "fact" and not _names(self._plan.plan, items[1]) else ""


class Matcher:
    """The rules of one program as closures over fact slots, built once and run as often as the event is judged.

    `hits` are those of the last run in the program's order, `filtered` the keys that a `when` kept from being asked in
    it.
    """

    __slots__ = ("_program", "_rules", "_slot_of", "_whens", "filtered", "hits")

    def __init__(self, program: "Program") -> None:
        self._program, costly = program, program.costly
        self._slot_of = slot_of = {path: index for index, path in enumerate(program.slots)}
        self._rules = [_Rule(rule, slot_of, costly if rule.costly else None) for rule in program.rules]
        self.hits: list[Hit] = []
        self.filtered: set[str] = set()
        self._whens = [build(left_open(plan, costly) if costly else plan, slot_of) for plan in program.whens]

    def run(self, facts: Facts) -> list[Hit]:
        """Asks every rule; the hits.

        Costly facts are gathered only when a rule that reads them is undecided without.
        """
        self.filtered.clear()
        self.hits = hits = self._run(self._rules, self._whens, facts)
        open_keys = {hit.key for hit in hits if hit.undecided is not None}
        keys = {rule.key for rule in self._rules if rule.costly and rule.key in open_keys}
        if keys:
            facts.gather_costly()
            waiting = [_Rule(rule, self._slot_of) for rule in self._program.rules if rule.key in keys]
            whens = [build(plan, self._slot_of) for plan in self._program.whens]
            order = {rule.key: index for index, rule in enumerate(self._program.rules)}
            hits = [hit for hit in hits if hit.key not in keys] + self._run(waiting, whens, facts)
            self.hits = sorted(hits, key=lambda hit: order[hit.key])
        return self.hits

    def _run(self, rules: list[_Rule], filters: "list[Callable[[list[object]], bool]]", facts: Facts) -> list[Hit]:
        slots = facts.slots
        whens = [_decide(when, slots) for when in filters]
        hits: list[Hit] = []
        for rule in rules:
            holds: bool | Undecided = True
            if rule.when >= 0:
                holds = whens[rule.when]
                if holds is False:
                    self.filtered.add(rule.key)
                    continue
            if rule.listed >= 0 and type(listed := slots[rule.listed]) is list and not listed:
                continue
            patience.doing = f"the rule `{rule.key}`"
            if not rule.is_built:
                rule.build()
            try:
                if rule.condition is not None:
                    if rule.condition(slots):
                        hits.append(Hit(rule.key, None if holds is True else holds))  # type: ignore[arg-type]
                    continue
                items, doubt = rule.each(slots)  # type: ignore[misc]
            except Undecided as error:
                hit = _in_part(rule, slots, self._slot_of, facts) or Hit(rule.key, error)
                hit.undecided = hit.undecided or (None if holds is True else holds)  # type: ignore[assignment]
                hits.append(hit)
                continue
            except Bound as error:
                hits.append(Hit(rule.key, bound=error))
                continue
            if items:
                hits.append(Hit(rule.key, None if holds is True else holds, items))  # type: ignore[arg-type]
            elif doubt is not None:
                hits.append(Hit(rule.key, doubt))
        return hits


def _in_part(rule: _Rule, slots: list[object], slot_of: dict[str, int], facts: Facts) -> Hit | None:
    """What an `each` finds among the items that are known of a list too long to read; None where it finds nothing."""
    source = rule.source()
    absent = facts.missing.get(source)
    if absent is None or absent.known is None or rule.each is None:
        return None
    known = list(slots)
    known[slot_of[source]] = absent.known
    try:
        items, _ = rule.each(known)
    except Bound as error:
        return Hit(rule.key, bound=error)
    return Hit(rule.key, items=items) if items else None


def _decide(condition: "Callable[[list[object]], bool]", slots: list[object]) -> "bool | Undecided":
    """Kleene's third value is the exception that says what was missing; a filter past its bounds counts as unknown."""
    try:
        return condition(slots) is True
    except Undecided as error:
        return error
    except Bound as error:
        return Undecided("bound", str(error))


def left_open(plan: "list[Any]", pending: "list[str]") -> "list[Any]":
    """The plan with `has` and `default` of the facts `pending`, namespaces, left undecided: they may still be there."""
    op = plan[0]
    if op in ("has", "default") and _reads(plan[1], pending):
        return ["==", plan[1], plan[1]] if op == "has" else plan[1]
    return with_children(plan, [left_open(child, pending) for child in children(plan)])


def _names(plan: "list[Any]", path: str) -> bool:
    if plan[0] == "fact":
        return bool(plan[1] == path)
    return any(_names(child, path) for child in children(plan))


def _reads(plan: "list[Any]", namespaces: "list[str]") -> bool:
    if plan[0] == "fact":
        return plan[1].partition(".")[0] in namespaces
    return any(_reads(child, namespaces) for child in children(plan))

"""The tests of a policy, `.ahp/tests/*.yaml`: facts, and what the policy is to say of them (design §10)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from ahp.facts import schemas
from ahp.policy.model_types import Keys, Text
from ahp.policy.problems import Place, PolicyError, Problem, nearest, quoted
from ahp.policy.rule import Policy
from ahp.policy.shape import mistakes
from ahp.policy.vocabulary import Vocabulary
from ahp.policy.yamltext import decode, parse
from ahp.protocol.triggers import TRIGGERS
from ahp.system.yamltree import Node

FOLDER = ".ahp/tests"
MAX_BYTES = 1 << 20
_AT_MOST = 5000


class ExpectedSignal(Keys):
    """One signal that must come."""

    rule: Text
    """The rule's id; in the protocol's form `oracle/id`."""
    intensity: Literal["block", "control", "prompt", "aid"] | None = None
    """Its level; any when absent."""
    findings: Annotated[int, Field(ge=0)] | None = None
    """How many items an `each` rule must place; any number when absent."""


class Expected(Keys):
    """What the policy is to say."""

    decision: Literal["allow", "suggest", "warn", "allow_with_modification", "deny"] | None = None
    """The outcome; any when absent."""
    signals: Annotated[list[ExpectedSignal], Field(max_length=100)] | None = None
    """All signals, in any order; an empty list means silence. Not looked at when absent."""
    box: bool | None = None
    """Whether the call has to run in a box; not looked at when absent."""
    snapshot: bool | None = None
    """Whether the work tree is saved before the call; not looked at when absent."""


class CaseKeys(Keys):
    """One test."""

    name: Text
    """What holds, in a few words."""
    trigger: Text
    """Where the policy is asked."""
    facts: dict[str, Any] = Field(default={})
    """Namespaces with their facts. One that is not given is as at an event that changes nothing, or absent."""
    expect: Expected
    """What must come of it."""


@dataclass(frozen=True, slots=True)
class Case:
    """One test with its place."""

    keys: CaseKeys
    place: Place


_LIST = TypeAdapter(Annotated[list[CaseKeys], Field(max_length=_AT_MOST)])


def read(data: bytes, name: str, policy: Policy) -> list[Case]:
    """The tests in a file, held against the policy they speak of.

    Raises PolicyError with every mistake at its place: keys, triggers, facts and rules that do not exist.
    """
    node = parse(data, name)
    if node is None:
        return []
    if not isinstance(node.value, list):
        raise PolicyError([Problem(node.place, "policy tests are a list: `- {name, trigger, facts, expect}`")])
    seen: dict[int, type] = {}
    plain = node.plain()
    try:
        found = _LIST.validate_python(plain, context=seen)
    except ValidationError as error:
        raise PolicyError(mistakes(error, node, plain, seen, decode(data, name))) from None
    cases = [Case(keys, node.at((index,)).place) for index, keys in enumerate(found)]
    problems = [problem for index, case in enumerate(cases) for problem in _held(case, index, node, policy)]
    if problems:
        raise PolicyError(problems)
    return cases


def _held(case: Case, index: int, node: Node, policy: Policy) -> Iterable[Problem]:
    trigger = case.keys.trigger
    if trigger not in TRIGGERS:
        what = f"there is no trigger {quoted(trigger)}{nearest(trigger, TRIGGERS)}"
        yield Problem(node.at((index, "trigger")).place, what)
        return
    known = {path: dict(entry) for path, entry in schemas.schema_for(trigger).items()}
    known |= Vocabulary(policy.raw).own_entries
    for namespace, given in case.keys.facts.items():
        where: tuple[str | int, ...] = (index, "facts", namespace)
        if namespace == "limits":
            yield Problem(node.key_place(where), "limits are the policy's; a test cannot give other ones")
        elif namespace != "environment":
            yield from _facts(namespace, given, where, node, known)
    rules = {rule.key for rule in policy.at(trigger)}
    for number, signal in enumerate(case.keys.expect.signals or ()):
        if signal.rule not in rules:
            what = f"no rule {quoted(signal.rule)} is asked at {trigger}{nearest(signal.rule, rules)}"
            yield Problem(node.at((index, "expect", "signals", number, "rule")).place, what)


def _facts(
    path: str, given: object, where: tuple[str | int, ...], node: Node, known: Mapping[str, Any]
) -> Iterable[Problem]:
    if path in known:
        fields = known[path].get("fields")
        for number, item in enumerate(given if fields and isinstance(given, list) else ()):
            for field in item if isinstance(item, Mapping) else ():
                if field not in fields:
                    what = f"items of `{path}` have no `{field}`{nearest(str(field), fields)}"
                    yield Problem(node.key_place((*where, number, field)), what)
        return
    below = [name for name in known if name.startswith(path + ".")]
    if below and isinstance(given, Mapping):
        for field, value in given.items():
            yield from _facts(f"{path}.{field}", value, (*where, field), node, known)
    elif below:
        yield Problem(node.key_place(where), f"`{path}` is a mapping of facts, not {quoted(given)}")
    else:
        elsewhere = schemas.where(path)
        hint = f"; it is known at {', '.join(elsewhere)}" if elsewhere else nearest(path, known)
        yield Problem(node.key_place(where), f"no fact `{path}` can be had here{hint}")

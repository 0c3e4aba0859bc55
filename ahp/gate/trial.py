"""A policy on trial: each test's facts judged by the gate's own evaluator, and what of the policy that reached."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ahp.facts import commit, schemas
from ahp.facts.registry import declared
from ahp.gate.answer import Answer
from ahp.gate.facts import Facts
from ahp.gate.match import Matcher
from ahp.policy import compile as compiling
from ahp.policy.cache import Program
from ahp.policy.cases import Case
from ahp.policy.rule import Policy
from ahp.protocol.actor import Actor
from ahp.protocol.event import Event
from ahp.protocol.signals import reason_of
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.system import clock
from ahp.system.errors import AhpError

_BUDGET = 60.0
_NOWHERE = "/nonexistent"  # a test has no work tree: nothing of this machine may decide it


class Outcome(NamedTuple):
    """One test: what the policy said (None when it could not judge) and what of it was not expected."""

    case: Case
    verdict: Verdict | None
    faults: list[str]


class Reached(NamedTuple):
    """How often a rule was asked in the tests, and how often it spoke; a shadow rule speaks to the log."""

    rule: str
    trigger: str
    asked: int
    spoke: int


class Softened(NamedTuple):
    """How often `rule` spoke for `other` (a refinement)."""

    rule: str
    other: str
    trigger: str
    times: int


class Report(NamedTuple):
    """All tests and what they reached."""

    outcomes: list[Outcome]
    rules: list[Reached]
    refinements: list[Softened]

    @property
    def failed(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.faults]


def run(policy: Policy, cases: Iterable[Case]) -> Report:
    """Judges every case by `policy`. Never raises for what a case holds: that is one of its faults."""
    programs = compiling.programs(policy)
    outcomes = [_try(case, programs[case.keys.trigger]) for case in cases]
    asked = Counter(outcome.case.keys.trigger for outcome in outcomes if outcome.verdict is not None)
    spoke: Counter[tuple[str, str]] = Counter()
    refined: Counter[tuple[str, str, str]] = Counter()
    for outcome in outcomes:
        if outcome.verdict is not None:
            spoke.update((outcome.case.keys.trigger, rule) for rule in _spoke(outcome.verdict))
            refined.update((outcome.case.keys.trigger, *pair) for pair in _refined(outcome.verdict))
    rules, refinements = [], []
    for trigger, program in programs.items():
        assert program.answers is not None
        for entry in program.rules:
            key = entry["key"]
            rules.append(Reached(key, trigger, asked[trigger], spoke[trigger, key]))
            for other in program.answers["rules"][key]["refines"]:
                refinements.append(Softened(key, other, trigger, refined[trigger, key, other]))
    return Report(outcomes, rules, refinements)


def judge(case: Case, program: Program) -> Verdict:
    """What `program` says of the facts of `case`. Raises AhpError for a fact of the wrong type."""
    facts = case.keys.facts
    tool = facts.get("tool")
    message = _message(facts.get("commit"))
    event = Event(
        case.keys.trigger,
        "test",
        Actor("human"),
        root=_NOWHERE,
        journal=_NOWHERE,
        env={},
        deadline=clock.monotonic() + _BUDGET,
        mode="replay",
        draft=None if message is None else message.encode("utf-8", "surrogateescape"),
        tool=_call(tool) if isinstance(tool, Mapping) else None,
    )
    event.given = _given(event, facts)
    matcher = Matcher(program)
    seen = Facts(program, event)
    answer = Answer(event, program, matcher)
    while (modified := answer.weigh(seen, matcher.hits(seen))) is not None:
        modified.given = _given(modified, facts)
        seen = Facts(program, modified)
    return answer.verdict()


def _try(case: Case, program: Program) -> Outcome:
    try:
        verdict = judge(case, program)
    except AhpError as error:
        return Outcome(case, None, [f"cannot be judged: {str(error).removeprefix('--facts: ')}"])
    return Outcome(case, verdict, _faults(case, verdict))


def _faults(case: Case, verdict: Verdict) -> list[str]:
    expect = case.keys.expect
    faults = []
    if expect.decision is not None and verdict.decision != expect.decision:
        faults.append(f"decision: expected {expect.decision}, got {verdict.decision}")
    if expect.signals is None:
        return faults
    left = list(verdict.signals)
    for wanted in expect.signals:
        found = next((signal for signal in left if signal.context["rule"] == wanted.rule), None)
        if found is None:
            why = next((one["why"] for one in verdict.dropped if one["rule"] == wanted.rule), "its condition is false")
            faults.append(f"missing signal: {wanted.rule} ({one_line(why)})")
            continue
        left.remove(found)
        if wanted.intensity is not None and found.intensity != wanted.intensity:
            faults.append(f"{wanted.rule}: expected {wanted.intensity}, got {found.intensity}")
        total = found.context.get("findings_total", 0)
        if wanted.findings is not None and total != wanted.findings:
            faults.append(f"{wanted.rule}: expected {wanted.findings} findings, got {total}")
    for signal in left:
        said = one_line(reason_of(signal.payload))
        faults.append(f"unexpected signal: {signal.context['rule']} ({signal.intensity}): {said}")
    return faults


def _spoke(verdict: Verdict) -> set[str]:
    """The rules that matched; one that could not be decided did not."""
    said = {str(signal.context["rule"]) for signal in verdict.signals if not signal.context.get("undecidable")}
    return said | {one["rule"] for one in verdict.dropped if not one["why"].startswith("undecided: ")}


def _refined(verdict: Verdict) -> set[tuple[str, str]]:
    found = set()
    for one in verdict.dropped:
        if one["why"].startswith("refined by "):
            found.add((one["why"].removeprefix("refined by ").partition(" (")[0], one["rule"]))
    return found


def _given(event: Event, facts: Mapping[str, Any]) -> dict[str, dict[str, object]]:
    """The facts of the case as the event stands now, after what control actions changed in it."""
    given: dict[str, dict[str, object]] = {name: {} for name, one in declared().items() if not one.assumed}
    for namespace, fields in facts.items():
        given[namespace] = _filled(namespace, fields) if isinstance(fields, Mapping) else {"": fields}
    if event.draft is not None:
        text = event.draft.decode("utf-8", "surrogateescape")
        given["commit"] = {"is_merge": False, **facts["commit"], **commit.parts(text)}
    if event.tool is not None:
        given["tool"] = _filled("tool", _call(event.tool))
    return given


def _message(fields: object) -> str | None:
    """The message that a case gives, whole or as subject and body."""
    if not isinstance(fields, Mapping):
        return None
    if "message" in fields:
        return str(fields["message"])
    if "subject" not in fields:
        return None
    body = str(fields.get("body", ""))
    return f"{fields['subject']}\n" + (f"\n{body}\n" if body else "")


def _call(tool: Mapping[str, Any]) -> dict[str, object]:
    """A tool call as an agent's adapter would tell it: `{command: …}` is a shell call, and its commands are read."""
    call: dict[str, object] = {"input": {}, "paths": [], "writes": [], **tool}
    given = call["input"]
    command = given.get("command") if isinstance(given, dict) else None
    command = command if isinstance(command, str) else tool.get("command", "")
    call["command"] = command
    call.setdefault("name", "shell" if command else "other")
    call.setdefault("native_name", call["name"])
    if isinstance(given, dict) and command:
        call["input"] = {**given, "command": command}
    if command or "commands" not in tool:
        from ahp.shell import commands

        call["commands"] = [one.as_fact() for one in commands.read(str(command))] if command else []
    return call


_PLAIN: dict[str, object] = {"int": 0, "float": 0.0, "bool": False, "str": "", "list[str]": []}


def _filled(namespace: str, fields: Mapping[str, Any]) -> dict[str, object]:
    """`fields` with the keys that a record leaves out: `{path: a.py, text: x}` is an added line, of number 1."""
    known = schemas.schema_all()
    found: dict[str, object] = {}
    for field, value in fields.items():
        record = known.get(f"{namespace}.{field}", {}).get("fields")
        if isinstance(record, dict) and isinstance(value, list):
            plain = {name: _default(entry) for name, entry in record.items()}
            value = [{**plain, **item} if isinstance(item, Mapping) else item for item in value]
        found[field] = value
    return found


def _default(entry: Mapping[str, Any]) -> object:
    if entry.get("nullable"):
        return None
    return entry["enum"][0] if "enum" in entry else entry.get("min") or _PLAIN[entry["type"]]

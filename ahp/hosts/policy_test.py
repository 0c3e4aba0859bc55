"""Policy tests: `.ahp/tests/*.yaml` of the project, or files named, judged by the gate itself (design §10).

A test's event has no repository, and of this machine nothing decides it: what it does not state is absent, or as it is
at an event that changes nothing.
"""

import os
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ahp.facts.registry import declared
from ahp.gate.decide import decide
from ahp.hosts import asking, given_facts
from ahp.hosts.policy_here import named
from ahp.policy import cases, examples, layers
from ahp.policy import compile as compiling
from ahp.policy.cases import Case
from ahp.policy.diff import Change
from ahp.policy.judge import WORKING, Judge
from ahp.policy.problems import Place, PolicyError, Problem
from ahp.policy.program import Program
from ahp.policy.rule import Policy
from ahp.policy.sources import FileSource
from ahp.protocol.event import Actor, Workspace
from ahp.protocol.signals import Signal, reason_of
from ahp.protocol.text import one_line
from ahp.protocol.verdict import Verdict
from ahp.system import files, jsontext
from ahp.system.errors import AhpError
from ahp.system.view import Unchanged

_BUDGET = 60.0
_NOWHERE = "/nonexistent"
_UNDECIDED = ("undecided: ", "not decidable here: ")  # how the reason begins why such a rule says nothing


class Outcome(NamedTuple):
    """One test: what the policy said (None when it could not judge) and what of it was not expected."""

    case: Case
    verdict: Verdict | None
    faults: list[str]


class Reached(NamedTuple):
    """How often a rule was asked in the tests, how often it spoke, and how often it could not be decided, whatever it
    said then; a shadow rule speaks to the log.
    """

    rule: str
    trigger: str
    asked: int
    spoke: int
    undecided: int
    own: bool = True
    """Whether its condition is the project's own, not a pack's."""


class Report(NamedTuple):
    """All tests and what they reached."""

    outcomes: list[Outcome]
    rules: list[Reached]

    @property
    def failed(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.faults]


def rehearse(paths: tuple[str, ...], policy_file: str | None) -> Report:
    """Runs the tests in `paths`, or all of the project's, against its policy or that of `policy_file`.

    The user's and the local layer take no part: a test says the same on every machine. Raises PolicyError with the
    mistakes of policy and tests, AhpError when there is no test.
    """
    root = asking.around(os.getcwd()).root or os.getcwd()
    policy = named(policy_file) if policy_file else _project(root)
    found = [(path, os.path.abspath(path)) for path in paths] or _of_project(root)
    if not found:
        raise AhpError(f"there are no tests: write {cases.FOLDER}/NAME.yaml (docs/testing-policies.md)")
    read, problems = _read(found, policy)
    if problems:
        raise PolicyError(problems)
    if not read:
        raise AhpError(f"there is no test in {', '.join(one_line(name) for name, _ in found)}")
    return run(policy, read)


def mistakes(root: str) -> list[Problem]:
    """What is wrong with the tests of the project at `root`, none of which is run; nothing where its policy is."""
    try:
        found = _of_project(root)
        return _read(found, _project(root))[1] if found else []
    except PolicyError:
        return []  # which is told before its tests
    except AhpError as error:
        return [Problem(Place(cases.FOLDER), str(error))]


def _read(found: Iterable[tuple[str, str]], policy: Policy) -> tuple[list[Case], list[Problem]]:
    """The tests of files, by name and path, and every mistake in them."""
    read: list[Case] = []
    problems: list[Problem] = []
    for name, path in found:
        try:
            data = files.read(path, cases.MAX_BYTES)
            if data is None:
                raise AhpError("there is no such file")
            read += cases.read(data, name, policy)
        except PolicyError as error:
            problems += error.problems
        except AhpError as error:
            problems.append(Problem(Place(name), str(error)))
    return read, problems


def _project(root: str) -> Policy:
    source = FileSource(root)
    source.paths = {"project": source.paths["project"]}
    return layers.load(source)


def _of_project(root: str) -> list[tuple[str, str]]:
    folder = os.path.join(root, cases.FOLDER)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith((".yaml", ".yml")))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise AhpError(f"cannot list {folder}: {error.strerror}") from None
    return [(f"{cases.FOLDER}/{name}", os.path.join(folder, name)) for name in names]


def run(policy: Policy, cases: Iterable[Case]) -> Report:
    """Judges every case by `policy`. Never raises for what a case holds: that is one of its faults."""
    programs = compiling.programs(policy)
    outcomes = [_try(case, programs[case.keys.trigger]) for case in cases]
    asked = Counter(outcome.case.keys.trigger for outcome in outcomes if outcome.verdict is not None)
    spoke: Counter[tuple[str, str]] = Counter()
    undecided: Counter[tuple[str, str]] = Counter()
    for outcome in outcomes:
        if outcome.verdict is not None:
            spoke.update((outcome.case.keys.trigger, rule) for rule in _spoke(outcome.verdict))
            undecided.update((outcome.case.keys.trigger, rule) for rule in _undecided(outcome.verdict))
    own = {(rule.trigger, rule.key) for rule in policy.rules if not rule.layer.startswith("pack ")}
    rules = []
    for trigger, program in programs.items():
        for entry in program.rules:
            key, at = entry.key, (trigger, entry.key)
            rules.append(Reached(key, trigger, asked[trigger], spoke[at], undecided[at], at in own))
    return Report(outcomes, rules)


def example(change: Change, old: Policy, new: Policy) -> str:
    """A test, ready for `.ahp/tests/`, of what a changed rule does: it holds by the policy `new` and fails by `old`.

    "" where the example of the change gives none: both policies say the same of its facts, or they cannot be stated.
    """
    if (given := examples.facts_of(change, new)) is None:
        return ""
    keys = {"name": f"{change.key} after its change", "trigger": change.trigger, "facts": given}
    now, was = (compiling.programs(policy)[change.trigger] for policy in (new, old))

    def case(expect: dict[str, object]) -> tuple[str, Case]:
        text = f"- {jsontext.encode(keys | {'expect': expect})}"
        return text, cases.read(text.encode(), cases.FOLDER, new)[0]

    try:
        said = judge(case({})[1], now)
        signals = [{"rule": one.context["rule"], "intensity": one.intensity} for one in said.signals]
        tried = [case({"decision": said.decision}), case({"signals": signals})]
    except AhpError:
        return ""
    return next((text for text, one in tried if _try(one, was).faults), "")


def judge(case: Case, program: Program) -> Verdict:
    """What `program` says of the facts of `case`. Raises AhpError for a fact of the wrong type."""
    where = Workspace(_NOWHERE, _NOWHERE, {})
    event = asking.event(case.keys.trigger, "test", Actor("human"), where, mode="replay", budget=_BUDGET)
    event.view = Unchanged()
    given_facts.state(event, case.keys.facts, {name: {} for name, one in declared().items() if not one.assumed})
    return decide(event, [Judge(program, WORKING)])


def _try(case: Case, program: Program) -> Outcome:
    try:
        verdict = judge(case, program)
    except AhpError as error:
        return Outcome(case, None, [f"cannot be judged: {error}"])
    return Outcome(case, verdict, _faults(case, verdict))


def _faults(case: Case, verdict: Verdict) -> list[str]:
    expect = case.keys.expect
    faults = []
    for name in ("box", "snapshot"):
        wanted, got = getattr(expect, name), getattr(verdict, name) is not None
        if wanted is not None and wanted != got:
            faults.append(f"{name}: expected one, got none" if wanted else f"{name}: expected none, got one")
    if expect.decision is not None and verdict.decision != expect.decision:
        faults.append(f"decision: expected {expect.decision}, got {verdict.decision}")
        if expect.signals is None:  # else each is compared below
            faults += [f"got signal: {_said(signal)}" for signal in verdict.signals]
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
    return [*faults, *(f"unexpected signal: {_said(signal)}" for signal in left)]


def _said(signal: Signal) -> str:
    return f"{signal.context['rule']} ({signal.intensity}): {one_line(reason_of(signal.payload))}"


def _spoke(verdict: Verdict) -> set[str]:
    """The rules that matched; one that could not be decided did not."""
    told = {str(signal.context["rule"]) for signal in verdict.signals} | {one["rule"] for one in verdict.dropped}
    told |= {str(one["rule"]) for one in (verdict.box, verdict.snapshot) if one is not None}
    return told - _undecided(verdict)


def _undecided(verdict: Verdict) -> set[str]:
    """The rules that could not be decided, also those that say nothing then."""
    said = {str(signal.context["rule"]) for signal in verdict.signals if signal.context.get("undecidable")}
    return said | {one["rule"] for one in verdict.dropped if one["why"].startswith(_UNDECIDED)}

"""`ahp check --all`: the rules of a change, asked of a tree as it is, as if one commit had brought all of it.

Only a change removes lines, has a size, or changes policy and dependencies: rules that read those are not asked. A rule
with `each` over lines judges one file after the other, so that a large tree needs no more memory than its largest file.
"""

from __future__ import annotations

from typing import NamedTuple

from ahp.facts import registry
from ahp.gate import signalling
from ahp.gate.asked import Change, Context, asked
from ahp.gate.candidate import Candidate
from ahp.gate.rendering import some
from ahp.hosts import asking
from ahp.hosts.ci.report import Report, Result, RuleText, report, result, rule_text
from ahp.hosts.verdict_text import name_of, steps_of
from ahp.policy import policies
from ahp.policy.judge import Judge
from ahp.policy.judges import judges_of
from ahp.policy.policies import Policies
from ahp.policy.program import RuleAnswer
from ahp.protocol.event import Workspace, identify
from ahp.protocol.text import one_line
from ahp.system import clock, worktree
from ahp.system.errors import AhpError
from ahp.system.terminal import Seen
from ahp.system.worktree import FilesView

TRIGGERS = ("pre-commit", "pre-merge-commit", "pre-push", "pre-merge")
"""Whose rules are asked, each rule at the first that has it."""
LINES = frozenset({"diff.added", "debuggers.added"})
_FILES = ("changed", "added", "changes", "binary", "largest_bytes", "lfs")
_REPORTS = ("tests", "coverage")
_OF_CHANGES = frozenset({"commit", "push", "deps", "policy", "tool", "files", "diff", "debuggers", "content"})
_PREVIOUS = "coverage.previous"
_BUDGET = 3600.0  # s
_PLACES = 1000  # listed of a rule
_NAMED = 5


class Found(NamedTuple):
    """What one rule says of some files; `unknowable` where they themselves make it so.

    Of a rule that could not be decided and is skipped for that, `undecided` says why, and nothing else counts.
    """

    result: Result
    unknowable: bool
    undecided: str = ""


def check(where: Workspace, seen: Seen) -> Report:
    """What the policy says of the tree of `where`; `seen` is told how many files are done, and of how many.

    Exit code 1 where a rule would block, 2 where one that would block could not be decided. Raises AhpError.
    """
    if where.repo is None:
        raise AhpError("there is no git repository here, so nothing tells which files belong to the tree")
    if not where.repo.root:
        raise AhpError("this repository is bare: there is no tree here; ahp ci judges its commits")
    return _Check(where).report(seen)


class _Check:
    def __init__(self, where: Workspace) -> None:
        assert where.repo is not None
        self._repo, self._base = where.repo, where.repo.empty_tree()
        self._paths, self._untracked = worktree.listed(where.repo)
        self._rules: dict[str, RuleText] = {}
        self._not_asked: dict[str, None] = {}
        event = asking.event(TRIGGERS[0], "cli", identify(where.env), where, mode="dry", budget=_BUDGET)
        self._context = Context(event, triggers=TRIGGERS)
        alone: dict[str, list[Judge]] = {}
        together: dict[str, list[Judge]] = {}
        known: set[str] = set()
        for trigger in TRIGGERS:
            alone[trigger], together[trigger] = self._sorted(trigger, known)
        self._alone, self._together = Policies(alone.__getitem__), Policies(together.__getitem__)

    def _sorted(self, trigger: str, known: set[str]) -> tuple[list[Judge], list[Judge]]:
        """The judges of a trigger, once with the rules of single files and once with the rules of all files together.

        `known` has the rules of earlier triggers: they are left out.
        """
        event = self._context.event.but(trigger=trigger)
        alone: list[Judge] = []
        together: list[Judge] = []
        for judge in judges_of(event):
            rules = judge.answers(event).rules
            here = {plan.key for plan in judge.program.rules} - known
            plan = asked_of_a_tree({key: rules[key] for key in here})
            self._not_asked |= dict.fromkeys(name_of(key) for key in sorted(plan.not_asked))
            for keys, to in ((plan.each_file, alone), (plan.all_files, together)):
                to.append(_only(judge, keys))
                self._rules |= {name_of(key): rule_text(name_of(key), rules[key]) for key in sorted(keys)}
        known |= {rule.key for judge in (*alone, *together) for rule in judge.program.rules}
        return alone, together

    def report(self, seen: Seen) -> Report:
        results: dict[tuple[str, str, str], Found] = {}
        for number, path in enumerate(self._paths, 1):
            try:
                _add(results, self._ask([path], self._alone))
            except AhpError as error:
                raise AhpError(f"{one_line(path, 200)}: {error}") from error
            seen(number, len(self._paths))
        _add(results, self._ask(self._paths, self._together))
        return self._told(list(results.values()))

    def _ask(self, paths: list[str], policies: Policies) -> list[Found]:
        view = FilesView(self._repo, self._base, paths)
        told = asked(Change(dict.fromkeys(TRIGGERS, view)), policies, self._context)
        return [found for candidate in told if (found := _found(candidate)) is not None]

    def _told(self, found: list[Found]) -> Report:
        results = [one.result for one in found if not one.undecided]
        blocking = [
            one for one in found if one.result.level == "block" and not one.undecided and not one.result.excused
        ]
        code = 2 if any(one.unknowable for one in blocking) else 1 if blocking else 0
        undecided = [
            f"{one.result.rule} is not decided: {one.undecided.removeprefix('cannot tell: ')}"
            for one in found
            if one.undecided
        ]
        notes = [*self._context.notes, *undecided]
        if self._not_asked:
            named = list(self._not_asked)
            about = (
                "rules are about changes and not about a tree, and are"
                if len(named) > 1
                else "rule is about a change and not about a tree, and is"
            )
            notes.append(f"{len(named)} {about} not asked: {some(named, _NAMED)}")
        many = f"{len(self._paths)} file{'s' if len(self._paths) != 1 else ''} of the work tree"
        told = f"{many}, {self._untracked} of them not tracked" if self._untracked else many
        return report(told, code, list(self._rules.values()), results, notes)


class Plan(NamedTuple):
    """Which rules are asked, by key: of `each_file` alone, of `all_files` together; and those that are `not_asked`."""

    each_file: set[str]
    all_files: set[str]
    not_asked: set[str]


def asked_of_a_tree(rules: dict[str, RuleAnswer]) -> Plan:
    """How these rules, by key, are asked of a tree."""
    found = Plan(set(), set(), set())
    for key, rule in rules.items():
        reads = set(rule.reads)
        has_fixer = rule.action is not None and rule.action.command is not None
        if not _is_of_a_tree(reads) or has_fixer:  # a fixer runs only where the commit is made
            found.not_asked.add(key)
        elif rule.each and reads & LINES and (rule.each.partition(" in ")[2].strip() in LINES):
            found.each_file.add(key)
        else:
            found.all_files.add(key)
    return found


def _is_of_a_tree(reads: set[str]) -> bool:
    """Whether a rule reads what a tree has, and nothing that only a change has."""
    known = {path for path in reads if _is_told(path)}
    return bool(known) and not any(path.partition(".")[0] in _OF_CHANGES or path == _PREVIOUS for path in reads - known)


def _is_told(path: str) -> bool:
    name, _, field = path.partition(".")
    if name == "files":
        return field in _FILES
    return (
        path in LINES
        or (name == "content" and field.startswith("after"))
        or (name in _REPORTS and path != _PREVIOUS)
        or not registry.is_known(name)
    )


def _only(judge: Judge, keys: set[str]) -> Judge:
    """The judge with no other rules than those of `keys`; its commands stay."""
    program = policies.only(judge.program, keys)
    program.settings = judge.program.settings
    made = Judge(program, judge.origin, judge.tree, excusing=judge.excusing, adds=judge.adds)
    made.notes = judge.notes
    return made


def _found(candidate: Candidate) -> Found | None:
    """What a candidate says; None for one that another rule speaks for, or that is only tried out."""
    name = name_of(candidate.key)
    if candidate.dropped or candidate.shadow or candidate.intensity == "allow":
        if not candidate.undecided or candidate.shadow:
            return None
        return Found(Result(name, "allow", "", [], [], 0), False, candidate.message())
    told = signalling.signal(candidate, clock.now())
    excused = f"waived: {candidate.waived}" if candidate.waived else ""
    return Found(result(told, name, steps_of(told.payload), excused), candidate.unknowable)


def _add(results: dict[tuple[str, str, str], Found], more: list[Found]) -> None:
    """Takes up what was found in further files: of one rule all places, under the words of the first.

    What could not be read stays told for each file.
    """
    for one in more:
        said = one.result.message if one.unknowable else one.result.excused or one.undecided
        key = (one.result.rule, one.result.level, said)
        known = results.get(key)
        if known is None:
            results[key] = one
            continue
        places = [*known.result.places, *one.result.places][:_PLACES]
        total = known.result.total + one.result.total
        results[key] = Found(
            known.result._replace(places=places, total=total), known.unknowable or one.unknowable, known.undecided
        )

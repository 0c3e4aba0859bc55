"""`ahp check --all`: what the policy says of the tree as it is, its files shared out among processes.

The processes are forked when everything is ready, so each has the compiled policies; they send back what was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from signal import SIG_IGN, SIGINT, signal
from typing import NamedTuple

from ahp.gate import of_tree, signalling
from ahp.gate.asked import Change, Context, asked
from ahp.gate.candidate import Candidate
from ahp.hosts import asking
from ahp.hosts.ci.report import Report, Result, RuleText, report, result, rule_text
from ahp.hosts.verdict_text import name_of, steps_of
from ahp.policy import policies
from ahp.policy.judge import Judge, judges_of
from ahp.policy.policies import Policies
from ahp.protocol.event import Workspace, identify
from ahp.protocol.text import one_line
from ahp.system import clock, process, whole_tree
from ahp.system.errors import AhpError
from ahp.system.terminal import Seen
from ahp.system.whole_tree import FilesView

_BUDGET = 3600.0  # s
_AT_ONCE = 100  # files in a message to a process
_WORTH_SHARING = 400  # files
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
        self._paths, self._untracked = whole_tree.listed(where.repo)
        self._rules: dict[str, RuleText] = {}
        self._not_asked: dict[str, None] = {}
        event = asking.event(of_tree.TRIGGERS[0], "cli", identify(where.env), where, mode="dry", budget=_BUDGET)
        self._context = Context(event, triggers=of_tree.TRIGGERS)
        alone: dict[str, list[Judge]] = {}
        together: dict[str, list[Judge]] = {}
        known: set[str] = set()
        for trigger in of_tree.TRIGGERS:
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
            plan = of_tree.plan({key: rules[key] for key in here})
            self._not_asked |= dict.fromkeys(name_of(key) for key in sorted(plan.not_asked))
            for keys, to in ((plan.each_file, alone), (plan.all_files, together)):
                to.append(_only(judge, keys))
                self._rules |= {name_of(key): rule_text(name_of(key), rules[key]) for key in sorted(keys)}
        known |= {rule.key for judge in (*alone, *together) for rule in judge.program.rules}
        return alone, together

    def report(self, seen: Seen) -> Report:
        results: dict[tuple[str, str, str], Found] = {}
        for found in self._of_each_file(seen):
            _add(results, found)
        _add(results, self._ask(self._paths, self._together))
        return self._told(list(results.values()))

    def _of_each_file(self, seen: Seen) -> list[list[Found]]:
        """What the rules of single files say, in the order of the files."""
        parts = [self._paths[at : at + _AT_ONCE] for at in range(0, len(self._paths), _AT_ONCE)]
        workers = min(process.processors(), len(parts))
        if workers < 2 or len(self._paths) < _WORTH_SHARING:
            found = []
            for number, part in enumerate(parts, 1):
                found.append(self.of_files(part))
                seen(min(number * _AT_ONCE, len(self._paths)), len(self._paths))
            return found
        return self._shared_out(parts, workers, seen)

    def _shared_out(self, parts: list[list[str]], workers: int, seen: Seen) -> list[list[Found]]:
        global _working
        _working = self
        found: dict[int, list[Found]] = {}
        with ProcessPoolExecutor(workers, get_context("fork"), signal, (SIGINT, SIG_IGN)) as pool:
            waiting = {pool.submit(_of_part, part): number for number, part in enumerate(parts)}
            try:
                for done in as_completed(waiting):
                    told, notes, wrong = done.result()
                    if wrong:
                        raise AhpError(wrong)
                    self._context.notes |= dict.fromkeys(notes)
                    found[waiting[done]] = told
                    seen(min(len(found) * _AT_ONCE, len(self._paths)), len(self._paths))
            except BrokenProcessPool:
                raise AhpError(
                    "a process that judged was killed, as for want of memory: the tree is not judged"
                ) from None
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return [found[number] for number in range(len(parts))]

    @property
    def notes(self) -> list[str]:
        """What there is to say beside the rules, such as of waivers that cannot be read."""
        return list(self._context.notes)

    def of_files(self, paths: Sequence[str]) -> list[Found]:
        """What the rules say of each of some files alone. Raises AhpError, which names the file."""
        results: dict[tuple[str, str, str], Found] = {}
        for path in paths:
            try:
                _add(results, self._ask([path], self._alone))
            except AhpError as error:
                raise AhpError(f"{one_line(path, 200)}: {error}") from error
        return list(results.values())

    def _ask(self, paths: list[str], policies: Policies) -> list[Found]:
        view = FilesView(self._repo, self._base, paths)
        told = asked(Change(dict.fromkeys(of_tree.TRIGGERS, view)), policies, self._context)
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
        notes = [*self.notes, *undecided]
        if self._not_asked:
            named = list(self._not_asked)
            more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
            about = (
                "rules are about changes and not about a tree, and are"
                if len(named) > 1
                else "rule is about a change and not about a tree, and is"
            )
            notes.append(f"{len(named)} {about} not asked: {', '.join(named[:_NAMED])}{more}")
        many = f"{len(self._paths)} file{'s' if len(self._paths) != 1 else ''} of the work tree"
        told = f"{many}, {self._untracked} of them not tracked" if self._untracked else many
        return report(told, code, list(self._rules.values()), results, notes)


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


_working: _Check | None = None
"""What the forked processes ask."""


def _of_part(paths: Sequence[str]) -> tuple[list[Found], list[str], str]:
    """What a forked process found in its files, the notes so far, or why it could not judge."""
    assert _working is not None
    try:
        return _working.of_files(paths), _working.notes, ""
    except AhpError as error:
        return [], [], str(error)

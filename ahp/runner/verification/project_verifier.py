"""Runs the checks of a project: what is remembered does not run, what a change suggests runs first, then all."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ahp.protocol.text import one_line
from ahp.runner.verification import check_settings, running, vanished
from ahp.runner.verification.check import Check
from ahp.runner.verification.detection import find_checks
from ahp.runner.verification.project import Project
from ahp.runner.verification.remembered import Remembered
from ahp.runner.verification.result import CheckResult, VerificationResult, combined, counted, title
from ahp.runner.verification.suggested import test_files
from ahp.system.git import Repository

NOTHING = "there is nothing to verify: no tests and no linter of a kind that ahp knows were found"

_SUGGESTED = (
    "A person has to see that nothing is left out which the change might break; commit the settings by themselves."
)
_TOLD = 5


class ProjectVerifier:
    """The checks of the project at `root` as it is now.

    Checks run with `env`. `since` is a commit that counts as what was there before the change. `variables` are names of
    further ones that results hang on. `tell` hears what is begun, in words, with how much is done of how much.
    """

    def __init__(
        self,
        root: str,
        env: Mapping[str, str],
        *,
        since: str = "",
        variables: Sequence[str] = (),
        use_cache: bool = True,
        narrow: bool = True,
        repository: Repository | None = None,
        tell: Callable[[str, int, int], None] = lambda what, done, total: None,
    ) -> None:
        self._env = running.environment(env)
        self._project = Project(root, since, repository)
        self.checks = find_checks(self._project, self._env)
        self._variables, self._use_cache, self._narrow, self._tell = variables, use_cache, narrow, tell

    def verify(self, seconds: float, only: Sequence[str] = ()) -> VerificationResult:
        """What the checks of these names or kinds (none: all) find in at most `seconds`."""
        checks = [check for check in self.checks if not only or check.name in only or check.kind in only]
        if not checks:
            said = NOTHING if not only else f"there is nothing to verify: no tests of {', '.join(only)} were found"
            return VerificationResult("no_tests", said, suggestion="Write a test.")
        deadline = time.monotonic() + seconds
        memory = Remembered(self._project, self._env, self._variables, use=self._use_cache)
        known = {id(check): memory.passed(check) for check in checks}
        early = self._suggested([check for check in checks if known[id(check)] is None], memory, deadline)
        if early is not None:
            return early
        found = []
        for at, check in enumerate(checks):
            result = known[id(check)]
            if result is None:
                self._tell(title(check.name, check.directory), at, len(checks))
                result = running.run(check, self._project.root, self._env, deadline - time.monotonic())
                memory.keep(check, result)
            result = self._weighed(check, result)
            found.append((_part(check, result), result))
        told = combined(found)
        gone = vanished.tests(self._project) if told.ok and any(check.kind == "tests" for check in checks) else []
        if gone:
            said = f"The change takes {counted(len(gone), 'test')} away: {_listed(gone)}."
            told = replace(told, cautions=[*told.cautions, said])
        return told

    def _weighed(self, check: Check, result: VerificationResult) -> VerificationResult:
        """A pass is none where the change itself says that tests, which are there, are not to run."""
        if not result.ok or check.kind != "tests":
            return result
        own = [path for path in result.left_out if path in self._project.changed]
        if own:
            said = f"The change has test files that did not run: {_listed(own)}."
            result = replace(result, cautions=[said])
        altered = check_settings.altered(self._project, check.directory)
        if not altered:
            return result
        places = _listed([one.told for one in altered])
        narrowed = result.left_out and any(one.names for one in altered)
        by_exit_code = check.name in ("npm-test", "make-test") and any(one.command for one in altered)
        if narrowed or by_exit_code or any(one.in_place for one in altered):
            told = f"{result.summary}; the change alters how they are run: {places}"
            return replace(result, type="weakened", summary=told, suggestion=_SUGGESTED)
        return replace(result, cautions=[*result.cautions, f"The change alters how {check.name} is run: {places}."])

    def _suggested(self, checks: list[Check], memory: Remembered, deadline: float) -> VerificationResult | None:
        """What the suggested tests of these checks find, if that is something wrong: then the others need not run."""
        red = []
        for check in checks if self._narrow else ():
            chosen = test_files(self._project, check, memory.failed(check))
            if not chosen:
                continue
            what = f"{title(check.name, check.directory)}, {counted(len(chosen), 'file')} that the change suggests"
            self._tell(what, 0, len(checks))
            result = running.run(check, self._project.root, self._env, deadline - time.monotonic(), chosen)
            if result.red:
                told = f"{result.summary}, in {len(chosen)} of {len(check.files)} test files; the others did not run"
                result = replace(result, scope="suggested", summary=told)
                memory.keep(check, result)
                red.append((_part(check, result), result))
        return combined(red) if red else None


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return ", ".join(one_line(name, 200) for name in names[:_TOLD]) + more


def _part(check: Check, result: VerificationResult) -> CheckResult:
    return CheckResult(
        check.name, check.directory, check.command, result.type, result.summary, result.scope, result.cached
    )

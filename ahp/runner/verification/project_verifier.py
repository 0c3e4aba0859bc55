"""Runs the checks of a project: what is remembered does not run, what a change suggests runs first, then all."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ahp.runner.verification import running
from ahp.runner.verification.check import Check
from ahp.runner.verification.detection import find_checks
from ahp.runner.verification.project import Project
from ahp.runner.verification.remembered import Remembered
from ahp.runner.verification.result import CheckResult, VerificationResult, combined, counted, title
from ahp.runner.verification.suggested import test_files
from ahp.system.git import Repository

NOTHING = "there is nothing to verify: no tests and no linter of a kind that ahp knows were found"


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
            found.append((_part(check, result), result))
        return combined(found)

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


def _part(check: Check, result: VerificationResult) -> CheckResult:
    return CheckResult(
        check.name, check.directory, check.command, result.type, result.summary, result.scope, result.cached
    )

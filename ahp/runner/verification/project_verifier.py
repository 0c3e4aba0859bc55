"""Runs the checks of a project: what is remembered does not run."""

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ahp.protocol.text import one_line
from ahp.runner.verification import check_settings, running
from ahp.runner.verification.check import Check
from ahp.runner.verification.command_checks import NamedCheck
from ahp.runner.verification.detection import find_checks
from ahp.runner.verification.project import Project
from ahp.runner.verification.remembered import Remembered
from ahp.runner.verification.result import CheckResult, VerificationResult, combined, counted, title
from ahp.system.git import Repository

NOTHING = "there is nothing to verify: no tests and no linter of a kind that ahp knows were found"

_SUGGESTED = (
    "A person has to see that nothing is left out which the change might break; commit the settings by themselves."
)
_TOLD = 5
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]{1,200})'")


class ProjectVerifier:
    """The checks of the project at `root` as it is now.

    Checks run with `env`. `since` is a commit that counts as what was there before the change. `variables` are names of
    further ones that results hang on, `named` the checks of the settings. `tell` hears what is begun, in words, with
    how much is done of how much.
    """

    def __init__(
        self,
        root: str,
        env: Mapping[str, str],
        *,
        since: str = "",
        variables: Sequence[str] = (),
        use_cache: bool = True,
        repository: Repository | None = None,
        named: Sequence[NamedCheck] = (),
        tell: Callable[[str, int, int], None] = lambda what, done, total: None,
    ) -> None:
        self._env = running.environment(env)
        self._project = Project(root, since, repository)
        self.checks = find_checks(self._project, self._env, named)
        self._variables, self._use_cache, self._tell = variables, use_cache, tell

    def verify(self, seconds: float, only: Sequence[str] = ()) -> VerificationResult:
        """What the checks of these names or kinds (none: all) find in at most `seconds`."""
        checks = [check for check in self.checks if not only or check.name in only or check.kind in only]
        if not checks:
            said = NOTHING if not only else f"there is nothing to verify: no tests of {', '.join(only)} were found"
            return VerificationResult("no_tests", said, suggestion="Write a test.")
        deadline = time.monotonic() + seconds
        memory = Remembered(self._project, self._env, self._variables, use=self._use_cache)
        known = {id(check): memory.passed(check) for check in checks}
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
        gone = vanished_tests(self._project) if told.ok and any(check.kind == "tests" for check in checks) else []
        if gone:
            said = f"The change takes {counted(len(gone), 'test')} away: {_listed(gone)}."
            told = replace(told, cautions=[*told.cautions, said])
        return told

    def _weighed(self, check: Check, result: VerificationResult) -> VerificationResult:
        """A pass is none where the change itself says that tests, which are there, are not to run.

        Nor is it red that packages are missing here which are none of the project's, if that is all.
        """
        if result.type == "collection_error" or (result.type == "test_failure" and not check.files):
            return self._or_lacking(result)
        if not result.ok or check.kind != "tests":
            return result
        own = [path for path in result.left_out if path in self._project.changed]
        if own:
            said = f"The change has test files that did not run: {_listed(own)}."
            result = replace(result, cautions=[*result.cautions, said])
        altered = check_settings.altered(self._project, check.directory)
        if not altered:
            return result
        places = _listed([one.told for one in altered])
        narrowed = result.left_out and any(one.names for one in altered)
        by_exit_code = not check.files and any(one.command for one in altered)
        if narrowed or by_exit_code or any(one.in_place for one in altered):
            told = f"{result.summary}; the change alters how they are run: {places}"
            return replace(result, type="weakened", summary=told, suggestion=_SUGGESTED)
        return replace(result, cautions=[*result.cautions, f"The change alters how {check.name} is run: {places}."])

    def _or_lacking(self, result: VerificationResult) -> VerificationResult:
        """Tests that lack packages cannot run here, be it their own; what the change itself has is its own to mend."""
        by_exit_code = result.type == "test_failure"  # then only the last line says what ended it
        lacking = [
            _NO_MODULE.findall(one.error if by_exit_code else f"{one.error}\n{one.context}") for one in result.details
        ]
        names = list(dict.fromkeys(found[-1].partition(".")[0] for found in lacking if found))
        own = any(one.file in self._project.changed for one in result.details) or not self._project.has_before
        if own or not names or not all(lacking) or any(map(self._project.has_moved, names)):
            return result
        said = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not installed: {result.summary}"
        return replace(result, type="tool_missing", summary=said, suggestion="Install what the tests need.")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return ", ".join(one_line(name, 200) for name in names[:_TOLD]) + more


def _part(check: Check, result: VerificationResult) -> CheckResult:
    return CheckResult(check.name, check.directory, check.command, result.type, result.summary, result.cached)


# How a test is named in a file, by the file's name.
_NAMES = (
    (
        re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests)\.py$"),
        re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(test\w*)", re.MULTILINE),
    ),
    (
        re.compile(r"(?:(?:^|/)__tests__/.*|\.(?:test|spec))\.[cm]?[jt]sx?$"),
        re.compile(r"\b(?:it|test)(?:\.\w+)?\(\s*[\"'`]([^\"'`\n]{1,200})[\"'`]"),
    ),
    (re.compile(r"_test\.go$"), re.compile(r"^func\s+(Test\w+)\(", re.MULTILINE)),
    (
        re.compile(r"\.rs$"),
        re.compile(
            r"#\[(?:\w+::)?test\b[^\]]{0,200}+\](?>(?:\s{0,99}+#\[[^\]]{0,200}+\]){0,9})\s{0,99}+(?:async\s+)?fn\s+(\w+)"
        ),
    ),
)


def vanished_tests(project: Project) -> list[str]:
    """`name (path)` of each test of a changed file that no changed file has any more."""
    former: dict[str, list[str]] = {}
    left: Counter[str] = Counter()
    for path in sorted(project.changed) if project.has_before else ():
        form = next((names for files, names in _NAMES if files.search(path)), None)
        if form is None:
            continue
        for name in form.findall(project.before(path)):
            former.setdefault(name, []).append(path)
        left.update(form.findall(project.text(path)) if project.there(path) else ())
    gone = [(path, name) for name, paths in former.items() for path in paths[: max(len(paths) - left[name], 0)]]
    return [f"{name} ({path})" for path, name in sorted(gone)]

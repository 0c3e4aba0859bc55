"""Runs the checks of a project: what is remembered does not run."""

import os
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from pydantic import TypeAdapter

from ahp.protocol.text import one_line
from ahp.runner.verification import check_settings, command_checks, node_checks, python_checks
from ahp.runner.verification.check import PLUGIN, PLUGINS, RECORD, REPORT, SCRATCH, Check, Ran
from ahp.runner.verification.command_checks import NamedCheck
from ahp.runner.verification.project import Project
from ahp.runner.verification.result import (
    CheckResult,
    VerificationResult,
    clean,
    combined,
    counted,
    detail,
    plain,
    title,
)
from ahp.system import clock, environ, files, interrupt, jsontext, process, wings
from ahp.system.descendants import ending
from ahp.system.errors import AhpError, Timeout
from ahp.system.git import Repository
from ahp.system.process import NotStarted
from ahp.system.version import __version__

KINDS = ("tests", "lint")

Finder = Callable[[Project, Mapping[str, str]], list[Check]]
"""Finds checks of a project, whose programs get these variables. Each is called like a row with this finder."""

CHECKS: dict[str, Finder] = {
    "pytest": python_checks.tests,
    "unittest": python_checks.tests,
    "tox-test": python_checks.tests,
    "ruff": python_checks.ruff,
    "vitest": node_checks.tests,
    "jest": node_checks.tests,
    "npm-test": node_checks.tests,
    "eslint": node_checks.eslint,
    **dict.fromkeys(command_checks.IMPLIED, command_checks.implied_checks),
}
# Only where nothing else tells how the project is tested: as a rule a makefile calls the same tools.
LAST: dict[str, Finder] = {"make-test": command_checks.make_checks}


def names() -> list[str]:
    """What checks are called, those of installed packages among them."""
    return list(dict.fromkeys([*CHECKS, *LAST, *wings.added("checks")]))


def find_checks(project: Project, env: Mapping[str, str], named: Sequence[NamedCheck] = ()) -> list[Check]:
    """The checks of every part of a project, linters first, since they are fast. Raises AhpError.

    Those that the settings name take the place of all that are of their kind.
    """
    own = list(map(command_checks.named_check, named))
    kinds = {check.kind for check in own}
    added = {name: place for name, place in wings.added("checks").items() if name not in CHECKS and name not in LAST}
    found = _found(CHECKS, project, env)
    found += _found({name: wings.load(place, "checks") for name, place in added.items()}, project, env)
    found = [*own, *(check for check in found if check.kind not in kinds)]
    if not any(check.kind == "tests" for check in found):
        found += _found(LAST, project, env)
    return sorted(found, key=lambda check: (check.kind != "lint", check.directory != ".", check.directory))


def _found(table: Mapping[str, Finder], project: Project, env: Mapping[str, str]) -> list[Check]:
    found = [check for finder in dict.fromkeys(table.values()) for check in finder(project, env)]
    for check in found:
        if check.name not in table:
            raise AhpError(f"a check is called {check.name}, and no row of ahp.checks has that name")
    return found


_REPORT_LIMIT = 64 << 20  # bytes
_LAST = 64 << 10  # bytes of what was printed
# What a test run, a make or a hook around this process has set is not the project's. All else is as it was found.
_OF_RUNS_AROUND = (
    "MAKEFLAGS MFLAGS MAKELEVEL NODE_TEST_CONTEXT JEST_WORKER_ID VITEST VITEST_POOL_ID VITEST_WORKER_ID "
    "COVERAGE_PROCESS_START"
)
_NOT_THE_PROJECTS = frozenset(_OF_RUNS_AROUND.split())
_PREFIXES = ("PYTEST_", "COV_CORE_")


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """The environment that checks run in: `env` without what ties it to a hook or to another run of tests."""
    kept = environ.scrubbed(dict(env))
    return {
        name: value for name, value in kept.items() if name not in _NOT_THE_PROJECTS and not name.startswith(_PREFIXES)
    }


def run_check(check: Check, root: str, env: Mapping[str, str], seconds: float) -> VerificationResult:
    """What a check finds in the project at `root`, in at most `seconds`.

    Whatever it started ends with it, however it ends: Ctrl-C and signals come through.
    """
    if check.missing or check.read is None:
        return VerificationResult("tool_missing", check.missing, suggestion=check.suggestion)
    if seconds <= 0:
        return _timeout(f"no time was left for {check.name}", check.directory)
    folder = os.path.normpath(os.path.join(root, check.directory))
    descendants, marked = ending(env)
    with tempfile.TemporaryDirectory(prefix="ahp-verify-", ignore_cleanup_errors=True) as scratch:
        places = {name: os.path.join(scratch, name[1:-1]) for name in (REPORT, SCRATCH, PLUGINS, RECORD)}
        names = places | {PLUGIN: check.plugin.stem if check.plugin else ""}

        def filled(text: str) -> str:
            for name, meant in names.items():
                text = text.replace(name, meant)
            return text

        own = {name: filled(value) for name, value in check.env.items()}
        try:
            if check.plugin:
                os.mkdir(places[PLUGINS])
                os.chmod(shutil.copy(check.plugin, places[PLUGINS]), 0o700)
            with descendants:
                argv = [check.argv[0], *map(filled, check.argv[1:])]
                ran = process.capture(argv, cwd=folder, env=marked | own, timeout=seconds, check=interrupt.check)
            data, record = (files.read(places[name], _REPORT_LIMIT) for name in (REPORT, RECORD))
        except Timeout as error:
            return _timeout(f"{check.name} did not end within {seconds:.3g} s", check.directory, error.printed)
        except NotStarted as error:
            return VerificationResult("tool_missing", str(error), suggestion=f"Install {check.name}.")
        except AhpError as error:
            said = f"{check.name}: {error}"
            return VerificationResult("crash", said, [detail(check.directory, None, said)], "Have it print less.")
    out, err = (
        plain(one.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape") for one in (ran.out, ran.err)
    )
    return check.read(Ran(ran.code, out, err, data, folder, check.directory, record, check.files))


def _timeout(said: str, directory: str, printed: bytes = b"") -> VerificationResult:
    """What was printed last tells where it stood."""
    last = printed[-_LAST:].decode("utf-8", "replace").strip()
    details = [detail(directory, None, said, last)] if last else []
    return VerificationResult("timeout", said, details, "Give it more time, or find what hangs.")


_FORMAT = 3
_KEPT = 12  # states of the project that are remembered of a check: going to another branch and back is a hit
_LIMIT = 1 << 20
_PASSED = TypeAdapter(dict[str, VerificationResult])  # by what the result hangs on
# Variables that tests and their tools look at. Others are named in the settings (verification_variables).
_LISTED = (
    "PATH HOME LANG LC_ALL LC_CTYPE TZ CI PYTHONPATH PYTHONHASHSEED PYTHONWARNINGS PYTHONOPTIMIZE PYTHONUTF8 "
    "PYTHONDEVMODE VIRTUAL_ENV DJANGO_SETTINGS_MODULE FLASK_ENV NODE_ENV NODE_OPTIONS NODE_PATH GOFLAGS GOOS "
    "GOARCH GOPATH GOWORK GOTOOLCHAIN CGO_ENABLED CC CXX CFLAGS LDFLAGS RUSTFLAGS RUSTUP_TOOLCHAIN CARGO_HOME "
    "CARGO_TARGET_DIR CARGO_BUILD_TARGET LD_LIBRARY_PATH LD_PRELOAD DATABASE_URL"
)
VARIABLES = frozenset(_LISTED.split())


class Remembered:
    """The memory of one project's checks. Without a repository nothing is remembered."""

    def __init__(
        self, project: Project, env: Mapping[str, str], variables: Sequence[str] = (), *, use: bool = True
    ) -> None:
        self._project = project
        self._env = env
        self._variables = sorted(VARIABLES.union(variables))
        self._folder = f"{project.repository.ahp_dir}/cache/verification" if project.repository is not None else ""
        self._use = use and bool(self._folder)
        self._toolchains: dict[tuple[str, str], list[str]] = {}
        self._digest = self._state() if self._use else None

    def _state(self) -> str | None:
        digest = self._project.digest()
        return None if digest is None else f"{digest} {self._project.ignored_digest()}"

    def passed(self, check: Check) -> VerificationResult | None:
        """How a check passed over this very content with these very tools; None where it did not."""
        key = self._key(check, self._digest)
        found = self._load(check).get(key) if key else None
        if found is None or not found.ok:
            return None
        return replace(found, summary=clean(found.summary, 240), cached=True)

    def keep(self, check: Check, result: VerificationResult) -> None:
        """Remembers what passed. Where nothing can be written it runs again."""
        if not self._folder or not result.ok:
            return
        key = self._key(check, self._after())
        if not key:
            return
        told = f"{result.summary} (nothing has changed since {clock.iso(clock.now())}, when it ran)"
        kept = {name: one for name, one in self._load(check).items() if name != key}
        kept[key] = replace(result, summary=told)
        try:
            files.make_dirs(self._folder)
            files.replace(self._path(check), _PASSED.dump_json(dict(list(kept.items())[-_KEPT:])))
        except (ValueError, AhpError):  # such as a name that is no UTF-8
            return

    def _after(self) -> str | None:
        """The state after a run, None when tracked or untracked files are others than before it.

        A file that git ignores may be the work of the run itself, such as a data base of tests.
        """
        if self._digest is None:
            return None
        after = Project(self._project.root)
        digest = after.digest()
        return f"{digest} {after.ignored_digest()}" if digest == self._digest.split(" ")[0] else None

    def _key(self, check: Check, state: str | None) -> str:
        """What a result of a check hangs on, as one digest; "" where that cannot be told."""
        if state is None or check.toolchain is None or not self._use:
            return ""
        place = (check.name, check.directory)
        if place not in self._toolchains:
            self._toolchains[place] = check.toolchain()
        told = [
            [_FORMAT, __version__, check.name, check.directory, self._project.root],
            [*check.argv],
            [f"{name}={value}" for name, value in sorted(check.env.items())],
            [f"{name}={self._env[name]}" if name in self._env else name for name in self._variables],
            self._toolchains[place],
            state,
        ]
        return sha256(jsontext.encode(told).encode("utf-8", "surrogatepass")).hexdigest()

    def _path(self, check: Check) -> str:
        named = "\0".join([self._project.root, check.name, check.directory])
        return f"{self._folder}/{sha256(os.fsencode(named)).hexdigest()[:32]}.json"

    def _load(self, check: Check) -> dict[str, VerificationResult]:
        """What passed of a check, by key; nothing where the file is damaged."""
        try:
            return _PASSED.validate_json((files.read(self._path(check), _LIMIT) if self._folder else None) or b"{}")
        except (ValueError, AhpError):
            return {}


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
        self._env = environment(env)
        self._project = Project(root, since, repository)
        self.checks = find_checks(self._project, self._env, named)
        self._variables, self._use_cache, self._tell = variables, use_cache, tell
        self._of_a_run = bool(since)

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
                result = run_check(check, self._project.root, self._env, deadline - time.monotonic())
                memory.keep(check, result)
            result = self._weighed(check, result)
            named = (check.name, check.directory, check.command)
            found.append((CheckResult(*named, result.type, result.summary, result.cached), result))
        told = combined(found)
        gone = vanished_tests(self._project) if told.ok and any(check.kind == "tests" for check in checks) else []
        if gone:
            said = f"The change takes {counted(len(gone), 'test')} away: {_listed(gone)}."
            told = replace(told, cautions=[*told.cautions, said])
        if told.ok and self._of_a_run and (others := altered_tests(self._project)):  # a person knows what they changed
            said = f"The run alters tests that were there, so see what they still ask for: {_listed(others)}."
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


_TEST_FILES = _NAMES[:3]  # Rust's stand among what they test


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


def altered_tests(project: Project) -> list[str]:
    """The changed files of tests in which lines that were there are no more."""
    found = []
    for path in sorted(project.changed) if project.has_before else ():
        if any(files.search(path) for files, _ in _TEST_FILES) and project.there(path):
            before, now = (
                Counter(map(str.strip, text.split("\n"))) for text in (project.before(path), project.text(path))
            )
            found += [path] if before - now else []
    return found

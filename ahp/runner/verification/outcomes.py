"""Results that several tools come to in the same way: by their exit code, or by a report in JUnit XML."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace

from ahp.facts import command_output, junit
from ahp.facts.policy import AGENT_FILE
from ahp.facts.registry import Absent
from ahp.runner.verification.check import Ran
from ahp.runner.verification.project import joined
from ahp.runner.verification.result import (
    DETAILS,
    LEFT_OUT,
    VerificationDetail,
    VerificationResult,
    VerificationType,
    clean,
    counted,
    detail,
)
from ahp.system import files
from ahp.system.errors import AhpError

_READ = 1 << 20  # bytes of a file of tests
# `file:line: ` at the beginning of a line, as pytest has it; `at f (file:line:column)`, as Node has it.
_PLACE = re.compile(r"^(\S[^\n:]{0,500}):(\d{1,9}): ", re.MULTILINE)
_TRACE = re.compile(r'^E?\W{0,40}File "([^"\n]{1,500})", line (\d{1,9})', re.MULTILINE)  # of Python
_STACK = re.compile(r"^[ \t]*at .{0,500}?\(?(?:file://)?(/[^\s():]{1,500}):(\d{1,9}):\d+\)?$", re.MULTILINE)


def crash(ran: Ran, what: str, why: str = "") -> VerificationResult:
    """A tool that ended without saying what it found."""
    said = why or f"{what} ended with {ran.code} and told nothing that could be read"
    details = [detail(ran.directory, None, said, ran.said)] if ran.said else []
    return VerificationResult("crash", said, details, f"Run it by hand to see why {what} cannot do its work.")


def not_run(ran: Ran, what: str, names: Sequence[str]) -> VerificationResult:
    """A green end of a tool that did not run all the tests that there are."""
    more = f"{counted(len(names), 'test')} did not run, {names[0]} first"
    return crash(ran, what, f"{what} ended with {ran.code}, and {more}")


_ONLY_EXIT = (
    "Only the exit code of {} is known, not which tests ran: a command with a report under `checks:` in "
    f"{AGENT_FILE} would tell."
)
_NOT_STARTED = re.compile(r"(?:sh|env): .{0,200}(?:not found|No such file or directory)\s*$", re.MULTILINE)


def not_started(ran: Ran, what: str, file: str = "") -> VerificationResult | None:
    """What to say where a program could not be started, by its shell's word; None where it was."""
    if ran.code not in (126, 127) or (ran.code == 126 and not _NOT_STARTED.search(ran.said)):
        return None
    found = [detail(joined(ran.directory, file), None, "a program is not installed", ran.said)]
    said = f"{what} calls a program that is not installed"
    return VerificationResult("tool_missing", said, found, "Install what the project needs.")


def by_exit_code(ran: Ran, what: str, file: str = "") -> VerificationResult:
    """What a program found that only its exit code tells of; its last words are the context."""
    if missing := not_started(ran, what, file):
        return missing
    if ran.code == 0:
        return VerificationResult("passed", f"{what} passed", cautions=[_ONLY_EXIT.format(what)])
    said = f"{what} ended with {ran.code}"
    last = next((line for line in reversed(ran.said.split("\n")) if line.strip()), said)
    found = [detail(joined(ran.directory, file), None, last, ran.said)]
    return VerificationResult("test_failure", said, found, f"Read what {what} printed, and fix it.")


def of_sarif(ran: Ran, what: str, data: bytes, suggestion: str = "") -> VerificationResult:
    """What a linter tells in SARIF."""
    try:
        output = command_output.read(data, ran.code, "sarif", ran.folder, ".")
        if output.missing:
            raise output.missing
    except Absent as absent:
        return crash(ran, what, f"{what} ended with {ran.code}, and {absent}")
    if not output.count:
        return VerificationResult("passed", f"{what} found nothing") if not ran.code else crash(ran, what)
    found = [
        detail(joined(ran.directory, str(one["path"])), int(str(one["line"])), str(one["message"]))
        for one in output.findings[:DETAILS]
    ]
    return VerificationResult("lint_failure", f"{what} found {counted(output.count, 'violation')}", found, suggestion)


def of_junit(ran: Ran, what: str, *, data: bytes | None = None, not_collected: bool = False) -> VerificationResult:
    """What a JUnit report tells, held against the exit code: a report of green tests is not believed to a red one."""
    data = ran.report if data is None else data
    if data is None:
        return crash(ran, what)
    try:
        report = junit.parse(data, "its report")
    except Absent as absent:
        return crash(ran, what, f"{what} ended with {ran.code}, and {clean(str(absent), 300)}")
    details = [of_case(case, ran) for case in report.failed[:DETAILS]]
    red: VerificationType = "collection_error" if not_collected else "test_failure"
    passed = max(report.total - report.failed_count - report.skipped, 0)
    return of_counts(ran, what, passed, report.failed_count, details, red, skipped=report.skipped)


def of_counts(
    ran: Ran,
    what: str,
    passed: int,
    failed: int,
    details: Sequence[VerificationDetail],
    red: VerificationType = "test_failure",
    *,
    skipped: int = 0,
) -> VerificationResult:
    """What counts of tests come to, held against the exit code. `red` is what failures are called."""
    if failed or details:
        number = max(failed, len(details))
        said = "could not be collected" if red == "collection_error" else "failed"
        return VerificationResult(red, f"{counted(number, 'test')} {said}, {passed} passed", details, start(details))
    if ran.code and red == "collection_error":
        return crash(ran, what)  # it was interrupted, and not by what cannot be collected
    if ran.code:
        said = f"{what} ended with {ran.code} although no test failed ({passed} passed)"
        found = [detail(ran.directory, None, said, ran.said)]
        return VerificationResult(
            red, said, found, f"Read what {what} says; it may hold a limit to coverage or warnings."
        )
    if not passed:
        return no_tests(what)
    return VerificationResult("passed", green(passed, skipped))


def no_tests(what: str) -> VerificationResult:
    """What a tool says that found nothing to run."""
    return VerificationResult("no_tests", f"{what} found no tests", suggestion="Write a test of what was changed.")


def green(passed: int, skipped: int) -> str:
    """The summary of what passed."""
    return f"{counted(passed, 'test')} passed" + (f", {skipped} skipped" if skipped else "")


def less(found: VerificationResult, test_files: Sequence[str], tests: Sequence[str] = ()) -> VerificationResult:
    """What passed, with the files and tests that were left out."""
    if not found.ok:
        return found
    left = [counted(len(names), what) for names, what in ((tests, "test"), (test_files, "test file")) if names]
    told = f"{found.summary}, {' and '.join(left)} left out" if left else found.summary
    return replace(found, summary=told, left_out=[*test_files, *tests][:LEFT_OUT])


def holds(path: str, form: re.Pattern[bytes]) -> bool:
    """Whether a file of tests has something of this form."""
    try:
        return form.search(files.read(path, _READ) or b"") is not None
    except AhpError:
        return False


def start(details: Sequence[VerificationDetail]) -> str:
    """Where to begin."""
    if not details:
        return ""
    files = list(dict.fromkeys(one.file for one in details))
    more = f"; the other failures are in {', '.join(files[1:5])}" if len(files) > 1 else ""
    return f"Begin at {details[0].place}: fix what it tests, or the test where that asks for something else now{more}."


def relative(path: str, ran: Ran) -> str:
    """A path that a tool names, relative to the root where it lies below it."""
    if os.path.isabs(path):
        for folder in (ran.folder, os.path.realpath(ran.folder)):
            if path.startswith(folder + "/"):
                return joined(ran.directory, path[len(folder) + 1 :])
        return path
    return os.path.normpath(joined(ran.directory, path)) if path else ran.directory


def of_case(case: junit.Case, ran: Ran) -> VerificationDetail:
    """A failed test and its place: in the project, where it has one there."""
    path, line = case.path, case.line
    # The last place of the project in a traceback is where it failed; of a stack of Node it is the first.
    for form, which in ((_PLACE, -1), (_STACK, 0), (_TRACE, -1)):
        places = [place for place in form.findall(case.text) if in_project(place[0], ran)]
        if places:
            path, line = places[which][0], int(places[which][1])
            break
    said = case.message or case.text.strip()
    group, _, name = case.name.rpartition("::")
    file = relative(path, ran) if path else _named(group, name, ran)
    return detail(file, line, f"{name}: {said}", case.text)


def _named(group: str, name: str, ran: Ran) -> str:
    """The file of a case whose report tells none: a path that is its name, or the module that its group begins with."""
    if os.path.isabs(name) and in_project(name, ran):
        return relative(name, ran)
    parts = group.split(".")
    modules = ("/".join(parts[:length]) + ".py" for length in range(len(parts), 0, -1))
    module = next((path for path in modules if os.path.exists(os.path.join(ran.folder, path))), None)
    return relative(module, ran) if module else group or name


def in_project(path: str, ran: Ran) -> bool:
    """Whether a path, absolute or relative to where a program ran, is a file of the project."""
    if not os.path.isabs(path):
        return not path.startswith("../") and os.path.exists(os.path.join(ran.folder, path))
    return "/node_modules/" not in path and path.startswith((f"{ran.folder}/", f"{os.path.realpath(ran.folder)}/"))

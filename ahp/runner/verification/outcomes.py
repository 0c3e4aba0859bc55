"""What runs of tests and linters come to: by a record of what became of the tests, SARIF, or the exit code alone."""

import os
import re
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from pydantic import BaseModel, Field, ValidationError

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


class Failure(NamedTuple):
    """A test that failed: its name, its place where that is told ("", 0), what it said in short, and all of it."""

    name: str
    path: str = ""
    line: int = 0
    message: str = ""
    text: str = ""


_Count = Annotated[int, Field(ge=0)]


class Record(BaseModel):
    """What became of the tests of one run, whoever tells it; the plugins of ours write it as JSON.

    `failures` is how many failed, where that is more than `failed` has; `not_loaded` of them are files that cannot be
    loaded. `not_run` are tests that there are and that have no outcome, `left_out` those that were not chosen. `files`
    are where tests were loaded from, relative to the folder of the run; None where nobody tells.
    """

    passed: _Count
    skipped: _Count
    failed: list[Failure]
    failures: _Count = 0
    not_loaded: _Count = 0
    not_run: list[str] = []
    left_out: list[str] = []
    files: list[str] | None = None


def recorded(ran: Ran) -> Record | None:
    """What a plugin of ours wrote, None where that is nothing. Tests can write to it, too."""
    try:
        return Record.model_validate_json(ran.record or b"")
    except ValidationError:
        return None


def of_record(ran: Ran, what: str, record: Record, holds_tests: re.Pattern[bytes] | None = None) -> VerificationResult:
    """What a record comes to, held against the exit code: one of green tests is not believed to a red one.

    Files of tests that were not loaded and have something of the form `holds_tests` are left out.
    """
    number = max(record.failures, len(record.failed))
    if number:
        details = [_failed(one, ran) for one in record.failed[:DETAILS]]
        broken = record.not_loaded == number
        said = f"{counted(number, 'test')} {'could not be collected' if broken else 'failed'}, {record.passed} passed"
        return VerificationResult("collection_error" if broken else "test_failure", said, details, start(details))
    if ran.code:
        said = f"{what} ended with {ran.code} although no test failed ({record.passed} passed)"
        hint = f"Read what {what} says; it may hold a limit to coverage or warnings."
        return VerificationResult("test_failure", said, [detail(ran.directory, None, said, ran.said)], hint)
    if record.not_run:
        more = f"{counted(len(record.not_run), 'test')} did not run, {record.not_run[0]} first"
        return crash(ran, what, f"{what} ended with {ran.code}, and {more}")
    if not record.passed:
        said = f"{what} found no tests"
        said += f": {counted(len(record.left_out), 'test')} left out" if record.left_out else ""
        hint = "Write a test of what was changed."
        return VerificationResult("no_tests", said, suggestion=hint, left_out=record.left_out[:LEFT_OUT])
    known = {relative(path, ran) for path in record.files or ()}
    there = [] if record.files is None else [path for path in ran.files if relative(path, ran) not in known]
    unread = [path for path in there if holds_tests is None or holds_tests.search(_text(f"{ran.folder}/{path}"))]
    left = ((record.left_out, "test"), (unread, "test file"))
    out = " and ".join(counted(len(names), kind) for names, kind in left if names)
    skipped = f", {record.skipped} skipped" if record.skipped else ""
    said = f"{counted(record.passed, 'test')} passed{skipped}" + (f", {out} left out" if out else "")
    left_out = [*(relative(path, ran) for path in unread), *record.left_out][:LEFT_OUT]
    return VerificationResult("passed", said, left_out=left_out)


def crash(ran: Ran, what: str, why: str = "") -> VerificationResult:
    """A tool that ended without saying what it found."""
    said = why or f"{what} ended with {ran.code} and told nothing that could be read"
    details = [detail(ran.directory, None, said, ran.said)] if ran.said else []
    return VerificationResult("crash", said, details, f"Run it by hand to see why {what} cannot do its work.")


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


def of_junit(ran: Ran, what: str, data: bytes | None) -> VerificationResult:
    """What a JUnit report tells."""
    if data is None:
        return crash(ran, what)
    try:
        report = junit.parse(data, "its report")
    except Absent as absent:
        return crash(ran, what, f"{what} ended with {ran.code}, and {clean(str(absent), 300)}")
    failed = [Failure(one.name, one.path, one.line, one.message, one.text) for one in report.failed]
    passed = max(report.total - report.failed_count - report.skipped, 0)
    told = Record(passed=passed, skipped=report.skipped, failed=failed, failures=report.failed_count)
    return of_record(ran, what, told)


def _text(path: str) -> bytes:
    try:
        return files.read(path, _READ) or b""
    except AhpError:
        return b""


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


def _failed(one: Failure, ran: Ran) -> VerificationDetail:
    """A failed test and its place: in the project, where it has one there."""
    path, line = one.path, one.line
    # The last place of the project in a traceback is where it failed; of a stack of Node it is the first.
    for form, which in ((_PLACE, -1), (_STACK, 0), (_TRACE, -1)):
        places = [place for place in form.findall(one.text) if in_project(place[0], ran)]
        if places:
            path, line = places[which][0], int(places[which][1])
            break
    group, _, name = one.name.rpartition("::")
    file = relative(path, ran) if path else _named(group, name, ran)
    return detail(file, line, f"{name}: {one.message or one.text.strip()}", one.text)


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

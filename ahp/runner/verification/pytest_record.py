"""How a run of pytest ended: its JUnit report and exit code, held against what a plugin of ours has seen."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from ahp.runner.verification import outcomes
from ahp.runner.verification.check import Ran
from ahp.runner.verification.result import DETAILS, LEFT_OUT, VerificationResult, counted, detail

PLUGIN = Path(__file__).with_name("pytest_outcomes.py")
_NOT_INSTALLED = re.compile(r"No module named '?pytest'?\s*$")
_HOLDS_TESTS = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+[Tt]est", re.MULTILINE)
_WRITE_ONE = "Write a test of what was changed."

_Count = Annotated[int, Field(ge=0)]


class Record(BaseModel):
    """What the plugin writes; its documentation says what the names mean."""

    passed: _Count
    failed: _Count
    skipped: _Count
    left_out: list[str]
    not_run: list[str]
    faked: list[tuple[str, str]]
    unseen: list[str]
    files: list[str]


def read(ran: Ran, python: str) -> VerificationResult:
    """What a run of pytest found."""
    record = _record(ran)
    if ran.code == 5:
        left_out = record.left_out if record else []
        why = f"pytest found no tests: {counted(len(left_out), 'test')} left out" if left_out else ""
        return VerificationResult(
            "no_tests", why or "pytest found no tests", suggestion=_WRITE_ONE, left_out=left_out[:LEFT_OUT]
        )
    if ran.report is None and _NOT_INSTALLED.search(ran.said):
        return VerificationResult(
            "tool_missing", f"pytest is not installed for {python}", suggestion=f"{python} -m pip install pytest"
        )
    if ran.code == 4 and b"while loading conftest" in ran.err:
        found = [detail(ran.directory, None, "a conftest.py cannot be loaded", ran.said)]
        return VerificationResult(
            "collection_error", "pytest could not load a conftest.py", found, "Mend the conftest.py that it names."
        )
    if ran.code not in (0, 1, 2):
        return outcomes.crash(ran, "pytest")
    told = outcomes.of_junit(ran, "pytest", not_collected=ran.code == 2 and not (record and record.failed))
    if told.red or told.type == "crash":
        return told
    if record is None:
        return outcomes.crash(ran, "pytest", f"pytest ended with {ran.code} and did not come to its end")
    return _held_against(record, told, ran)


def _held_against(record: Record, told: VerificationResult, ran: Ran) -> VerificationResult:
    """What is left of a green report."""
    if record.faked:
        found = [
            detail(outcomes.relative(name.partition("::")[0], ran), None, f"{name}: {said}")
            for name, said in record.faked[:DETAILS]
        ]
        number = counted(len(record.faked), "test")
        summary = f"{number} failed and reported as passed, {record.passed} passed"
        return VerificationResult(
            "test_failure", summary, found, "Mend what the tests say, and the plugin that reports them as passed."
        )
    if record.unseen:
        number = counted(len(record.unseen), "test")
        return outcomes.crash(ran, "pytest", f"{number} did not run and reported as passed, {record.unseen[0]} first")
    if record.not_run:
        number = counted(len(record.not_run), "test")
        return outcomes.crash(
            ran, "pytest", f"pytest ended with {ran.code} before {number} had run, {record.not_run[0]} first"
        )
    if not record.passed:
        return VerificationResult("no_tests", "pytest found no tests that passed or failed", suggestion=_WRITE_ONE)
    known = frozenset(record.files)
    unread = [path for path in ran.files if path not in known and outcomes.holds(f"{ran.folder}/{path}", _HOLDS_TESTS)]
    counts = replace(told, type="passed", summary=outcomes.green(record.passed, record.skipped), suggestion="")
    return outcomes.less(counts, [outcomes.relative(path, ran) for path in unread], record.left_out)


def _record(ran: Ran) -> Record | None:
    try:
        return Record.model_validate_json(ran.record or b"")
    except ValidationError:
        return None

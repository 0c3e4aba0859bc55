"""Checks that are a command: those that `.ahp/agent.yaml` names with their report, and those that a build file implies.

Of the latter only the exit code is read, but for Go and Cargo, which tell what they run.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ahp.facts.policy import AGENT_FILE
from ahp.runner.verification import outcomes
from ahp.runner.verification.check import REPORT, Check, Ran
from ahp.runner.verification.outcomes import Failure, Record
from ahp.runner.verification.project import Project, joined, tops
from ahp.runner.verification.result import DETAILS, VerificationResult, VerificationType, counted, detail
from ahp.system import jsontext, process

_KEPT = 4_000  # characters of what a test printed
_GO_NONE = "no tests to run"  # what Go itself prints of a package that has none
_GO_PLACE = re.compile(r"^[ \t]*(\S[^\s:]{0,500}\.go):(\d{1,9})(?::\d+)?:? ?(.*)$", re.MULTILINE)
_RUST_ERROR = re.compile(r"^error(?:\[\w+\])?: (.+)\n\s*--> ([^\s:]{1,500}):(\d{1,9}):\d+", re.MULTILINE)
_RUST_BEGUN = re.compile(r"^running (\d{1,9}) tests?$", re.MULTILINE)
_RUST_END = re.compile(
    r"^test result: \w+\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; (\d{1,9})", re.MULTILINE
)
_RUST_FAILURE = re.compile(r"^---- (.{1,500}?) stdout ----\n(.*?)(?=^---- |^failures:|\Z)", re.MULTILINE | re.DOTALL)
_RUST_PLACE = re.compile(r"panicked at (?:'.*', )?([^\s:]{1,500}):(\d{1,9}):\d+:?\n?(.*)")


def read_go(ran: Ran) -> VerificationResult:
    """The events of `go test -json` (test2json): a test that began and has no outcome did not pass.

    Nor did a package that passed, began no test and was not said to have none: its process ended before them.
    """
    ended: dict[tuple[str, str], str] = {}
    printed: dict[tuple[str, str], str] = {}
    for event in _lines(ran.out):
        what, key = event.get("Action"), (str(event.get("Package", "")), str(event.get("Test", "")))
        if what in ("run", "pass", "fail", "skip"):
            ended[key] = what
        elif what in ("output", "build-output"):
            printed[key] = (printed.get(key, "") + str(event.get("Output", "")))[-_KEPT:]
    tests = {key: what for key, what in ended.items() if key[1]}
    failed = [key for key, what in tests.items() if what == "fail"]
    # A test that fails because its subtests do says nothing itself.
    leaves = [key for key in failed if not any(f"{key[1]}/" in other[1] and other[0] == key[0] for other in failed)]
    passed, skipped = (sum(what == one for what in tests.values()) for one in ("pass", "skip"))
    if leaves or not ran.code:
        record = Record(
            passed=passed, skipped=skipped, failed=[_go_failure(*one, printed.get(one, ""), ran) for one in leaves]
        )
        begun_in = {package for package, _ in tests}
        silent = (key[0] for key, what in ended.items() if what == "pass" and _GO_NONE not in printed.get(key, ""))
        record.not_run = [f"{test} ({package})" for (package, test), what in tests.items() if what == "run"]
        record.not_run += [f"the tests of {package}" for package in silent if package not in begun_in]
        return outcomes.of_record(ran, "go test", record)
    said = "".join(printed.values()) + ran.said
    places = [detail(outcomes.relative(file, ran), int(line), why, said) for file, line, why in _GO_PLACE.findall(said)]
    if not (ended or places):
        return outcomes.crash(ran, "go test")
    places = places or [detail(ran.directory, None, "a package cannot be tested", said)]
    begun = any(what == "run" for what in tests.values())
    summary = f"a package cannot be {'tested' if begun else 'built'}, {counted(passed, 'test')} passed"
    kind: VerificationType = "test_failure" if begun else "collection_error"
    return VerificationResult(kind, summary, places[:DETAILS], outcomes.start(places))


def _go_failure(package: str, test: str, printed: str, ran: Ran) -> Failure:
    """Go names files without their folder, which ends the import path of the package."""
    inner = package.split("/")
    for file, line, said in _GO_PLACE.findall(printed):
        folders = ("/".join(inner[start:]) for start in range(len(inner) + 1))
        path = next((one for at in folders if outcomes.in_project(one := os.path.join(at, file), ran)), None)
        if path is not None:  # what follows may be a place of a stack
            return Failure(test, path, int(line), "it panicked" if said.startswith("+0x") else said, printed)
    return Failure(test, ".", 0, "it failed", printed)


def read_cargo(ran: Ran) -> VerificationResult:
    """What the harness of Rust prints of each program: how many tests it is about to run, and what became of them."""
    text, errors = (one.decode("utf-8", "replace") for one in (ran.out, ran.err))
    begun = [int(number) for number in _RUST_BEGUN.findall(text)]
    results = [[int(number) for number in numbers] for numbers in _RUST_END.findall(text)]
    if not begun and ran.code:
        found = [
            detail(outcomes.relative(file, ran), int(at), why, errors) for why, file, at in _RUST_ERROR.findall(errors)
        ]
        places = list(dict.fromkeys(found))
        if not places:
            return outcomes.crash(ran, "cargo test")
        summary = f"it cannot be compiled: {counted(len(places), 'error')}"
        return VerificationResult("collection_error", summary, places[:DETAILS], outcomes.start(places))
    passed, failed, ignored, measured = (sum(column) for column in zip(*results, strict=True)) if results else [0] * 4
    left = sum(begun) - passed - failed - ignored - measured
    if not ran.code and (left > 0 or len(results) < len(begun)):
        why = f"cargo test ended with 0, and {counted(max(left, 1), 'test')} did not come to an end"
        return outcomes.crash(ran, "cargo test", why)
    red = []
    for name, said in _RUST_FAILURE.findall(text):
        at = _RUST_PLACE.search(said)
        path, line, why = (at[1], int(at[2]), at[3] or "panicked") if at else (".", 0, "it failed")
        red.append(Failure(name, path, line, why, said))
    record = Record(passed=passed, skipped=ignored, failed=red, failures=failed)
    return outcomes.of_record(ran, "cargo test", record)


def _lines(printed: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects among the lines of an output."""
    for line in printed.split(b"\n"):
        if line[:1] == b"{":
            try:
                value = jsontext.decode(line.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                yield value


_TARGET = re.compile(r"^(test|check)\s*:(?!=)", re.MULTILINE)
_TAP_LINE = re.compile(r"^(not )?ok\b[ \t\d]*-?[ \t]*([^#\n]*)(?:#[ \t]*(skip|todo))?", re.IGNORECASE | re.MULTILINE)
_TAP_PLAN = re.compile(r"^1\.\.(\d{1,9})", re.MULTILINE)
# What a build file implies, by name: the file, what has to stand in it, the command. The upper one of several files is
# the project's. A wrapper beside it (`mvnw`) goes before the program on the PATH.
_IMPLIED: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "go-test": (r"go\.mod", "", ("go", "test", "-json", "./...")),
    "cargo-test": (r"Cargo\.toml", "", ("cargo", "test", "--workspace", "--no-fail-fast")),
    "maven-test": (r"pom\.xml", "", ("mvn", "-B", "test")),
    "gradle-test": (r"build\.gradle(?:\.kts)?", "", ("gradle", "test")),
    "rake-test": (r"Rakefile", r"(?i)test", ("rake", "test")),
    "composer-test": (r"composer\.json", r'"test"\s*:', ("composer", "test")),
    "dotnet-test": (r".+\.slnx?", "", ("dotnet", "test")),
    "mix-test": (r"mix\.exs", "", ("mix", "test")),
}
IMPLIED = tuple(_IMPLIED)
_REPORTS: dict[str, Callable[[Ran], VerificationResult]] = {
    "go-test": read_go,
    "cargo-test": read_cargo,
}
_EACH = ("go-test",)  # a module of Go is no part of one above it
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in make's own order


class NamedCheck(BaseModel):
    """A check that the settings name."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9-]{0,63}$")
    """What `ahp verify` calls it."""

    run: str | tuple[str, ...] = Field(min_length=1)
    """The program and its arguments, or a line for `sh`. `{report}` stands for a file for its report."""

    kind: Literal["tests", "lint"] = "tests"
    """The checks of this kind that ahp would find are not made."""

    report: Literal["exit", "junit", "tap", "sarif"] = "exit"
    """What tells of its findings: the file `{report}`, else what it prints. `exit` is the exit code alone."""

    directory: str = "."
    """Where it runs, below the project's folder."""


def named_check(named: NamedCheck) -> Check:
    """A check of the settings."""
    argv = ("sh", "-c", named.run) if isinstance(named.run, str) else tuple(named.run)
    in_file = any(REPORT in word for word in argv)
    return Check(named.name, named.kind, named.directory, argv, partial(_read, named=named, in_file=in_file))


def _read(ran: Ran, named: NamedCheck, in_file: bool) -> VerificationResult:
    if missing := outcomes.not_started(ran, named.name):
        return missing
    data = ran.report if in_file else ran.out
    if named.report == "junit":
        return outcomes.of_junit(ran, named.name, data)
    if named.report == "sarif":
        return outcomes.of_sarif(ran, named.name, data or b"")
    if named.report == "tap":
        return _of_tap(ran, named.name, (data or b"").decode("utf-8", "replace"))
    return replace(outcomes.by_exit_code(ran, named.name), cautions=())  # whoever named it wants no more


def _of_tap(ran: Ran, what: str, text: str) -> VerificationResult:
    """What TAP 14 tells at its top level: subtests are indented."""
    lines = [(bool(found[0]), found[1].strip(), found[2].lower()) for found in _TAP_LINE.findall(text)]
    plan = _TAP_PLAN.search(text)
    if plan is None or "\nBail out!" in f"\n{text}" or int(plan[1]) > len(lines):
        return outcomes.crash(ran, what, f"{what} ended with {ran.code} before its tests had run")
    failed = [name for bad, name, directive in lines if bad and directive != "todo"]
    skipped = sum(directive == "skip" for _, _, directive in lines)
    red = [Failure(name or "a test", ".", 0, "it failed", text) for name in failed]
    record = Record(passed=len(lines) - len(failed) - skipped, skipped=skipped, failed=red)
    return outcomes.of_record(ran, what, record)


def implied_checks(project: Project, env: Mapping[str, str]) -> list[Check]:
    """The tests of build tools whose files are there."""
    found: list[Check] = []
    for name, (file, holds, argv) in _IMPLIED.items():
        folders = project.folders_where(re.compile(file).fullmatch)
        for folder in folders if name in _EACH else tops(folders):
            seen = next(one for one in sorted(project.names(folder)) if re.fullmatch(file, one))
            if re.search(holds, project.text(joined(folder, seen))):
                found.append(_command(project, name, folder, argv, seen, env))
    return found


def make_checks(project: Project, env: Mapping[str, str]) -> list[Check]:
    """`make test` or `make check`, where the makefile at the root has such a target."""
    makefile = next((name for name in _MAKEFILES if project.has(name)), "")
    target = _TARGET.search(project.text(makefile)) if makefile else None
    return [_command(project, "make-test", ".", ("make", target[1]), makefile, env)] if target else []


def _command(project: Project, name: str, folder: str, argv: Sequence[str], file: str, env: Mapping[str, str]) -> Check:
    wrapper = os.path.join(project.root, folder, f"{argv[0]}w")
    program = wrapper if os.access(wrapper, os.X_OK) else process.find(argv[0], dict(env))
    read = _REPORTS.get(name) or partial(outcomes.by_exit_code, what=" ".join(argv[:2]), file=file)
    return Check.by(
        *(program, name, "tests", folder, argv[1:]),
        missing=f"{joined(folder, file)} is there, and {argv[0]} is not installed",
        suggestion=f"Install {argv[0]}, or name a command under `checks:` in {AGENT_FILE}.",
        read=read,
    )

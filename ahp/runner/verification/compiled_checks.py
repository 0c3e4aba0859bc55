"""Checks of Go and Rust projects, and of those that only a makefile tells how to test."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ahp.runner.verification import outcomes, tools
from ahp.runner.verification.check import Check, Ran
from ahp.runner.verification.project import Project, tops
from ahp.runner.verification.result import DETAILS, VerificationDetail, VerificationResult, counted, detail
from ahp.system import jsontext, process

_GO_SETTINGS = ("GOVERSION", "GOFLAGS", "GOOS", "GOARCH", "CGO_ENABLED", "GOEXPERIMENT", "GOWORK")
_GO_PLACE = re.compile(r"^[ \t]*(\S[^\s:]{0,500}\.go):(\d{1,9})(?::\d+)?: ?(.*)$", re.MULTILINE)
_GO_STACK = re.compile(r"^[ \t]+(/[^\s:]{1,500}\.go):(\d{1,9})", re.MULTILINE)
_KEPT = 4_000  # characters of what a test printed
# Before 1.24 go says in plain lines which package it cannot build, and prints the compiler's words as errors.
_GO_NOT_BUILT = re.compile(r"^FAIL\t(\S{1,500}) \[(?:build|setup) failed\]", re.MULTILINE)
_RUST_CASE = re.compile(r"^test (.{1,500}?) \.\.\. (ok|FAILED|ignored)", re.MULTILINE)
_RUST_RESULT = re.compile(
    r"^test result: \w+\. (\d{1,9}) passed; (\d{1,9}) failed;(?: (\d{1,9}) ignored;)?", re.MULTILINE
)
_RUST_BEGUN = re.compile(r"^running \d{1,9} tests?$", re.MULTILINE)
_RUST_FAILURE = re.compile(r"^---- (.{1,500}?) stdout ----\n(.*?)(?=^---- |^failures:|\Z)", re.MULTILINE | re.DOTALL)
_RUST_PLACE = re.compile(r"panicked at (?:'.*', )?([^\s:]{1,500}):(\d{1,9}):\d+:?\n?(.*)")
_NOT_JSON = re.compile(rb"^\{.*\n", re.MULTILINE)
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # in make's own order
_TARGET = re.compile(r"^(test|check)\s*:(?!=)", re.MULTILINE)


def go_checks(project: Project, env: Mapping[str, str]) -> list[Check]:
    """The tests of every Go module: `./...` does not reach into another one."""
    return [_go(project, folder, env) for folder in project.folders_with("go.mod")]


def _go(project: Project, folder: str, env: Mapping[str, str]) -> Check:
    program = process.find("go", dict(env))
    if program is None:
        return Check("go-test", "tests", folder, missing="go is not installed", suggestion="install Go")
    argv = (program, "test", "-json")
    return Check(
        "go-test",
        "tests",
        folder,
        (*argv, "./..."),
        _read_go,
        files=[path for path in project.below(folder) if path.endswith("_test.go")],
        narrowed=lambda chosen: (*argv, *dict.fromkeys(f"./{os.path.dirname(path)}" for path in chosen)),
        toolchain=lambda: [
            tools.file_version(program),
            tools.asked([program, "env", *_GO_SETTINGS], os.path.join(project.root, folder), env),
        ],
    )


def _read_go(ran: Ran) -> VerificationResult:
    """The events of `go test -json` (test2json); one with `-build` in its action is of the compiler."""
    outcome: dict[tuple[str, str], str] = {}
    printed: dict[tuple[str, str], str] = {}
    built = ""
    events = 0
    for event in _lines(ran.out):
        package, what, test = (str(event.get(key, "")) for key in ("Package", "Action", "Test"))
        events += 1
        if what in ("pass", "fail", "skip"):
            outcome[package, test] = what
        elif what == "output":
            key = (package, test)
            printed[key] = (printed.get(key, "") + str(event.get("Output", "")))[-_KEPT:]
        elif what == "build-output":
            built = (built + str(event.get("Output", "")))[-_KEPT:]
    not_built = _GO_NOT_BUILT.findall(ran.out.decode("utf-8", "replace"))
    if not events and not not_built:
        return outcomes.crash(ran, "go test")
    outcome.update(dict.fromkeys([(package, "") for package in not_built], "fail"))
    tests = {key: what for key, what in outcome.items() if key[1]}
    failed = [key for key, what in tests.items() if what == "fail"]
    # A test that fails because its subtests do says nothing itself.
    leaves = [key for key in failed if not any(f"{key[1]}/" in other[1] and other[0] == key[0] for other in failed)]
    passed, skipped = (sum(what == one for what in tests.values()) for one in ("pass", "skip"))
    details = [_go_failure(key, printed.get(key, ""), ran) for key in leaves[:DETAILS]]
    packages = [key[0] for key, what in outcome.items() if what == "fail" and not key[1]]
    silent = [name for name in packages if not any(key[0] == name for key in failed)]
    # Such as one whose tests print what hides how one of them ended.
    odd = [name for name in silent if any(key[0] == name and key[1] for key in printed)]
    details += [_go_failure((name, "a package"), printed.get((name, ""), ""), ran) for name in odd]
    if details or not silent:
        return outcomes.of_counts(ran, "go test", passed, len(leaves) + len(odd), details[:DETAILS], skipped=skipped)
    said = built + ran.err.decode("utf-8", "replace") + "".join(printed.get((name, ""), "") for name in silent)
    places = [
        detail(outcomes.relative(file, ran), int(line), error, said) for file, line, error in _GO_PLACE.findall(said)
    ]
    places = places[:DETAILS] or [detail(ran.directory, None, "a package cannot be built", said)]
    summary = f"{counted(len(silent), 'package')} cannot be built, {counted(passed, 'test')} passed"
    return VerificationResult("collection_error", summary, places, outcomes.start(places))


def _go_failure(key: tuple[str, str], printed: str, ran: Ran) -> VerificationDetail:
    package, test = key
    at = _GO_PLACE.search(printed)
    if at is not None:
        folder = _go_folder(package, at[1], ran)
        return detail(outcomes.relative(os.path.join(folder, at[1]), ran), int(at[2]), f"{test}: {at[3]}", printed)
    stack = next((place for place in _GO_STACK.findall(printed) if outcomes.in_project(place[0], ran)), None)
    if stack is not None:
        return detail(outcomes.relative(stack[0], ran), int(stack[1]), f"{test} failed", printed)
    return detail(outcomes.relative(_go_folder(package, "", ran), ran), None, f"{test} failed", printed)


def _go_folder(package: str, file: str, ran: Ran) -> str:
    """The folder of a package, "" for the module's own: it ends the import path; Go names files without it."""
    inner = package.split("/")
    folders = ("/".join(inner[start:]) for start in range(len(inner)))
    return next((folder for folder in folders if os.path.exists(os.path.join(ran.folder, folder, file))), "")


def rust_checks(project: Project, env: Mapping[str, str]) -> list[Check]:
    """The tests of every Cargo workspace and of every package outside of one."""
    return [_cargo(project, folder, env) for folder in tops(project.folders_with("Cargo.toml"))]


def _cargo(project: Project, folder: str, env: Mapping[str, str]) -> Check:
    program = process.find("cargo", dict(env))
    if program is None:
        return Check("cargo-test", "tests", folder, missing="cargo is not installed", suggestion="install Rust")
    place = os.path.join(project.root, folder)
    return Check(
        "cargo-test",
        "tests",
        folder,
        (program, "test", "--workspace", "--no-fail-fast", "--message-format", "json", "--color", "never"),
        _read_cargo,
        env={"RUST_BACKTRACE": "0"},
        toolchain=lambda: [
            tools.file_version(program),
            tools.asked([program, "--version", "--verbose"], place, env),
            tools.asked(["rustc", "--version", "--verbose"], place, env),
        ],
    )


def _read_cargo(ran: Ran) -> VerificationResult:
    """The compiler's messages as JSON; of the tests, which have no such form outside of nightly, what they print."""
    errors = [
        event["message"]
        for event in _lines(ran.out)
        if event.get("reason") == "compiler-message"
        and isinstance(event.get("message"), dict)
        and event["message"].get("level") == "error"
        and event["message"].get("spans")
    ]
    if errors:
        # What is compiled once for itself and once for its tests is told twice.
        told = {(one.place, one.error): one for one in (_compiler_error(message, ran) for message in errors)}
        details = list(told.values())[:DETAILS]
        summary = f"it cannot be compiled: {counted(len(told), 'error')}"
        return VerificationResult("collection_error", summary, details, outcomes.start(details))
    ran = replace(ran, out=_NOT_JSON.sub(b"", ran.out))
    text = ran.out.decode("utf-8", "replace")
    results = [[int(count or 0) for count in counts] for counts in _RUST_RESULT.findall(text)]
    if not results:
        return outcomes.crash(ran, "cargo test")
    said = dict(_RUST_FAILURE.findall(text))
    names = [name for name, what in _RUST_CASE.findall(text) if what == "FAILED"]
    details = [_rust_failure(name, said.get(name, ""), ran) for name in names[:DETAILS]]
    passed, failed, ignored = (sum(column) for column in zip(*results, strict=True))
    cut_short = len(_RUST_BEGUN.findall(text)) - len(results)
    if cut_short > 0 and not (failed or ran.code):
        why = f"{counted(cut_short, 'program')} of tests ended before the tests did, with exit code 0"
        return outcomes.crash(ran, "cargo test", why)
    return outcomes.of_counts(ran, "cargo test", passed, failed, details, skipped=ignored)


def _compiler_error(message: Mapping[str, Any], ran: Ran) -> VerificationDetail:
    spans = [span for span in message["spans"] if isinstance(span, dict)]
    span = next((one for one in spans if one.get("is_primary")), spans[0] if spans else {})
    line = span.get("line_start")
    file = outcomes.relative(str(span.get("file_name", "")), ran)
    said, context = str(message.get("message", "")), str(message.get("rendered") or "")
    return detail(file, line if isinstance(line, int) else None, said, context)


def _rust_failure(name: str, said: str, ran: Ran) -> VerificationDetail:
    at = _RUST_PLACE.search(said)
    if at is None:
        return detail(ran.directory, None, f"{name} failed", said)
    return detail(outcomes.relative(at[1], ran), int(at[2]), f"{name}: {at[3] or 'panicked'}", said)


def make_checks(project: Project, env: Mapping[str, str]) -> list[Check]:
    """`make test` or `make check`, where the makefile at the root has such a target."""
    makefile = next((name for name in _MAKEFILES if project.has(name)), "")
    target = _TARGET.search(project.text(makefile)) if makefile else None
    if target is None:
        return []
    program = process.find("make", dict(env))
    if program is None:
        return [Check("make-test", "tests", ".", missing="make is not installed", suggestion="install make")]
    what = f"make {target[1]}"
    return [
        Check("make-test", "tests", ".", (program, target[1]), partial(outcomes.by_exit_code, what=what, file=makefile))
    ]


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

"""What `go test` and `cargo test` tell of the tests that they ran, held against those that there are."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ahp.runner.verification import outcomes, tools
from ahp.runner.verification.check import Ran
from ahp.runner.verification.result import (
    DETAILS,
    VerificationDetail,
    VerificationResult,
    VerificationType,
    counted,
    detail,
)
from ahp.system import files, jsontext
from ahp.system.errors import AhpError

_KEPT = 4_000  # characters of what a test printed
_READ = 1 << 20  # bytes of a file of tests
_GO_FILES = (
    "{{$p := .}}{{range .TestGoFiles}}{{$p.ImportPath}}\t{{$p.Dir}}/{{.}}\n{{end}}"
    "{{range .XTestGoFiles}}{{$p.ImportPath}}\t{{$p.Dir}}/{{.}}\n{{end}}"
)
# A test of Go, else what only looks like one: a string, a comment.
_GO_TEST = re.compile(
    r"^func ((?:Test|Fuzz)(?:[^a-z\W]\w*)?)\(\w+ \*testing\.[TF]\)"
    r'|"(?:\\.|[^"\\\n])*"|`[^`]*`|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/',
    re.MULTILINE | re.DOTALL,
)
_GO_PLACE = re.compile(r"^[ \t]*(\S[^\s:]{0,500}\.go):(\d{1,9})(?::\d+)?:? ?(.*)$", re.MULTILINE)
_RUST_ERROR = re.compile(r"^error(?:\[\w+\])?: (.+)\n\s*--> ([^\s:]{1,500}):(\d{1,9}):\d+", re.MULTILINE)
_RUST_BEGUN = re.compile(r"^running (\d{1,9}) tests?$", re.MULTILINE)
_RUST_END = re.compile(
    r"^test result: \w+\. (\d{1,9}) passed; (\d{1,9}) failed; (\d{1,9}) ignored; (\d{1,9})", re.MULTILINE
)
_RUST_FAILURE = re.compile(r"^---- (.{1,500}?) stdout ----\n(.*?)(?=^---- |^failures:|\Z)", re.MULTILINE | re.DOTALL)
_RUST_PLACE = re.compile(r"panicked at (?:'.*', )?([^\s:]{1,500}):(\d{1,9}):\d+:?\n?(.*)")


def read_go(ran: Ran, program: str, env: Mapping[str, str]) -> VerificationResult:
    """The events of `go test -json` (test2json): a test that began and has no outcome did not pass."""
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
    details = [_go_failure(key, printed.get(key, ""), ran) for key in leaves]
    passed, skipped = (sum(what == one for what in tests.values()) for one in ("pass", "skip"))
    if leaves or not ran.code:
        left = [f"{test} ({package})" for package, test in _of_go(ran, program, env, tests)] if not ran.code else []
        if left:
            return outcomes.not_run(ran, "go test", left)
        return outcomes.of_counts(ran, "go test", passed, len(leaves), details[:DETAILS], skipped=skipped)
    said = "".join(printed.values()) + ran.said
    places = [detail(outcomes.relative(file, ran), int(line), why, said) for file, line, why in _GO_PLACE.findall(said)]
    if not (ended or places):
        return outcomes.crash(ran, "go test")
    places = places or [detail(ran.directory, None, "a package cannot be tested", said)]
    begun = any(what == "run" for what in tests.values())
    summary = f"a package cannot be {'tested' if begun else 'built'}, {counted(passed, 'test')} passed"
    kind: VerificationType = "test_failure" if begun else "collection_error"
    return VerificationResult(kind, summary, places[:DETAILS], outcomes.start(places))


def _of_go(
    ran: Ran, program: str, env: Mapping[str, str], tests: Mapping[tuple[str, str], str]
) -> list[tuple[str, str]]:
    """The tests that there are, by go's own list of files, and that have no outcome."""
    left = [key for key, what in tests.items() if what == "run"]
    for line in tools.asked([program, "list", "-e", "-f", _GO_FILES, "./..."], ran.folder, env).splitlines():
        package, _, path = line.partition("\t")
        try:
            text = (files.read(path, _READ) or b"").decode("utf-8", "replace") if path else ""
        except AhpError:
            continue
        left += [(package, name) for name in _GO_TEST.findall(text) if name and (package, name) not in tests]
    return left


def _go_failure(key: tuple[str, str], printed: str, ran: Ran) -> VerificationDetail:
    """Go names files without their folder, which ends the import path of the package."""
    package, test = key
    inner = package.split("/")
    for file, line, said in _GO_PLACE.findall(printed):
        folders = ("/".join(inner[start:]) for start in range(len(inner) + 1))
        path = next((one for at in folders if outcomes.in_project(one := os.path.join(at, file), ran)), None)
        if path is not None:
            why = "it panicked" if said.startswith("+0x") else said  # a place of a stack
            return detail(outcomes.relative(path, ran), int(line), f"{test}: {why}", printed)
    return detail(ran.directory, None, f"{test} failed", printed)


def read_cargo(ran: Ran, program: str, env: Mapping[str, str]) -> VerificationResult:
    """What the harness of Rust prints of each program: how many tests it is about to run, and what became of them."""
    del program, env
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
    details = [_rust_failure(name, said, ran) for name, said in _RUST_FAILURE.findall(text)[:DETAILS]]
    return outcomes.of_counts(ran, "cargo test", passed, failed, details, skipped=ignored)


def _rust_failure(name: str, said: str, ran: Ran) -> VerificationDetail:
    at = _RUST_PLACE.search(said)
    if at is None:
        return detail(ran.directory, None, f"{name} failed", said)
    return detail(outcomes.relative(at[1], ran), int(at[2]), f"{name}: {at[3] or 'panicked'}", said)


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

"""What verification found (seed 003 §2.1), in words, as plain data and as SARIF."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal
from urllib.parse import quote

from ahp.protocol.text import excerpt, one_line
from ahp.system.version import __version__

VerificationType = Literal[
    "passed",
    "test_failure",
    "lint_failure",
    "collection_error",
    "weakened",
    "no_tests",
    "tool_missing",
    "timeout",
    "crash",
]

RED: tuple[VerificationType, ...] = ("collection_error", "test_failure", "lint_failure")
NOT_MADE: tuple[VerificationType, ...] = ("crash", "timeout", "tool_missing", "weakened", "no_tests")
# What several checks come to is the first of these that one of them found: what is wrong, then what is not known. A
# part without tests takes nothing from one whose tests passed.
_GRAVEST_FIRST: tuple[VerificationType, ...] = (
    *(*RED, "crash", "timeout", "tool_missing"),
    *("weakened", "passed", "no_tests"),
)

DETAILS = 20
LEFT_OUT = 20
_ERROR, _CONTEXT, _LINE = 500, 2_000, 400  # characters
_TOLD = 8_000
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


@dataclass(frozen=True)
class VerificationDetail:
    """One failure: where it is (`line` from 1, None unknown), what was said, and the lines around it."""

    file: str
    line: int | None = None
    error: str = ""
    context: str = ""

    @property
    def place(self) -> str:
        """`file:line`, or the file alone."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class CheckResult:
    """What one of several checks found: `name` as `ahp verify` takes it, in a folder relative to the root."""

    name: str
    directory: str
    command: str
    type: VerificationType
    summary: str
    cached: bool


@dataclass(frozen=True)
class VerificationResult:
    """What verification found. The `type` decides, the rest is for whoever fixes it.

    `cached` says that nothing ran, because nothing has changed since it passed. `checks` are the parts of a
    verification of several. `left_out` are tests, or files of tests, that are there and were not to run. `cautions` say
    of what passed what a person has to know, a sentence each.
    """

    type: VerificationType
    summary: str
    details: Sequence[VerificationDetail] = ()
    suggestion: str = ""
    cached: bool = False
    checks: Sequence[CheckResult] = ()
    left_out: Sequence[str] = ()
    cautions: Sequence[str] = ()

    @property
    def ok(self) -> bool:
        """Whether everything was checked and nothing is wrong."""
        return self.type == "passed"

    @property
    def red(self) -> bool:
        """Whether something is wrong with the project; what could not be checked is told, and is not red."""
        return self.type in RED

    def as_json(self) -> dict[str, Any]:
        """Plain data, with `ok` and `red` beside the fields."""
        given = asdict(self)
        lists = {name: list(given[name]) for name in ("details", "checks", "left_out", "cautions")}
        return {"ok": self.ok, "red": self.red, **given, **lists}

    def told(self) -> str:
        """The result in a model's words, at most about 10,000 characters."""
        lines = [self.summary]
        room = _TOLD
        for at, detail in enumerate(self.details):
            said = f"- {detail.place}: {detail.error}" + (f"\n{detail.context}" if detail.context else "")
            if len(said) > room:
                lines.append(f"({len(self.details) - at} more failures are left out)")
                break
            room -= len(said)
            lines.append(said)
        return "\n".join([*lines, *([self.suggestion] if self.suggestion else [])])


def detail(file: str, line: int | None, error: str, context: str = "") -> VerificationDetail:
    """A detail from what a tool printed: bounded, and free of what would move a cursor or turn the reading order."""
    first = one_line(" ".join(plain(error).split()), _ERROR)
    return VerificationDetail(one_line(file, _ERROR), line if line and line > 0 else None, first, clean(context))


def plain(text: str) -> str:
    """`text` without the escape sequences of a terminal (ECMA-48)."""
    return _ANSI.sub("", text)


def clean(text: str, kept: int = _CONTEXT) -> str:
    """The lines of `text` as they may be shown, at most `kept` characters from its beginning and its end."""
    shown = excerpt(plain(text).strip("\n"), 2 * kept)
    return excerpt("\n".join(one_line(line, _LINE) for line in shown.split("\n")), kept)


def combined(parts: Sequence[tuple[CheckResult, VerificationResult]]) -> VerificationResult:
    """What several checks found, as one result: that of the gravest, with the details of all that are as bad."""
    checks = [check for check, _ in parts]
    if len(parts) == 1:
        return replace(parts[0][1], checks=checks)
    found = [result for _, result in parts]
    kind = min((result.type for result in found), key=_GRAVEST_FIRST.index)
    grave = [result for result in found if result.type in RED] if kind in RED else [r for r in found if r.type == kind]
    told = "; ".join(map(_told, checks))
    return VerificationResult(
        kind,
        told,
        details=[one for result in grave for one in result.details][:DETAILS],
        suggestion="\n".join(dict.fromkeys(result.suggestion for result in grave if result.suggestion)),
        cached=all(result.cached for result in found),
        checks=checks,
        left_out=[one for result in found for one in result.left_out][:LEFT_OUT],
        cautions=list(dict.fromkeys(one for result in found for one in result.cautions)),
    )


def _told(check: CheckResult) -> str:
    if check.summary.startswith(f"{check.name} ") and check.directory == ".":
        return check.summary
    return f"{title(check.name, check.directory)}: {check.summary}"


def title(name: str, directory: str) -> str:
    """A check in words: its name, and its folder where that is not the root."""
    return name if directory == "." else f"{name} in {one_line(directory, 100)}"


def counted(number: int, what: str) -> str:
    """`1 test`, `3 tests`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_sarif(result: VerificationResult) -> dict[str, Any]:
    """One run whose results are the failures; `properties` hold the rest of the result."""
    told = {name: value for name, value in result.as_json().items() if name != "details"}
    run = {
        "tool": {"driver": {"name": "ahp verify", "version": __version__}},
        "invocations": [{"executionSuccessful": result.type not in NOT_MADE}],
        "results": [_finding(result, at) for at in range(len(result.details))] if result.red else [],
        "properties": told,
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _finding(result: VerificationResult, at: int) -> dict[str, Any]:
    detail = result.details[at]
    region = {"region": {"startLine": detail.line}} if detail.line else {}
    place = {"artifactLocation": {"uri": quote(detail.file, errors="surrogateescape")}, **region}
    return {
        "ruleId": result.type,
        "level": "error",
        "message": {"text": detail.error},
        "locations": [{"physicalLocation": place}],
    }

"""What is checked when all steps are done (seed 003 §2)."""

import os
import re
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict

from ahp.protocol.text import trim
from ahp.system import environ, files, process
from ahp.system.errors import AhpError, Timeout

VerificationType = Literal["passed", "test_failure", "collection_error", "no_tests", "timeout", "error", "not_run"]

_REPORT_LIMIT = 64 << 20  # bytes
_DETAILS = 20
_PLACE = re.compile(r"^(\S[^\n:]{0,500}):(\d+): ", re.MULTILINE)


class VerificationDetail(BaseModel):
    """One failure: where it is (`line` from 1, None unknown), what was said, and the lines around it."""

    model_config = ConfigDict(frozen=True)

    file: str
    line: int | None = None
    error: str
    context: str = ""


class VerificationResult(BaseModel):
    """What a verifier found (seed 003 §2.1). `ok` decides; the rest is for whoever mends it."""

    model_config = ConfigDict(frozen=True)

    ok: bool
    type: VerificationType
    summary: str
    details: list[VerificationDetail] = []
    suggestion: str = ""

    def told(self) -> str:
        """The result in a model's words."""
        lines = [self.summary]
        for detail in self.details:
            place = f"{detail.file}:{detail.line}" if detail.line else detail.file
            lines += [f"- {place}: {detail.error}", *([trim(detail.context, 1_000)] if detail.context else [])]
        return "\n".join([*lines, *([self.suggestion] if self.suggestion else [])])


class Verifier(Protocol):
    """Checks the project at `root` within `timeout_s` seconds. Never raises for what it finds."""

    def verify(self, root: str, timeout_s: float) -> VerificationResult:
        """What it found; a check that could not be made is not ok."""
        ...


NOT_RUN = VerificationResult(ok=True, type="not_run", summary="nothing to verify")


class PytestVerifier:
    """Runs the project's pytest with `python`, by default the project's own, and reads its JUnit report."""

    def __init__(self, python: str | None = None, arguments: tuple[str, ...] = ()) -> None:
        self._python = python
        self._arguments = ["-m", "pytest", "-q", "-o", "junit_family=xunit1", *arguments]

    def verify(self, root: str, timeout_s: float) -> VerificationResult:
        """One run of all tests of `root`, its whole process tree killed at `timeout_s`."""
        with tempfile.TemporaryDirectory(prefix="ahp-verify-") as folder:
            report = os.path.join(folder, "junit.xml")
            # Options of the pytest that may have started this process are not the project's.
            env = {key: value for key, value in environ.current().items() if not key.startswith("PYTEST_")}
            python = self._python or interpreter(root, env)
            command = [python, *self._arguments, f"--junitxml={report}"]
            try:
                ran = process.capture(command, cwd=root, env=env, timeout=timeout_s)
                data = files.read(report, _REPORT_LIMIT)
            except Timeout as error:
                return VerificationResult(ok=False, type="timeout", summary=f"the tests took too long: {error}")
            except AhpError as error:
                return VerificationResult(ok=False, type="error", summary=f"the tests could not be run: {error}")
        said = (ran.out + b"\n" + ran.err).decode("utf-8", "replace")
        if data is None and said.rstrip().endswith("No module named pytest"):
            told = f"nothing was verified: pytest is not installed for {python}"
            return VerificationResult(ok=True, type="not_run", summary=told)
        return self._judge(ran.code, data, said)

    def _judge(self, code: int, report: bytes | None, said: str) -> VerificationResult:
        if code == 5:
            return VerificationResult(
                ok=False, type="no_tests", summary="pytest found no tests", suggestion="Write a test, or plan without."
            )
        try:
            cases = _cases(report) if report is not None and code in (0, 1, 2) else None
        except ET.ParseError:
            cases = None
        if cases is None:
            return VerificationResult(
                ok=False, type="error", summary=f"pytest ended with {code}: {said.strip()[-1_000:]}"
            )
        bad = [found for case in cases if (found := _detail(case))]
        passed = len(cases) - len(bad) - sum(case.find("skipped") is not None for case in cases)
        if code == 0 and not bad:
            return VerificationResult(ok=True, type="passed", summary=f"{passed} tests passed")
        return VerificationResult(
            ok=False,
            type="collection_error" if code == 2 else "test_failure",
            summary=f"{len(bad)} tests failed, {passed} passed",
            details=bad[:_DETAILS],
        )


class Verification:
    """The verifiers of a run by policy; `result` is what was found last."""

    def __init__(self, verifiers: Mapping[str, Verifier], root: str) -> None:
        self.policies = ("auto", "none", *verifiers)
        self.result: VerificationResult | None = None
        self._verifiers = verifiers
        self._root = root

    def run(self, policy: str, timeout_s: float, *, wrote: Callable[[], bool]) -> VerificationResult:
        """Verifies as `policy` says, in at most `timeout_s`; `auto` does when the run `wrote` and tests exist."""
        self.result = self._found(policy, timeout_s, wrote)
        return self.result

    def _found(self, policy: str, timeout_s: float, wrote: Callable[[], bool]) -> VerificationResult:
        if policy == "auto":
            policy = "run_pytest" if has_tests(self._root) and wrote() else "none"
        if policy == "none":
            return NOT_RUN
        if policy not in self._verifiers:
            return VerificationResult(ok=False, type="error", summary=f"there is no verifier {policy!r}")
        if timeout_s <= 0:
            return VerificationResult(ok=False, type="timeout", summary="no time was left to verify")
        try:
            return self._verifiers[policy].verify(self._root, timeout_s)
        except AhpError as error:
            return VerificationResult(ok=False, type="error", summary=str(error))


def interpreter(root: str, env: Mapping[str, str]) -> str:
    """The Python of the project at `root`: of its virtual environment, of the active one, on the PATH, else ours."""
    folders = [os.path.join(root, ".venv"), os.path.join(root, "venv"), env.get("VIRTUAL_ENV", "")]
    own = [os.path.join(folder, "bin", "python") for folder in folders if folder]
    found = next((one for one in own if os.access(one, os.X_OK)), None)
    return found or process.find("python3", dict(env)) or sys.executable


def has_tests(root: str) -> bool:
    """Whether the project at `root` tells of pytest: by its configuration, or by test files where they usually are."""
    names = set(os.listdir(root))
    if {"pytest.ini", "conftest.py"} & names:
        return True
    for name in ("pyproject.toml", "setup.cfg", "tox.ini"):
        if name in names and b"pytest" in (files.read(os.path.join(root, name), _REPORT_LIMIT) or b""):
            return True
    folders = [os.path.join(root, name) for name in ("", "tests", "test") if name in names or not name]
    return any(
        name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))
        for folder in folders
        if os.path.isdir(folder)
        for name in os.listdir(folder)
    )


def _cases(report: bytes) -> list[ET.Element]:
    if b"<!DOCTYPE" in report or b"<!ENTITY" in report:
        raise ET.ParseError("a report has no document type")
    return list(ET.fromstring(report).iter("testcase"))  # noqa: S314  # without a document type nothing expands


def _detail(case: ET.Element) -> VerificationDetail | None:
    """The failure of a test case, or None when it did not fail."""
    found = case.find("failure")
    found = case.find("error") if found is None else found
    if found is None:
        return None
    text = found.text or ""
    name = case.get("name", "")
    # The last place in a traceback is where it failed; the report's own line is where the test begins, from 0.
    places = _PLACE.findall(text)
    start = case.get("line")
    file, line = places[-1] if places else (case.get("file") or case.get("classname") or name, None)
    number = int(line) if line else int(start) + 1 if start and start.isdigit() else None
    error = trim(" ".join((found.get("message") or text).split()), 500)
    return VerificationDetail(file=file, line=number, error=f"{name}: {error}", context=trim(text.strip(), 2_000))

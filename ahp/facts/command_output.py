"""What commands print, read as facts: json, lines, junit, sarif (OASIS SARIF 2.1.0), exit (design §4)."""

import json
import posixpath
from typing import Any
from urllib.parse import unquote, urlsplit

from ahp.facts import junit
from ahp.facts.registry import Absent

FINDINGS_LIMIT = 10_000
_MESSAGE_LIMIT = 1000


class Output:
    """A command's output: the parsed value, how many things it holds, and what was found where (SARIF and JUnit).

    `findings` are records `{path, line, message}`, paths relative to the root where they lie below it. `missing` tells
    why nothing is known of both, where the output itself says that nothing was looked for.
    """

    __slots__ = ("count", "findings", "missing", "value")

    def __init__(
        self,
        value: object,
        count: int,
        findings: "list[dict[str, object]] | None" = None,
        missing: "Absent | None" = None,
    ) -> None:
        self.value, self.count, self.findings, self.missing = value, count, findings or [], missing


def read(data: bytes, code: int, parse_as: str, root: str, directory: str) -> Output:
    """The output under `parse:`. Raises Absent when the command printed something else, or came to no result."""
    if parse_as == "exit":
        return Output(code, int(code != 0))
    if code < 0:
        raise Absent(f"it was killed by signal {-code}")
    # Where it found nothing it ends with 0; of lines also with 1, as grep does.
    if not data.strip() and (parse_as == "sarif" or code > (parse_as == "lines")):
        why = " (a shell's, of a program that is not on PATH)" if code == 127 else ""
        raise Absent(f"it printed nothing, and ended with exit code {code}{why}")
    if parse_as == "lines":
        lines = [line for line in data.decode("utf-8", "surrogateescape").splitlines() if line.strip()]
        return Output(lines, len(lines))
    if parse_as == "junit":
        return _junit(data, root, directory)
    value = _json(data)
    if parse_as == "sarif":
        return _sarif(value, code, root, directory)
    return Output(value, len(value) if isinstance(value, list | dict) else int(bool(value)))


def _json(data: bytes) -> Any:
    """One JSON value, or several, one a line (JSON lines); nothing printed is an empty list."""
    if not data.strip():
        return []
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in data.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        start = data.strip()[:60].decode("utf-8", "replace")
        raise Absent(f"its output is not JSON; it begins {start!r}") from None


def _junit(data: bytes, root: str, directory: str) -> Output:
    report = junit.parse(data, "its output")
    findings = [
        _finding(case.path, case.line, f"{case.name}: {case.message}" if case.message else case.name, root, directory)
        for case in report.failed[:FINDINGS_LIMIT]
    ]
    value = {
        "total": report.total,
        "failed_count": report.failed_count,
        "skipped": report.skipped,
        "failed": [case.name for case in report.failed],
    }
    return Output(value, report.failed_count, findings)


_NO_PROBLEM = ("pass", "notApplicable", "informational")  # of a result's kinds (SARIF 2.1.0 §3.27.9)
_NOT_SETTLED = ("underReview", "rejected")  # of a suppression's states (§3.35.3)


def _sarif(log: Any, code: int, root: str, directory: str) -> Output:
    try:
        results = [one for run in log["runs"] for one in run.get("results") or ()]
        found = [one for one in results if _is_problem(one)]
        findings = [_result(result, root, directory) for result in found[:FINDINGS_LIMIT]]
        ended = [one.get("executionSuccessful") for run in log["runs"] for one in run.get("invocations") or ()]
        failed = not results and any(one is False for one in ended)  # §3.20.14
        # Tools written in Go say `null` of a run that found nothing (§3.14.23 has it mean that nothing was looked for).
        failed = failed or (code != 0 and all(run.get("results") is None for run in log["runs"]))
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise Absent(f"its output is not SARIF ({type(error).__name__}: {str(error)[:80]})") from None
    missing = Absent(f"by its own output it came to no result, and it ended with exit code {code}") if failed else None
    return Output(log, len(found), findings, missing)


def _is_problem(result: Any) -> bool:
    """Whether a result counts: neither suppressed (§3.27.23) nor gone since a baseline, and of a kind that fails."""
    states = [one.get("status") for one in result.get("suppressions") or ()]
    suppressed = states and not any(state in _NOT_SETTLED for state in states)
    return not suppressed and result.get("kind") not in _NO_PROBLEM and result.get("baselineState") != "absent"


def _result(result: Any, root: str, directory: str) -> dict[str, object]:
    message = result.get("message") or {}
    text = message.get("text") or message.get("markdown") or ""
    rule = result.get("ruleId") or ""
    places = result.get("locations") or [{}]
    place = places[0].get("physicalLocation") or {}
    uri = (place.get("artifactLocation") or {}).get("uri") or ""
    line = (place.get("region") or {}).get("startLine")
    said = f"{rule}: {text}" if rule else text
    return _finding(_path(str(uri)), line if isinstance(line, int) else 0, str(said), root, directory)


def _path(uri: str) -> str:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return uri
    return unquote(parts.path, errors="surrogateescape") if parts.scheme in ("", "file") else uri


def _finding(path: str, line: int, message: str, root: str, directory: str) -> dict[str, object]:
    if path.startswith(root + "/"):
        path = path[len(root) + 1 :]
    elif path and not path.startswith("/"):
        path = posixpath.normpath(posixpath.join(directory, path))
    return {"path": path, "line": max(line, 0), "message": message[:_MESSAGE_LIMIT]}

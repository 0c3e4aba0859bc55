"""A verification as SARIF 2.1.0 (OASIS), for command facts and for code hosts."""

from typing import Any
from urllib.parse import quote

from ahp import __version__
from ahp.runner.verification.result import NOT_MADE, VerificationResult

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

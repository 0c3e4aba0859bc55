"""ahp.runner.verification.result: one result of several checks, and what is told of it"""

from __future__ import annotations

import json
from typing import get_args

import pytest

from ahp.runner.verification.result import (
    NOT_MADE,
    RED,
    CheckResult,
    VerificationDetail,
    VerificationResult,
    VerificationType,
    as_sarif,
    combined,
)


def part(
    kind: VerificationType, name: str = "pytest", directory: str = ".", **given: object
) -> tuple[CheckResult, VerificationResult]:
    result = VerificationResult(kind, f"it {kind}", [VerificationDetail(f"{name}.x", 3, kind)], f"mend {kind}", **given)  # type: ignore[arg-type]
    return CheckResult(name, directory, "", kind, result.summary, result.cached), result


def test_every_type_passed_is_red_or_was_not_made() -> None:
    assert {"passed", *RED, *NOT_MADE} == set(get_args(VerificationType))
    for kind in get_args(VerificationType):
        result = VerificationResult(kind, "")
        assert (result.ok, result.red) == (kind == "passed", kind in RED)


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        (["passed", "lint_failure", "test_failure"], "test_failure"),
        (["lint_failure", "crash"], "lint_failure"),
        (["passed", "timeout"], "timeout"),
        (["passed", "tool_missing"], "tool_missing"),
        (["passed", "no_tests"], "passed"),
        (["no_tests", "no_tests"], "no_tests"),
    ],
)
def test_the_gravest_of_several_checks_decides(kinds: list[VerificationType], found: str) -> None:
    result = combined([part(kind, f"check{at}") for at, kind in enumerate(kinds)])
    assert result.type == found
    assert len(result.checks) == len(kinds)


def test_all_that_is_red_is_told_and_what_is_not_known_beside_it_in_the_summary() -> None:
    result = combined(
        [part("lint_failure", "ruff"), part("test_failure", "pytest", "lib"), part("tool_missing", "jest")]
    )
    assert [one.file for one in result.details] == ["ruff.x", "pytest.x"]
    assert result.suggestion == "mend lint_failure\nmend test_failure"
    assert result.summary == "ruff: it lint_failure; pytest in lib: it test_failure; jest: it tool_missing"


def test_all_is_cached_only_where_each_is() -> None:
    assert combined([part("passed", cached=True), part("passed", "b", cached=True)]).cached
    assert not combined([part("passed", cached=True), part("passed", "b")]).cached


def test_what_a_model_reads_is_bounded() -> None:
    details = [VerificationDetail(f"f{at}", None, "e" * 500, "c" * 2_000) for at in range(20)]
    told = VerificationResult("test_failure", "20 tests failed", details, "mend").told()
    assert len(told) < 10_000
    assert "(17 more failures are left out)\nmend" in told


def test_as_data_it_is_the_seed_s_object_and_more() -> None:
    data = json.loads(json.dumps(combined([part("test_failure")]).as_json()))
    assert data["details"] == [{"file": "pytest.x", "line": 3, "error": "test_failure", "context": ""}]
    fields = ["type", "summary", "details", "suggestion", "cached", "checks", "left_out", "cautions"]
    assert list(data) == ["ok", "red", *fields]


def test_as_sarif_only_what_is_red_is_a_result() -> None:
    [run] = as_sarif(combined([part("test_failure", "a b")]))["runs"]
    [found] = run["results"]
    assert found["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "a%20b.x"},
        "region": {"startLine": 3},
    }
    assert run["properties"]["red"] and run["invocations"] == [{"executionSuccessful": True}]
    [run] = as_sarif(combined([part("crash")]))["runs"]
    assert run["results"] == [] and run["invocations"] == [{"executionSuccessful": False}]

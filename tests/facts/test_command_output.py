"""What commands print, read as facts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ahp.facts import command_output
from ahp.facts.registry import Absent
from tests.facts.conftest import SAMPLES, settings, spec


def test_output_that_is_not_json_leaves_the_exit_code(make_event: Any, gather: Any) -> None:
    command = spec("echo 'Traceback'; exit 2", parse="json")
    facts = gather(make_event(), "lint.exit_code", "lint.count", settings=settings(command))
    assert facts["lint.exit_code"] == 2
    assert facts["missing"]["lint.count"][0] == "its output is not JSON; it begins 'Traceback'"


def test_json_lines_and_nothing_printed() -> None:
    assert command_output.read(b'{"a": 1}\n{"a": 2}\n', 0, "json", "/r", ".").count == 2
    assert command_output.read(b"", 0, "json", "/r", ".").count == 0
    assert command_output.read(b"3", 0, "json", "/r", ".").count == 1
    with pytest.raises(Absent):
        command_output.read(b"[" * 100_000, 0, "json", "/r", ".")


def test_a_command_that_came_to_no_result_found_not_nothing() -> None:
    for parse_as, code in (("json", 1), ("json", 2), ("lines", 2), ("lines", 127), ("sarif", 0), ("junit", 1)):
        with pytest.raises(Absent, match=f"it printed nothing, and ended with exit code {code}"):
            command_output.read(b" \n", code, parse_as, "/r", ".")
    for parse_as, printed in (("json", b"[]"), ("lines", b"a"), ("junit", b"<testsuite/>")):
        with pytest.raises(Absent, match="it was killed by signal 9"):
            command_output.read(printed, -9, parse_as, "/r", ".")
    assert command_output.read(b"", 1, "lines", "/r", ".").count == 0
    assert command_output.read(b"", -9, "exit", "/r", ".").count == 1


def test_junit_from_a_command(make_event: Any, gather: Any) -> None:
    extracts = {"total": {"value": "output.total", "type": "int"}}
    command = spec(f"cat '{SAMPLES}/junit.xml'", parse="junit", extract=extracts)
    facts = gather(make_event(), "lint.count", "lint.findings", "lint.total", settings=settings(command))
    assert (facts["lint.count"], facts["lint.total"]) == (2, 5)
    assert facts["lint.findings"][0]["message"].startswith("test_app::test_bad: assert 2 == 1")


def test_what_sarif_says_of_a_result_decides_whether_it_counts() -> None:
    def count(result: dict[str, Any]) -> object:
        log = {"runs": [{"results": [{"ruleId": "R1", "message": {"text": "bad"}, **result}]}]}
        return command_output.read(json.dumps(log).encode(), 0, "sarif", "/r", ".").count

    def suppressed(*states: str) -> dict[str, Any]:
        return {"suppressions": [{"kind": "external", "status": state} for state in states]}

    for counts in ({}, {"kind": "fail"}, {"kind": "open"}, {"kind": "review"}, {"baselineState": "unchanged"}):
        assert count(counts) == 1
    for settled in (
        {"kind": "pass"},
        {"kind": "notApplicable"},
        {"kind": "informational"},
        {"baselineState": "absent"},
    ):
        assert count(settled) == 0
    assert [count(suppressed(*states)) for states in ([], ["accepted"])] == [1, 0]
    for open_states in (["rejected"], ["underReview"], ["accepted", "rejected"]):
        assert count(suppressed(*open_states)) == 1


def test_a_sarif_run_that_did_not_finish_found_not_nothing(make_event: Any, gather: Any) -> None:
    def read(code: int, *runs: dict[str, Any]) -> command_output.Output:
        return command_output.read(json.dumps({"runs": runs}).encode(), code, "sarif", "/r", ".")

    stopped = {"invocations": [{"executionSuccessful": False}]}
    bad = {"message": {"text": "bad"}}
    for found in (read(0, {"results": None}), read(0, {}), read(0), read(1, {"results": []})):
        assert (found.count, found.missing) == (0, None)
    assert read(1, {"results": [bad], **stopped}).missing is None
    for nothing in (
        read(0, {"results": [], **stopped}),
        read(1, {"results": None}),
        read(1, {}),
        read(2),
        read(0, {"results": []}, {"results": None, **stopped}),
    ):
        assert "by its own output it came to no result" in str(nothing.missing)
    printed = json.dumps({"runs": [{**stopped, "tool": {"driver": {"name": "t"}}}]})
    extracts = {"tool": {"value": "output.runs[0].tool.driver.name", "type": "str"}}
    command = spec(f"printf '{printed}'", parse="sarif", extract=extracts)
    facts = gather(make_event(), "lint.count", "lint.findings", "lint.tool", settings=settings(command))
    assert (set(facts["missing"]), facts["lint.tool"]) == ({"lint.count", "lint.findings"}, "t")


def test_sarif_places_its_findings() -> None:
    def result(uri: str, line: Any = 3, **more: Any) -> dict[str, Any]:
        place = {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": line}}}
        return {"ruleId": "R1", "message": {"text": "bad"}, "locations": [place], **more}

    silenced = result("x", suppressions=[{"kind": "inSource"}])
    log = {
        "runs": [
            {"results": [result("a%20b.py"), result("file:///r/src/c.py"), silenced]},
            {"results": [result("file:///elsewhere/d.py"), {"message": {"markdown": "*m*"}}, result("http://[", "no")]},
            {},
        ]
    }
    output = command_output.read(json.dumps(log).encode(), 1, "sarif", "/r", "sub")
    assert output.count == 5
    assert output.findings == [
        {"path": "sub/a b.py", "line": 3, "message": "R1: bad"},
        {"path": "src/c.py", "line": 3, "message": "R1: bad"},
        {"path": "/elsewhere/d.py", "line": 3, "message": "R1: bad"},
        {"path": "", "line": 0, "message": "*m*"},
        {"path": "sub/http:/[", "line": 0, "message": "R1: bad"},
    ]
    with pytest.raises(Absent, match="printed nothing, and ended with exit code 127"):
        command_output.read(b"\n", 127, "sarif", "/r", ".")
    for bad in (b"[]", b'{"runs": 1}', b'{"runs": [{"results": [{"locations": 3}]}]}'):
        with pytest.raises(Absent, match="not SARIF"):
            command_output.read(bad, 0, "sarif", "/r", ".")

"""Coverage in every format is the same number: covered lines plus branches of all lines plus branches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.facts import coverage_report
from ahp.facts.registry import Absent
from tests.examples import examples
from tests.facts.conftest import SAMPLES

LCOV = """TN:
SF:app.py
DA:1,1
DA:2,1
DA:3,1
DA:4,1
DA:5,1
DA:6,0
BRDA:2,0,0,1
BRDA:2,0,1,3
LF:6
LH:5
BRF:2
BRH:2
end_of_record
"""


@pytest.mark.parametrize("name", ["coverage.xml", "coverage.json"])
def test_the_formats_of_coverage_py_agree(name: str) -> None:
    assert coverage_report.parse((SAMPLES / name).read_bytes(), name) == pytest.approx(87.5)


def test_lcov_agrees() -> None:
    assert coverage_report.parse(LCOV.encode(), "lcov.info") == pytest.approx(87.5)


@pytest.mark.parametrize("hits", ["-1", "abc", "0.0", "", "1e3", "\u0663"])
def test_hits_that_are_no_count_make_a_broken_report_and_nothing_covered(hits: str) -> None:
    cobertura = f'<coverage><class><lines><line number="1" hits="{hits}"/></lines></class></coverage>'
    for text in (cobertura, LCOV.replace("DA:6,0", f"DA:6,{hits}"), LCOV.replace("BRDA:2,0,1,3", f"BRDA:2,0,1,{hits}")):
        with pytest.raises(Absent, match="is no count of hits; the report is broken"):
            coverage_report.parse(text.encode(), "r")


def test_a_file_in_several_records_counts_once_with_its_best_hits() -> None:
    other = LCOV.replace("DA:6,0", "DA:6,4").replace("DA:1,1", "DA:1,0").replace("BRDA:2,0,0,1", "BRDA:2,0,0,-")
    assert coverage_report.parse((LCOV + other).encode(), "lcov.info") == 100.0


def test_cobertura_without_counts_is_counted_by_its_lines() -> None:
    text = b"""<?xml version="1.0"?><!DOCTYPE coverage SYSTEM "http://cobertura.example.org/coverage-04.dtd">
    <coverage line-rate="0.5"><packages><package><classes><class filename="a">
    <methods><method><lines><line number="1" hits="0"/></lines></method></methods>
    <lines><line number="1" hits="1"/><line number="2" hits="00"/>
    <line number="3" hits="2" branch="true" condition-coverage="50% (1/2)"/></lines>
    </class></classes></package></packages></coverage>"""
    assert coverage_report.parse(text, "c.xml") == pytest.approx(60.0)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"<coverage lines-valid='0' lines-covered='0' branches-valid='0' branches-covered='0'/>", "lists no lines"),
        (b'{"totals": {"covered_lines": 2, "num_statements": 1}}', "claims more"),
        (b"<report/>", "not <coverage>"),
        (b"<coverage>", r"r:1: not well-formed"),
        (b'<!DOCTYPE c [<!ENTITY a "b">]><coverage/>', "document type of its own"),
        (b"{}", "no `totals` of lines"),
        (b'{"totals": []}', "no `totals` of lines"),
        (b'{"totals": {"covered_lines": "1", "num_statements": 2}}', "no whole numbers"),
        (b'{"totals": {"covered_lines": true, "num_statements": 2}}', "no whole numbers"),
        (b'{"totals"', "not JSON: Expecting"),
        (b"{" * 5, "not JSON: Expecting property name"),
        (b'{"total": {"lines": {"pct": 50}}}', "no `totals` of lines; is it coverage.json of coverage.py?"),
        (b"<coverage clover='3.2'><project/></coverage>", "lists no lines of classes; is it a Cobertura report?"),
        (b"hello", "neither XML, JSON nor lcov"),
        (LCOV[:40].encode(), "cut off"),
        (b"", "measures no lines"),
    ],
)
def test_a_report_that_tells_nothing_says_so(data: bytes, says: str) -> None:
    with pytest.raises(Absent, match=says):
        coverage_report.parse(data, "r")


@given(data=st.one_of(st.binary(max_size=100), st.text(alphabet="SFDALHBR:,0123-\n", max_size=100).map(str.encode)))
@examples(200)
def test_any_bytes_give_a_percentage_or_an_error(data: bytes) -> None:
    try:
        assert 0 <= coverage_report.parse(data, "r") <= 100
    except Absent as absent:
        assert absent.reason.startswith("r")

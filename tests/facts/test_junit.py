"""JUnit XML of several tools gives the same counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.facts import junit
from ahp.facts.registry import Absent
from tests.examples import examples
from tests.facts.conftest import SAMPLES


def test_the_report_of_pytest() -> None:
    report = junit.parse((SAMPLES / "junit.xml").read_bytes(), "junit.xml")
    assert (report.total, report.failed_count, report.skipped) == (5, 2, 2)
    assert [case.name for case in report.failed] == ["test_app::test_bad", "test_app::test_err"]
    assert report.failed[0].message.startswith("assert 2 == 1")


def test_suites_inside_suites_count_once() -> None:
    text = b"""<testsuite tests="2" failures="1" errors="0"><testsuite tests="2" failures="1" errors="0">
    <testcase name="a" file="a.py" line="7"><failure message="no"/><failure message="again"/></testcase>
    <testcase name="b"><skipped/><skipped/></testcase></testsuite></testsuite>"""
    report = junit.parse(text, "r.xml")
    assert (report.total, report.failed_count, report.skipped) == (2, 1, 1)
    assert (report.failed[0].path, report.failed[0].line, report.failed[0].name) == ("a.py", 7, "a")


def test_what_a_suite_declares_counts_when_its_cases_are_gone() -> None:
    report = junit.parse(b'<testsuites><testsuite tests="9" failures="1" errors="2"/></testsuites>', "r.xml")
    assert (report.total, report.failed_count) == (9, 3)


@pytest.mark.parametrize(
    "text",
    [
        b'<testsuites tests="9" failures="2"/>',
        b'<testsuites tests="9" failures="2"><testsuite><testcase name="a"/></testsuite></testsuites>',
        b'<testsuites><testsuite><testsuite tests="9" errors="2"/></testsuite></testsuites>',
        (
            b'<testsuites><testsuite><testsuite tests="4" failures="1"/><testsuite tests="5" failures="1"/></testsuite>'
            b'<testsuite tests="0"/></testsuites>'
        ),
    ],
)
def test_what_is_declared_counts_on_whichever_level_it_is(text: bytes) -> None:
    report = junit.parse(text, "r.xml")
    assert (report.total, report.failed_count) == (9, 2)


def test_an_error_of_the_suite_itself_is_a_failure() -> None:
    report = junit.parse(b"<testsuite><error message='import failed'/></testsuite>", "r.xml")
    assert report.failed_count == 1 and report.failed[0].name == "set-up of the suite"


@pytest.mark.parametrize("figure", [b'tests="abc"', b'failures="-2"', b'errors="&#178;"', b'tests="1.5"', b'tests=""'])
def test_a_count_that_is_none_makes_a_broken_report_and_never_zero(figure: bytes) -> None:
    with pytest.raises(Absent, match=r"r\.xml: \w+=.* is no count; the report is broken"):
        junit.parse(b"<testsuite " + figure + b'><testcase name="a"/></testsuite>', "r.xml")


@given(data=st.binary(max_size=200), text=st.text(alphabet="<>/=!?&;[]testsuicae'\" \n", max_size=80))
@examples(200)
def test_any_bytes_give_a_report_or_an_error(data: bytes, text: str) -> None:
    for case in (data, b"<testsuite>" + text.encode() + b"</testsuite>"):
        try:
            assert junit.parse(case, "r.xml").total >= 0
        except Absent as absent:
            assert absent.reason.startswith("r.xml")

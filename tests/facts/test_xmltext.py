"""Hostile XML gives an error with its line, and nothing of it is followed or expanded."""

from __future__ import annotations

import pytest

from ahp.facts import coverage_report, junit
from ahp.facts.registry import Absent


def test_a_system_identifier_is_not_followed_and_does_no_harm() -> None:
    text = b'<!DOCTYPE testsuite SYSTEM "file:///etc/passwd"><testsuite tests="1"/>'
    assert junit.parse(text, "r.xml").total == 1


LAUGHS = b"""<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol2 "&lol;&lol;&lol;">]>
<testsuite name="&lol2;"/>"""


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (LAUGHS, r"r\.xml:2: it has a document type of its own"),
        (b'<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/passwd">]><t>&x;</t>', "document type of its own"),
        (b"<testsuite><testcase></testsuite>", r"r\.xml:1: not well-formed XML: mismatched tag"),
        (b"<testsuite>\n<testcase name='x'>", r"r\.xml:2: not well-formed XML: no element found"),
        (b"", "no element found"),
        (b"{}", "not well-formed"),
        (b"\0\1\2", "not well-formed"),
        (b'<?xml version="1.0" encoding="klingon"?><testsuite/>', "r.xml"),
        (b"<html/>", "the root is <html>, not <testsuites>"),
        (b"<testsuite>&undefined;</testsuite>", "undefined entity"),
        (b"<a>" * 200 + b"</a>" * 200, "more than 100 elements inside each other"),
    ],
)
def test_bad_xml_is_an_error_with_its_place(data: bytes, says: str) -> None:
    with pytest.raises(Absent, match=says):
        junit.parse(data, "r.xml")


def test_huge_xml_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage_report, "SIZE_LIMIT", 10)
    with pytest.raises(Absent, match="more than the 10 that are read"):
        junit.parse(b"<testsuites/> ", "r.xml")

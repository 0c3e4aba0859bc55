"""JUnit XML as Jenkins, GitLab, Buildkite and Azure read it: a test case a rule.

The schema is that of Jenkins' xUnit plugin, the strictest of those in use. A rule that blocks is a failed test, one
that is excused a skipped one; what only warns passes, with its words as the test's output.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from ahp.hosts.ci.report import Report, Result, sentence, strongest_first


def write(report: Report) -> str:
    """One suite: every rule of the policy, and what else speaks."""
    results: dict[str, list[Result]] = {rule.id: [] for rule in report.rules}
    for one in strongest_first(report.results):
        results.setdefault(one.rule, []).append(one)
    cases = [_case(rule, said) for rule, said in results.items()]
    failed, skipped = (sum(case.find(kind) is not None for case in cases) for kind in ("failure", "skipped"))
    errors = 0
    if report.exit_code == 2:
        cases.append(_unjudged(report))
        errors = 1
    counts = {"tests": str(len(cases)), "failures": str(failed), "errors": str(errors)}
    suites = ET.Element("testsuites", {"name": "ahp", **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": "ahp", **counts, "skipped": str(skipped)})
    suite.extend(cases)
    ET.SubElement(suite, "system-out").text = "\n".join([report.about, *report.notes])
    ET.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suites, encoding="unicode") + "\n"


def _case(rule: str, said: list[Result]) -> ET.Element:
    case = ET.Element("testcase", {"classname": "ahp", "name": rule})
    strict = [one for one in said if one.level == "block" and not one.excused]
    excused = [one for one in said if one.excused]
    if strict:
        failure = ET.SubElement(case, "failure", {"message": strict[0].message, "type": "block"})
        failure.text = "\n".join([line for one in strict for line in _lines(one)])
    elif excused:
        ET.SubElement(case, "skipped", {"message": excused[0].excused})
    others = [one for one in said if one not in strict]
    if others:
        ET.SubElement(case, "system-out").text = "\n".join([line for one in others for line in _lines(one)])
    return case


def _unjudged(report: Report) -> ET.Element:
    case = ET.Element("testcase", {"classname": "ahp", "name": "the range can be judged"})
    error = ET.SubElement(case, "error", {"message": report.notes[0] if report.notes else report.about})
    error.text = "\n".join(report.notes)
    return case


def _lines(one: Result) -> list[str]:
    places = [
        f"{place.file}:{place.line}: {sentence(one, place)}" if place.file else sentence(one, place)
        for place in one.places
    ]
    left = one.total - len(one.places)
    more = [f"and {left} more"] if places and left > 0 else []
    return [*(places or [one.message]), *more, *[f"- {step}" for step in one.steps]]

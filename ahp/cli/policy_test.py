"""What `ahp policy test` prints: failures, the rules and refinements that the tests reached; text, JSON or JUnit."""

import json
import re
from xml.etree import ElementTree  # writes only; nothing is parsed

import click

from ahp.hosts.policy_test import Outcome, Report
from ahp.protocol.text import one_line
from ahp.system import jsontext
from ahp.system.terminal import table

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def show(report: Report, form: str, whole: bool = False) -> int:
    """Prints the report and gives the exit code: 0 all hold, 1 a test failed."""
    if form == "text":
        text(report, whole)
    else:
        click.echo({"json": as_json, "junit": junit}[form](report))
    return 1 if report.failed else 0


def text(report: Report, whole: bool = False) -> None:
    """Prints failures with their places, then a table of the rules that the tests ask, then the counts.

    Rules of packs, which come tested, are listed where a test reached them, or with `whole`.
    """
    for outcome in report.failed:
        click.echo(f"{_place(outcome)}: failed: {one_line(outcome.case.keys.name)}")
        click.echo("".join(f"    {fault}\n" for fault in outcome.faults), nl=outcome is report.failed[-1])
    if any("not among the given facts" in fault for outcome in report.failed for fault in outcome.faults):
        click.echo("a namespace that a test gives is whole: give the missing fact, too, or leave the namespace out\n")
    shown = [rule for rule in report.rules if rule.own or rule.spoke or whole]
    rows = [
        (one_line(r.rule), r.trigger, str(r.spoke or "never"), str(r.asked - r.spoke - r.undecided), str(r.undecided))
        for r in shown
    ]
    told = {(rule.rule, rule.trigger) for rule in shown}
    rows += [
        (f"{one_line(s.rule)} for {one_line(s.other)}", s.trigger, str(s.times or "never"), "", "")
        for s in report.refinements
        if (s.rule, s.trigger) in told
    ]
    heads = ("rule", "trigger", "matched", "silent", "undecided")
    table(rows, heads, numbers=(2, 3, 4), styles={"never": "yellow"})
    failed, total = len(report.failed), len(report.outcomes)
    names, reached = {rule.rule for rule in report.rules}, {rule.rule for rule in report.rules if rule.spoke}
    refined = sum(1 for one in report.refinements if one.times)
    covered = f"{len(reached)} of {len(names)} rules reached"
    if report.refinements:
        covered += f", {refined} of {len(report.refinements)} refinements"
    if hidden := names - {rule.rule for rule in shown}:
        click.echo(f"{len(hidden)} rules of packs that no test reached are left out; with them: --all")
    click.echo(f"{total - failed} of {total} tests hold; {covered}")


def as_json(report: Report) -> str:
    """`{"tests": [{file, line, name, trigger, faults}], "rules": […], "refinements": […]}`."""
    tests = [
        {
            "file": outcome.case.place.file,
            "line": outcome.case.place.line,
            "name": outcome.case.keys.name,
            "trigger": outcome.case.keys.trigger,
            "decision": outcome.verdict.decision if outcome.verdict else None,
            "faults": outcome.faults,
        }
        for outcome in report.outcomes
    ]
    rules = [rule._asdict() for rule in report.rules]
    refinements = [one._asdict() for one in report.refinements]
    told = {"tests": tests, "rules": rules, "refinements": refinements}
    return jsontext.visible(json.dumps(told, ensure_ascii=False, indent=2))


def junit(report: Report) -> str:
    """JUnit XML: a suite a file, a case a test, the coverage as properties of the whole."""
    root = ElementTree.Element("testsuites", _counts(report.outcomes))
    files = dict.fromkeys(outcome.case.place.file for outcome in report.outcomes)
    for file in files:
        outcomes = [outcome for outcome in report.outcomes if outcome.case.place.file == file]
        suite = ElementTree.SubElement(root, "testsuite", {"name": _xml(file), **_counts(outcomes)})
        for outcome in outcomes:
            _case(suite, outcome)
    properties = ElementTree.SubElement(root, "properties")
    for rule in report.rules:
        name = _xml(f"rule {rule.rule} at {rule.trigger}")
        ElementTree.SubElement(properties, "property", {"name": name, "value": str(rule.spoke)})
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _case(suite: ElementTree.Element, outcome: Outcome) -> None:
    place = outcome.case.place
    about = {"name": _xml(outcome.case.keys.name), "classname": _xml(outcome.case.keys.trigger)}
    case = ElementTree.SubElement(suite, "testcase", {**about, "file": _xml(place.file), "line": str(place.line)})
    if outcome.faults:
        failure = ElementTree.SubElement(case, "failure", {"message": _xml(outcome.faults[0])})
        failure.text = _xml("\n".join([_place(outcome), *outcome.faults]))


def _counts(outcomes: list[Outcome]) -> dict[str, str]:
    failed = sum(1 for outcome in outcomes if outcome.faults)
    return {"tests": str(len(outcomes)), "failures": str(failed), "errors": "0"}


def _place(outcome: Outcome) -> str:
    return f"{outcome.case.place.file}:{outcome.case.place.line}"


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)

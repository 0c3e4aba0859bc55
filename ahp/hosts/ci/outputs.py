"""A report in the forms that CI systems read, each with the name that people give it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from urllib.parse import quote

from ahp.hosts.ci.report import Place, Report, Result, RuleText, inert, sentence, spread, strongest_first, text
from ahp.policy.tree import HOOKS
from ahp.system.version import __version__

_SEVERITIES = {"block": "blocker", "control": "major", "prompt": "minor", "aid": "info"}
SUMMARY_BYTES = 1024 * 1024
_COMMANDS = {"block": "error", "control": "warning", "prompt": "warning", "aid": "notice"}
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RESULTS = 5000
RULES = 25_000
_SARIF_LEVELS = {"block": "error", "control": "warning", "prompt": "warning", "aid": "note", "allow": "none"}


def _json(report: Report) -> str:
    """`{about, begin, exit_code, results: [{rule, level, message, steps, places, total, excused}], notes, judged}`, the
    last one (`Judged`) where commits were judged.
    """
    results = [
        {**one._asdict(), "places": [place._asdict() for place in one.places]}
        for one in strongest_first(report.results)
    ]
    told = {"about": report.about, "begin": list(report.begin), "exit_code": report.exit_code}
    told |= {"results": results, "notes": report.notes}
    told |= {"judged": report.judged._asdict()} if report.judged else {}
    return json.dumps(told, indent=2) + "\n"


def _gitlab(report: Report) -> str:
    """GitLab's code quality report (docs.gitlab.com), a subset of CodeClimate's: an entry a place.

    What is excused is left out, since GitLab has no word for it.
    """
    at = {rule.id: (rule.file, rule.line) for rule in report.rules}
    entries = []
    for one, place in spread([one for one in report.results if not one.excused]):
        file, line = (place.file, place.line) if place.file else at.get(one.rule, (HOOKS, 1))
        entries.append(
            {
                "description": sentence(one, place),
                "check_name": one.rule,
                "fingerprint": f"{one.rule}:{place.fingerprint}",
                "severity": _SEVERITIES[one.level],
                "content": {"body": report.about},
                "location": {"path": file or HOOKS, "lines": {"begin": line or 1}},
            }
        )
    return json.dumps(entries, indent=1) + "\n"


def _workflow_commands(report: Report) -> str:
    """GitHub's annotations, escaped as its own toolkit does it (actions/toolkit, packages/core/src/command.ts).

    GitHub turns ten of a kind a step into annotations; the others stay in the log. What is excused is in the summary
    alone.
    """
    told = spread([one for one in report.results if not one.excused])
    lines = [_annotation(_COMMANDS[one.level], one, place) for one, place in told]
    if report.exit_code == 2 and not report.results:
        lines += [f"::error title=ahp%3A not judged::{_data(note)}" for note in report.notes]
    else:
        lines += [inert(f"ahp: {note}") for note in report.notes]
    lines.append(inert(f"ahp: {report.about}"))
    return "".join(f"{line}\n" for line in lines)


def summary(report: Report) -> str:
    """The report as people read it, for the file that GITHUB_STEP_SUMMARY names; at most 1 MiB.

    It stands in a block of code, where Markdown has no link, no picture, no markup and no mention of an account.
    """
    verdict = {0: "allowed", 1: "refused", 2: "not judged"}[report.exit_code]
    told = f"### ahp: {verdict}\n\n" + "".join(f"    {line}\n" for line in text(report).splitlines())
    if len(told.encode()) > SUMMARY_BYTES:
        kept = told.encode()[: SUMMARY_BYTES - 200].decode("utf-8", "ignore").rpartition("\n")[0]
        told = f"{kept}\n\nThe rest is left out: a summary has at most 1 MiB.\n"
    return told


def _annotation(command: str, one: Result, place: Place) -> str:
    named = {"file": place.file, "line": str(place.line) if place.line else "", "title": f"ahp: {one.rule}"}
    escaped = {name: _data(value).replace(":", "%3A").replace(",", "%2C") for name, value in named.items() if value}
    properties = ",".join([f"{name}={value}" for name, value in escaped.items()])
    said = "\n".join([sentence(one, place), *[f"- {step}" for step in one.steps]])
    return f"::{command} {properties}::{_data(said)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _junit(report: Report) -> str:
    """JUnit XML by the schema of Jenkins' xUnit plugin, the strictest in use: a test case a rule.

    A rule that blocks is a failed test, one that is excused a skipped one; what only warns passes, with its words as
    the test's output.
    """
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
        failure.text = "\n".join([line for one in strict for line in _told_of(one)])
    elif excused:
        ET.SubElement(case, "skipped", {"message": excused[0].excused})
    others = [one for one in said if one not in strict]
    if others:
        ET.SubElement(case, "system-out").text = "\n".join([line for one in others for line in _told_of(one)])
    return case


def _unjudged(report: Report) -> ET.Element:
    case = ET.Element("testcase", {"classname": "ahp", "name": "the range can be judged"})
    error = ET.SubElement(case, "error", {"message": report.notes[0] if report.notes else report.about})
    error.text = "\n".join(report.notes)
    return case


def _told_of(one: Result) -> list[str]:
    places = [
        f"{place.file}:{place.line}: {sentence(one, place)}" if place.file else sentence(one, place)
        for place in one.places
    ]
    left = one.total - len(one.places)
    more = [f"and {left} more"] if places and left > 0 else []
    return [*(places or [one.message]), *more, *[f"- {step}" for step in one.steps]]


def _sarif(report: Report) -> str:
    """SARIF 2.1.0 (OASIS), as GitHub's code scanning and others read it: one run, its rules and results.

    GitHub wants a place for every result: one in no file is put at the rule in the policy. It stores 5,000 results of
    a run, 100 places a result; what is beyond is left out here, strongest kept, and told.
    """
    rules = _rules(report)
    index = {rule.id: number for number, rule in enumerate(rules)}
    places = {rule.id: (rule.file, rule.line) for rule in rules}
    told = spread(report.results)
    notes = list(report.notes)
    if len(told) > RESULTS:
        notes.append(f"{len(told) - RESULTS} of {len(told)} results are left out: GitHub stores {RESULTS} of a run")
    run = {
        "tool": {"driver": {"name": "ahp", "version": __version__, "rules": [_rule(rule) for rule in rules]}},
        "automationDetails": {"id": "ahp/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": report.exit_code != 2,
                "exitCode": report.exit_code,
                "toolExecutionNotifications": [
                    {"level": "note", "message": {"text": note}} for note in [report.about, *notes]
                ],
            }
        ],
        "results": [_result(one, place, index[one.rule], places[one.rule]) for one, place in told[:RESULTS]],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rules(report: Report) -> list[RuleText]:
    """The policy's rules, those that say something first, and what speaks without being one of them."""
    known = {rule.id: rule for rule in report.rules}
    speaking = list(dict.fromkeys(one.rule for one in report.results))
    levels = {one.rule: one.level for one in report.results}
    first = [known.get(name) or RuleText(name, levels[name], name, "", "", 0) for name in speaking]
    return [*first, *[rule for name, rule in known.items() if name not in levels]][:RULES]


def _rule(rule: RuleText) -> dict[str, object]:
    told: dict[str, object] = {
        "id": rule.id,
        "shortDescription": {"text": rule.about or rule.id},
        "fullDescription": {"text": rule.about or rule.id},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.level]},
    }
    if rule.help:
        told["help"] = {"text": rule.help}
    return told


def _result(one: Result, place: Place, index: int, rule_at: tuple[str, int]) -> dict[str, object]:
    file, line = (place.file, place.line) if place.file else (rule_at[0] or HOOKS, rule_at[1])
    physical: dict[str, object] = {"artifactLocation": {"uri": quote(file), "uriBaseId": "%SRCROOT%"}}
    physical["region"] = {"startLine": line or 1}
    location: dict[str, object] = {"physicalLocation": physical}
    if place.commit:
        location["logicalLocations"] = [{"name": place.commit, "kind": "commit"}]
    said = "\n".join([sentence(one, place), *[f"- {step}" for step in one.steps]])
    told: dict[str, object] = {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": _SARIF_LEVELS[one.level],
        "message": {"text": said},
        "locations": [location],
        "partialFingerprints": {"primaryLocationLineHash": place.fingerprint},
    }
    if one.excused:
        told["suppressions"] = [{"kind": "external", "status": "accepted", "justification": one.excused}]
    return told


FORMATS: dict[str, Callable[[Report], str]] = {
    "text": text,
    "json": _json,
    "sarif": _sarif,
    "junit": _junit,
    "github": _workflow_commands,
    "gitlab": _gitlab,
}

"""SARIF 2.1.0 (OASIS), as GitHub's code scanning and others read it.

GitHub wants a place for every result: one in no file is put at the rule in the policy. It stores 5,000 results of a
run, 100 places a result; what is beyond is left out here, strongest kept, and told.
"""

from __future__ import annotations

import json
from urllib.parse import quote

from ahp.hosts.ci.report import Place, Report, Result, RuleText, sentence, spread
from ahp.policy.tree import HOOKS
from ahp.system.version import __version__

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RESULTS = 5000
RULES = 25_000
_LEVELS = {"block": "error", "control": "warning", "prompt": "warning", "aid": "note", "allow": "none"}


def write(report: Report) -> str:
    """One run, its rules and results."""
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
        "invocations": [_invocation(report, notes)],
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
        "defaultConfiguration": {"level": _LEVELS[rule.level]},
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
    text = "\n".join([sentence(one, place), *[f"- {step}" for step in one.steps]])
    told: dict[str, object] = {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": _LEVELS[one.level],
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {"primaryLocationLineHash": place.fingerprint},
    }
    if one.excused:
        told["suppressions"] = [{"kind": "external", "status": "accepted", "justification": one.excused}]
    return told


def _invocation(report: Report, notes: list[str]) -> dict[str, object]:
    told = [{"level": "note", "message": {"text": note}} for note in [report.about, *notes]]
    judged = report.exit_code != 2
    return {"executionSuccessful": judged, "exitCode": report.exit_code, "toolExecutionNotifications": told}

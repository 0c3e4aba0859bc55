"""What `ahp policy test` prints: failures, the rules that the tests reached; text, JSON or JUnit."""

import json

import click

from ahp.hosts.ci import outputs
from ahp.hosts.ci.report import Result, RuleText
from ahp.hosts.ci.report import report as ci_report
from ahp.hosts.policy_test import Outcome, Report
from ahp.protocol.text import one_line
from ahp.system import jsontext
from ahp.system.terminal import table


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
    heads = ("rule", "trigger", "matched", "silent", "undecided")
    table(rows, heads, numbers=(2, 3, 4), styles={"never": "yellow"})
    failed, total = len(report.failed), len(report.outcomes)
    names, reached = {rule.rule for rule in report.rules}, {rule.rule for rule in report.rules if rule.spoke}
    covered = f"{len(reached)} of {len(names)} rules reached"
    if hidden := names - {rule.rule for rule in shown}:
        click.echo(f"{len(hidden)} rules of packs that no test reached are left out; with them: --all")
    click.echo(f"{total - failed} of {total} tests hold; {covered}")


def as_json(report: Report) -> str:
    """`{"tests": [{file, line, name, trigger, faults}], "rules": […]}`."""
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
    told = {"tests": tests, "rules": rules}
    return jsontext.visible(json.dumps(told, ensure_ascii=False, indent=2))


def junit(report: Report) -> str:
    """JUnit XML as `ahp ci` writes it: a case a test."""
    cases = [(f"{_place(outcome)} {one_line(outcome.case.keys.name)}", outcome.faults) for outcome in report.outcomes]
    rules = [RuleText(name, "block", "", "", "", 0) for name, _ in cases]
    results = [Result(name, "block", faults[0], faults[1:], [], 0) for name, faults in cases if faults]
    held = f"{len(cases) - len(report.failed)} of {len(cases)} tests hold"
    return outputs.FORMATS["junit"](ci_report(held, 1 if report.failed else 0, rules, results, []))


def _place(outcome: Outcome) -> str:
    return f"{outcome.case.place.file}:{outcome.case.place.line}"

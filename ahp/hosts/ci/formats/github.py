"""GitHub Actions: annotations on standard output, and the summary of the step.

Escaped as GitHub's own toolkit does it (actions/toolkit, packages/core/src/command.ts). GitHub shows ten annotations of
a kind a step; the rest is told in one line, and is whole in the summary.
"""

from __future__ import annotations

import html
import re

from ahp.hosts.ci.formats.plain import inert
from ahp.hosts.ci.report import Place, Report, Result, sentence, spread, strongest_first

SHOWN = 10
SUMMARY_BYTES = 1024 * 1024
_COMMANDS = {"block": "error", "control": "warning", "prompt": "warning", "aid": "notice"}
_SYMBOLS = {"block": "❌", "control": "✏️", "prompt": "⚠️", "aid": "💡"}
_MARKED = re.compile(r"([\\`*_{}\[\]()#+\-.!|~@:/])")


def workflow_commands(report: Report) -> str:
    """A workflow command a place, and then what was judged. What is excused is in the summary only."""
    lines: list[str] = []
    left: dict[str, int] = {}
    for one, place in spread([one for one in report.results if not one.excused]):
        command = _COMMANDS[one.level]
        if sum(line.startswith(f"::{command} ") for line in lines) < SHOWN:
            lines.append(_annotation(command, one, place))
        else:
            left[command] = left.get(command, 0) + 1
    for command, number in left.items():
        lines.append(f"ahp: {number} more of the kind {command} are in the summary: GitHub shows {SHOWN} a step")
    if report.exit_code == 2 and not report.results:
        lines += [f"::error title=ahp%3A not judged::{_data(note)}" for note in report.notes]
    else:
        lines += [inert(f"ahp: {note}") for note in report.notes]
    lines.append(inert(f"ahp: {report.about}"))
    return "".join(f"{line}\n" for line in lines)


def summary(report: Report) -> str:
    """The report in GitHub's Markdown, for the file that GITHUB_STEP_SUMMARY names; at most 1 MiB."""
    counted = [one for one in report.results if not one.excused]
    verdict = {0: "allowed", 1: "refused", 2: "not judged"}[report.exit_code]
    parts = [f"### ahp: {verdict}\n\n{_text(report.about)}\n"]
    parts += [f"\n> {_text(note)}\n" for note in report.notes]
    for one in strongest_first(counted):
        parts.append(_section(one))
    excused = strongest_first([one for one in report.results if one.excused])
    parts += [f"\n- {_text(one.rule)} excused: {_text(one.excused)}\n" for one in excused]
    told, size = [], 0
    for part in parts:
        size += len(part.encode())
        if size > SUMMARY_BYTES - 200:
            told.append("\nThe rest is left out: a summary has at most 1 MiB.\n")
            break
        told.append(part)
    return "".join(told)


def _annotation(command: str, one: Result, place: Place) -> str:
    named = {"file": place.file, "line": str(place.line) if place.line else "", "title": f"ahp: {one.rule}"}
    properties = ",".join([f"{name}={_property(value)}" for name, value in named.items() if value])
    text = "\n".join([sentence(one, place), *[f"- {step}" for step in one.steps]])
    return f"::{command} {properties}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _section(one: Result) -> str:
    lines = [f"\n#### {_SYMBOLS[one.level]} {_text(one.rule)}\n", _text(one.message), ""]
    for place in one.places:
        where = f"{place.file}:{place.line}" if place.line else place.file
        parts = [where, place.message, f"commit {place.commit[:12]}" if place.commit else ""]
        lines.append("- " + ": ".join([_text(part) for part in parts if part]))
    if one.places and one.total > len(one.places):
        lines.append(f"- and {one.total - len(one.places)} more")
    if one.steps:
        lines += ["", "What to do:", "", *[f"- {_text(step)}" for step in one.steps]]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    """`text` so that Markdown shows its characters: no link, no picture, no markup, no mention of an account."""
    return html.escape(_MARKED.sub(r"\\\1", text), quote=False)

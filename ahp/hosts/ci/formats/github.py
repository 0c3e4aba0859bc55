"""GitHub Actions: annotations on standard output, and the summary of the step.

Escaped as GitHub's own toolkit does it (actions/toolkit, packages/core/src/command.ts). GitHub shows ten annotations of
a kind a step; the rest is told in one line, and is whole in the summary.
"""

from __future__ import annotations

from ahp.hosts.ci.formats import plain
from ahp.hosts.ci.formats.plain import inert
from ahp.hosts.ci.report import Place, Report, Result, sentence, spread

SHOWN = 10
SUMMARY_BYTES = 1024 * 1024
_COMMANDS = {"block": "error", "control": "warning", "prompt": "warning", "aid": "notice"}


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
    """The report as people read it, for the file that GITHUB_STEP_SUMMARY names; at most 1 MiB.

    It stands in a block of code, where Markdown has no link, no picture, no markup and no mention of an account.
    """
    verdict = {0: "allowed", 1: "refused", 2: "not judged"}[report.exit_code]
    text = f"### ahp: {verdict}\n\n" + "".join(f"    {line}\n" for line in plain.write(report).splitlines())
    if len(text.encode()) > SUMMARY_BYTES:
        kept = text.encode()[: SUMMARY_BYTES - 200].decode("utf-8", "ignore").rpartition("\n")[0]
        text = f"{kept}\n\nThe rest is left out: a summary has at most 1 MiB.\n"
    return text


def _annotation(command: str, one: Result, place: Place) -> str:
    named = {"file": place.file, "line": str(place.line) if place.line else "", "title": f"ahp: {one.rule}"}
    properties = ",".join([f"{name}={_property(value)}" for name, value in named.items() if value])
    text = "\n".join([sentence(one, place), *[f"- {step}" for step in one.steps]])
    return f"::{command} {properties}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

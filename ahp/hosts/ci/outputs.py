"""A report in the forms that CI systems read, each with the name that people give it."""

from __future__ import annotations

import json
from collections.abc import Callable

from ahp.hosts.ci.formats import github, gitlab, junit, plain, sarif
from ahp.hosts.ci.report import Report, strongest_first


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


FORMATS: dict[str, Callable[[Report], str]] = {
    "text": plain.write,
    "json": _json,
    "sarif": sarif.write,
    "junit": junit.write,
    "github": github.workflow_commands,
    "gitlab": gitlab.write,
}

"""The report as one JSON object, for programs of one's own."""

from __future__ import annotations

import json

from ahp.hosts.ci.report import Report, strongest_first


def write(report: Report) -> str:
    """`{about, begin, exit_code, results: [{rule, level, message, steps, places, total, excused}], notes}`."""
    results = [
        {**one._asdict(), "places": [place._asdict() for place in one.places]}
        for one in strongest_first(report.results)
    ]
    told = {"about": report.about, "begin": list(report.begin), "exit_code": report.exit_code}
    told |= {"results": results, "notes": report.notes}
    return json.dumps(told, indent=2) + "\n"

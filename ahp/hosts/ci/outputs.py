"""A report in the forms that CI systems read, each with the name that people give it."""

from __future__ import annotations

import json
from collections.abc import Callable

from ahp.hosts.ci.formats import github, junit, plain, sarif
from ahp.hosts.ci.report import Report, sentence, spread, strongest_first
from ahp.policy.tree import HOOKS

_SEVERITIES = {"block": "blocker", "control": "major", "prompt": "minor", "aid": "info"}


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


FORMATS: dict[str, Callable[[Report], str]] = {
    "text": plain.write,
    "json": _json,
    "sarif": sarif.write,
    "junit": junit.write,
    "github": github.workflow_commands,
    "gitlab": _gitlab,
}

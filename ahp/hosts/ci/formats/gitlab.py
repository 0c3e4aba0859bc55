"""GitLab's code quality report (docs.gitlab.com, "Code Quality report format"), a subset of CodeClimate's."""

from __future__ import annotations

import json

from ahp.hosts.ci.report import Report, sentence, spread
from ahp.policy.tree import HOOKS

_SEVERITIES = {"block": "blocker", "control": "major", "prompt": "minor", "aid": "info"}


def write(report: Report) -> str:
    """A list with an entry a place; what is excused is left out, since GitLab has no word for it."""
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

"""`coverage`: percent of lines plus branches, from coverage.xml, coverage.json or lcov (design §6)."""

import re
from collections.abc import Sequence

from ahp.facts import coverage_report, report_files
from ahp.facts.gather import gather as gather_facts
from ahp.facts.registry import Absent, Namespace, Settings, fact
from ahp.protocol import text
from ahp.protocol.event import Event
from ahp.system.errors import AhpError, Unknown

_PERCENT = {"min": 0.0, "max": 100.0, "optional": True, "means": "percent"}

NAMESPACE = Namespace(
    source="coverage reports",
    settings=("reports",),
    schema={
        "current": fact("float", "percent of lines and branches", **_PERCENT),
        "threshold": fact("float", "the policy's, else by the issue's criticality", **_PERCENT),
        "previous": fact("float", "the base's figure", **_PERCENT),
        "is_stale": fact("bool", "sources changed; no `current`", optional=True),
    },
)

_DEFAULT = (
    "coverage.xml",
    "coverage.json",
    "lcov.info",
    "coverage.lcov",
    "coverage/lcov.info",
    "coverage/cobertura-coverage.xml",
    "reports/coverage.xml",
)
# What Monoco asks of an issue by its criticality, and does not enforce itself.
_FLOORS = {"low": 0.0, "medium": 70.0, "high": 85.0, "critical": 90.0}
NOTES = "ahp/coverage"
_MAKERS = {
    "python": "python -m pytest --cov --cov-branch --cov-report=xml",
    "node": "npx vitest run --coverage --coverage.reporter=lcov",
}


def gather(event: Event, fields: frozenset[str], settings: Settings) -> dict[str, object]:
    """The values of `fields`; the newest of several reports counts.

    Raises Absent for a past state; GitError. What is missing for one field alone is that field's Absent.
    """
    patterns = settings.reports.coverage or _DEFAULT
    found: dict[str, object] = {}
    if "threshold" in fields:
        found["threshold"] = _threshold(event, settings)
    if fields & {"current", "is_stale"}:
        try:
            found.update(_current(event, patterns))
        except Absent as absent:
            found.update(current=absent, is_stale=absent)
    if "previous" in fields:
        found["previous"] = _previous(event, patterns)
    return found


def _threshold(event: Event, settings: Settings) -> object:
    if settings.reports.coverage_threshold is not None:
        return float(settings.reports.coverage_threshold)
    values, missing = gather_facts({"issue": ["criticality"]}, event, settings)
    criticality = values.get("issue.criticality")
    if isinstance(criticality, str) and criticality in _FLOORS:
        return _FLOORS[criticality]
    reason = missing["issue.criticality"].reason if missing else f"criticality {text.one_line(str(criticality), 40)}"
    return Absent(f"the policy sets no `reports: {{coverage_threshold: …}}` and no issue does ({reason})")


def _current(event: Event, patterns: Sequence[str]) -> dict[str, object]:
    repository = report_files.repository_for(event)
    command = report_files.maker(event, _MAKERS)
    report = max(report_files.evidence(event, repository, patterns), key=lambda one: one.mtime_ns, default=None)
    if report is None:
        raise Absent(f"there is no coverage report ({', '.join(patterns[:3])})", command)
    try:
        changed = report_files.changed_source(event, repository, [report])
        if changed is not None:
            stale = Absent(f"{report.path} is older than {text.one_line(changed, 200)}", command)
            return {"current": stale, "is_stale": True}
        return {"current": coverage_report.parse(report.read(), report.path), "is_stale": False}
    except (Absent, AhpError) as error:
        return {"current": Absent(str(error), command), "is_stale": False}


def _previous(event: Event, patterns: Sequence[str]) -> object:
    """What the base measured: its committed report, else the number in its git note under `ahp/coverage`."""
    view, repository = event.view, event.repo
    if view is None or repository is None:
        return Absent("there is no base to compare with")
    try:
        base = repository.commit_id(view.base())
    except Unknown as unknown:
        return Absent(unknown.reason, unknown.command)
    if base is None:  # before the first commit
        return Absent("there is no commit to compare with")
    for pattern in patterns:
        if "*" in pattern or "\n" in pattern:
            continue
        data = repository.run("cat-file", "blob", f"{base}:{pattern}", ok=(0, 128))
        if data:
            try:
                return coverage_report.parse(data, f"{pattern} of the base")
            except Absent as absent:
                return absent
    note = repository.run("notes", "--ref", NOTES, "show", base, ok=(0, 1, 128)).strip()
    if re.fullmatch(rb"\d{1,3}(\.\d{1,9})?", note) and float(note) <= 100:
        return float(note)
    return Absent(
        "the base has neither a committed coverage report nor a note",
        f"git notes --ref={NOTES} add -m PERCENT {base[:12]}",
    )

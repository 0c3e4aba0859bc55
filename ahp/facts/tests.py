"""`tests`: the last test run, from JUnit XML reports (design §6); absent without a report or with a stale one."""

from typing import Any

from ahp.facts import junit, report_files
from ahp.facts.absent import Absent
from ahp.facts.registry import Namespace
from ahp.protocol import text
from ahp.protocol.event import Event
from ahp.system.errors import AhpError

_COUNT = {"type": "int", "min": 0, "optional": True}

NAMESPACE = Namespace(
    source="JUnit XML reports",
    schema={
        "total": {**_COUNT, "doc": "test cases, skipped ones included"},
        "passed": {**_COUNT, "doc": "cases that neither failed nor were skipped"},
        "failed_count": {**_COUNT, "doc": "failures and errors"},
        "skipped": {**_COUNT, "doc": "skipped cases"},
        "failed": {"type": "list[str]", "optional": True, "doc": "names of the failed cases: module.Class::name"},
        "duration": {"type": "float", "min": 0.0, "optional": True, "doc": "seconds, as the report says"},
        "is_stale": {
            "type": "bool",
            "optional": True,
            "doc": "a source is newer than the report; the rest is absent then",
        },
    },
)

_DEFAULT = (
    "junit.xml",
    "report.xml",
    "test-results.xml",
    "reports/junit*.xml",
    "test-results/**/*.xml",
    "target/surefire-reports/TEST-*.xml",
    "build/test-results/**/TEST-*.xml",
)
_PYTHON = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini")


def gather(event: Event, fields: frozenset[str], settings: dict[str, Any]) -> dict[str, object]:
    """The values of `fields` from all reports that `reports.tests` names, summed.

    Raises Absent without a report, for one that cannot be read, and for a past state; GitError.
    """
    repository = report_files.repository_for(event)
    patterns = (settings.get("reports") or {}).get("tests") or _DEFAULT
    found = report_files.find(event.root, patterns)
    command = _command(event, patterns)
    if not found:
        raise Absent(f"there is no JUnit XML report ({', '.join(patterns[:3])})", command)
    newer = report_files.newer_source(repository, min(found, key=lambda report: report.mtime_ns))
    if newer is not None:
        stale = Absent(f"the test report is older than {text.one_line(newer, 100)}", command)
        return {field: True if field == "is_stale" else stale for field in fields}
    try:
        reports = [junit.parse(report.read(), report.path) for report in found]
    except Absent as absent:
        raise Absent(absent.reason, command) from None
    except AhpError as error:
        raise Absent(str(error), command) from None
    failed_count = sum(report.failed_count for report in reports)
    total = sum(report.total for report in reports)
    skipped = sum(report.skipped for report in reports)
    values: dict[str, object] = {
        "total": total,
        "failed_count": failed_count,
        "skipped": skipped,
        "passed": max(total - failed_count - skipped, 0),
        "failed": [case.name for report in reports for case in report.failed],
        "duration": sum(report.duration for report in reports),
        "is_stale": False,
    }
    return {field: values[field] for field in fields}


def _command(event: Event, patterns: "list[str] | tuple[str, ...]") -> str:
    """What makes the report, as far as the project shows it."""
    path = next((pattern for pattern in patterns if "*" not in pattern), "junit.xml")
    if report_files.has_file(event, *_PYTHON):
        return f"python -m pytest --junitxml={path}"
    if report_files.has_file(event, "package.json"):
        return f"npx vitest run --reporter=junit --outputFile={path}"
    if report_files.has_file(event, "go.mod"):
        return f"gotestsum --junitfile {path}"
    if report_files.has_file(event, "pom.xml"):
        return "mvn test"
    if report_files.has_file(event, "build.gradle", "build.gradle.kts"):
        return "gradle test"
    return ""

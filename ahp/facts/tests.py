"""`tests`: the last test run, from JUnit XML reports (design §6)."""

from ahp.facts import junit, report_files
from ahp.facts.registry import Absent, Namespace, Settings, fact
from ahp.protocol import text
from ahp.protocol.event import Event
from ahp.system.errors import AhpError

NAMESPACE = Namespace(
    source="JUnit XML reports",
    settings=("reports",),
    schema={
        "total": fact("int", "cases, with skipped ones", min=0, optional=True),
        "passed": fact("int", "neither failed nor skipped", min=0, optional=True),
        "failed_count": fact("int", "failures and errors", min=0, optional=True),
        "skipped": fact("int", "skipped", min=0, optional=True),
        "failed": fact("list[str]", "names: module.Class::name", optional=True),
        "is_stale": fact("bool", "sources changed; the rest is absent", optional=True),
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
_MAKERS = {
    "python": "python -m pytest --junitxml={path}",
    "node": "npx vitest run --reporter=junit --outputFile={path}",
    "go": "gotestsum --junitfile {path}",
    "maven": "mvn test",
    "gradle": "gradle test",
}


def gather(event: Event, fields: frozenset[str], settings: Settings) -> dict[str, object]:
    """The values of `fields` from all reports that `reports.tests` names, summed.

    Raises Absent without a report, for one that cannot be read, and for a past state; GitError.
    """
    repository = report_files.repository_for(event)
    patterns = settings.reports.tests or _DEFAULT
    found = report_files.evidence(event, repository, patterns)
    path = next((pattern for pattern in patterns if "*" not in pattern), "junit.xml")
    command = report_files.maker(event, _MAKERS).replace("{path}", path)
    if not found:
        raise Absent(f"there is no JUnit XML report ({', '.join(patterns[:3])})", command)
    try:
        changed = report_files.changed_source(event, repository, found)
        if changed is not None:
            stale = Absent(f"the test report is older than {text.one_line(changed, 200)}", command)
            return {**dict.fromkeys(fields, stale), "is_stale": True}
        reports = [junit.parse(report.read(), report.path) for report in found]
    except (Absent, AhpError) as error:
        raise Absent(str(error), command) from None
    failed_count = sum(report.failed_count for report in reports)
    total = sum(report.total for report in reports)
    skipped = sum(report.skipped for report in reports)
    return {
        "total": total,
        "failed_count": failed_count,
        "skipped": skipped,
        "passed": max(total - failed_count - skipped, 0),
        "failed": [case.name for report in reports for case in report.failed],
        "is_stale": False,
    }

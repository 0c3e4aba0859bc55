"""`tests`: summed over fresh reports, or absent with the reason and the command that makes it."""

from __future__ import annotations

from typing import Any

from ahp.facts import tests
from ahp.protocol.event import PushRef
from tests.facts.conftest import SAMPLES, age

TESTS = [f"tests.{field}" for field in tests.NAMESPACE.schema]


def test_a_fresh_report_gives_every_field(project: Any, make_event: Any, gather: Any) -> None:
    facts = gather(make_event("pre-issue-submit"), *TESTS)
    assert facts == {
        "tests.total": 5,
        "tests.passed": 1,
        "tests.failed_count": 2,
        "tests.skipped": 2,
        "tests.failed": ["test_app::test_bad", "test_app::test_err"],
        "tests.is_stale": False,
    }


def test_several_reports_are_summed(project: Any, make_event: Any, gather: Any) -> None:
    project.write("out/TEST-a.xml", (SAMPLES / "junit.xml").read_bytes())
    project.write("out/deep/TEST-b.xml", (SAMPLES / "junit.xml").read_bytes())
    settings = {"reports": {"tests": ["out/**/*.xml"]}}
    facts = gather(make_event("pre-issue-submit"), "tests.total", "tests.failed_count", settings=settings)
    assert facts == {"tests.total": 10, "tests.failed_count": 4}


def test_a_report_that_a_push_brings_itself_is_no_evidence(project: Any, make_event: Any, gather: Any) -> None:
    project.git("add", "-f", "junit.xml")
    project.git("commit", "-q", "-m", "a report")
    assert gather(make_event("pre-issue-submit"), "tests.total") == {"tests.total": 5}
    push = PushRef("refs/heads/main", project.head(), "refs/heads/main", "0" * 40)
    assert gather(make_event("pre-push", push=push), "tests.total")["missing"]["tests.total"] == (
        "junit.xml is in the commits themselves, which makes it no evidence",
        "git rm --cached junit.xml",
    )
    project.write("report.xml", (SAMPLES / "junit.xml").read_bytes())
    assert gather(make_event("pre-push", push=push), "tests.total") == {"tests.total": 5}


def test_a_report_older_than_the_code_is_absent(project: Any, make_event: Any, gather: Any) -> None:
    project.write("new.py", "y = 2\n")
    age(project.root / "junit.xml", 10)
    facts = gather(make_event("pre-issue-submit"), "tests.failed_count", "tests.is_stale")
    assert facts["tests.is_stale"] is True
    assert facts["missing"]["tests.failed_count"] == (
        "the test report is older than new.py",
        "python -m pytest --junitxml=junit.xml",
    )


def test_no_report_names_the_command_of_the_project(repo: Any, make_event: Any, gather: Any) -> None:
    commands = []
    for name in ("build.gradle", "pom.xml", "go.mod", "package.json", "pyproject.toml"):
        missing = gather(make_event(), "tests.total")["missing"]
        commands.append(missing["tests.total"][1])
        repo.write(name, "")
    commands.append(gather(make_event(), "tests.total")["missing"]["tests.total"][1])
    assert commands == [
        "",
        "gradle test",
        "mvn test",
        "gotestsum --junitfile junit.xml",
        "npx vitest run --reporter=junit --outputFile=junit.xml",
        "python -m pytest --junitxml=junit.xml",
    ]
    settings = {"reports": {"tests": ["out/*.xml", "out/tests.xml"]}}
    missing = gather(make_event(), "tests.total", settings=settings)["missing"]
    assert missing["tests.total"] == (
        "there is no JUnit XML report (out/*.xml, out/tests.xml)",
        "python -m pytest --junitxml=out/tests.xml",
    )


def test_a_broken_report_says_where(project: Any, make_event: Any, gather: Any) -> None:
    project.write("junit.xml", "<testsuite>\n<testcase>")
    reason, command = gather(make_event(), "tests.total")["missing"]["tests.total"]
    assert reason.startswith("junit.xml:2: not well-formed XML") and command.startswith("python -m pytest")

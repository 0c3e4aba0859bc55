"""`tests` and `coverage`: found, current and readable, or absent with the reason and the command that makes it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from ahp.facts import coverage, evidence, tests
from ahp.system.history import CommitView
from ahp.system.worktree import WorkTreeView

SAMPLES = Path(__file__).resolve().parent.parent / "data" / "reports"
TESTS = [f"tests.{field}" for field in tests.NAMESPACE.schema]
COVERAGE = [f"coverage.{field}" for field in coverage.NAMESPACE.schema]


@pytest.fixture
def project(repo: Any) -> Any:
    """A Python project with fresh reports, its sources an hour old."""
    repo.commit("first", **{"app.py": "x = 1\n", "pyproject.toml": "[project]\n", ".gitignore": "*.xml\n"})
    for path in ("app.py", "pyproject.toml"):
        age(repo.root / path, 3600)
    for name in ("junit.xml", "coverage.xml"):
        shutil.copyfile(SAMPLES / name, repo.root / name)
    return repo


def age(path: Path, seconds: int) -> None:
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def test_a_fresh_report_gives_every_field(project: Any, make_event: Any, gather: Any) -> None:
    facts = gather(make_event("pre-issue-submit"), *TESTS)
    assert facts == {
        "tests.total": 5,
        "tests.passed": 1,
        "tests.failed_count": 2,
        "tests.skipped": 2,
        "tests.failed": ["test_app::test_bad", "test_app::test_err"],
        "tests.duration": pytest.approx(0.203),
        "tests.is_stale": False,
    }


def test_several_reports_are_summed(project: Any, make_event: Any, gather: Any) -> None:
    project.write("out/TEST-a.xml", (SAMPLES / "junit.xml").read_bytes())
    project.write("out/deep/TEST-b.xml", (SAMPLES / "junit.xml").read_bytes())
    settings = {"reports": {"tests": ["out/**/*.xml"]}}
    facts = gather(make_event("pre-issue-submit"), "tests.total", "tests.failed_count", settings=settings)
    assert facts == {"tests.total": 10, "tests.failed_count": 4}


def test_a_report_older_than_the_code_is_absent(project: Any, make_event: Any, gather: Any) -> None:
    project.write("new.py", "y = 2\n")
    age(project.root / "junit.xml", 10)
    facts = gather(make_event("pre-issue-submit"), "tests.failed_count", "tests.is_stale")
    assert facts["tests.is_stale"] is True
    assert facts["missing"]["tests.failed_count"] == (
        "the test report is older than new.py",
        "python -m pytest --junitxml=junit.xml",
    )


@pytest.mark.parametrize("name", ["README.md", "Issues/Features/open/FEAT-1.md", "docs/conf.py", "coverage.json"])
def test_prose_tickets_and_other_reports_make_nothing_stale(
    project: Any, make_event: Any, gather: Any, name: str
) -> None:
    age(project.root / "junit.xml", 10)
    age(project.root / "app.py", 20)
    project.write(name, "{}\n")
    assert gather(make_event("pre-issue-submit"), "tests.is_stale") == {"tests.is_stale": False}


def test_a_deleted_source_has_no_time(project: Any, make_event: Any, gather: Any) -> None:
    (project.root / "app.py").unlink()
    assert gather(make_event("pre-issue-submit"), "tests.total") == {"tests.total": 5}


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


def test_a_report_too_large_is_not_read(
    project: Any, make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "REPORT_LIMIT", 10)
    assert "more than the 10" in gather(make_event(), "tests.total")["missing"]["tests.total"][0]
    assert "more than the 10" in gather(make_event(), "coverage.current")["missing"]["coverage.current"][0]


def test_a_report_that_vanishes_meanwhile_is_absent(project: Any) -> None:
    (report,) = evidence.find(str(project.root), ["junit.xml"])
    (project.root / "junit.xml").unlink()
    with pytest.raises(Exception, match="vanished"):
        report.read()


def test_only_regular_files_inside_the_root_are_reports(project: Any, tmp_path: Path) -> None:
    (tmp_path / "outside.xml").write_text("<testsuite/>")
    os.mkfifo(project.root / "pipe.xml")
    (project.root / "dangling.xml").symlink_to("nowhere")
    (project.root / "folder.xml").mkdir()
    project.write("node_modules/p/junit.xml", "<testsuite/>")
    patterns = ["../*.xml", str(tmp_path / "*.xml"), "**/*.xml", "junit.xml"]
    found = [report.path for report in evidence.find(str(project.root), patterns)]
    assert found == ["coverage.xml", "junit.xml"]


def test_past_states_and_places_without_a_work_tree_have_no_evidence(
    project: Any, make_event: Any, gather: Any
) -> None:
    past = gather(make_event(mode="replay"), "tests.total", "coverage.current")["missing"]
    assert {reason for reason, _ in past.values()} == {"a past state is judged, and the reports are of the present one"}
    outside = gather(make_event("pre-tool-use", repo=None, view=None), "tests.total")["missing"]
    assert "without a work tree" in outside["tests.total"][0]


def test_coverage_of_the_newest_report(project: Any, make_event: Any, gather: Any) -> None:
    age(project.root / "coverage.xml", 60)
    project.write("lcov.info", "SF:app.py\nDA:1,1\nDA:2,0\nend_of_record\n")
    assert gather(make_event(), "coverage.current", "coverage.is_stale") == {
        "coverage.current": 50.0,
        "coverage.is_stale": False,
    }


def test_coverage_that_is_stale_broken_or_not_there(project: Any, make_event: Any, gather: Any) -> None:
    command = "python -m pytest --cov --cov-branch --cov-report=xml"
    age(project.root / "coverage.xml", 7200)
    facts = gather(make_event(), "coverage.current", "coverage.is_stale")
    assert facts["coverage.is_stale"] is True
    assert facts["missing"]["coverage.current"] == ("coverage.xml is older than app.py", command)
    project.write("coverage.xml", "<coverage>")
    facts = gather(make_event(), "coverage.current")
    assert "not well-formed" in facts["missing"]["coverage.current"][0]
    (project.root / "coverage.xml").unlink()
    facts = gather(make_event(), "coverage.current", "coverage.is_stale")
    assert facts["missing"]["coverage.is_stale"][1] == command
    (project.root / "pyproject.toml").unlink()
    assert gather(make_event(), "coverage.current")["missing"]["coverage.current"][1] == ""
    project.write("package.json", "{}")
    assert gather(make_event(), "coverage.current")["missing"]["coverage.current"][1].startswith("npx vitest")


def test_the_threshold_is_the_policys(project: Any, make_event: Any, gather: Any) -> None:
    settings = {"reports": {"coverage_threshold": 80}}
    assert gather(make_event(), "coverage.threshold", settings=settings) == {"coverage.threshold": 80.0}


@pytest.mark.parametrize(("criticality", "floor"), [("low", 0.0), ("medium", 70.0), ("high", 85.0), ("critical", 90.0)])
def test_else_the_criticality_of_the_issue_sets_it(
    make_event: Any, gather: Any, criticality: str, floor: float
) -> None:
    event = make_event("pre-issue-submit", given={"issue": {"criticality": criticality}})
    assert gather(event, "coverage.threshold") == {"coverage.threshold": floor}


def test_without_either_there_is_no_threshold(make_event: Any, gather: Any) -> None:
    for given in ({"issue": {}}, {"issue": {"criticality": "whatever"}}):
        missing = gather(make_event(given=given), "coverage.threshold")["missing"]
        assert "coverage_threshold" in missing["coverage.threshold"][0]


def test_previous_is_the_committed_report_of_the_base_else_its_note(project: Any, make_event: Any, gather: Any) -> None:
    event = make_event()
    reason, command = gather(event, "coverage.previous")["missing"]["coverage.previous"]
    assert "neither a committed coverage report nor a note" in reason and command.startswith("git notes --ref=ahp/cov")
    project.git("notes", "--ref=ahp/coverage", "add", "-m", "91.25", "HEAD")
    assert gather(event, "coverage.previous") == {"coverage.previous": 91.25}
    project.git("add", "-f", "coverage.xml")
    project.git("commit", "-qm", "with report")
    assert gather(make_event(), "coverage.previous") == {"coverage.previous": 87.5}
    tip = project.commit("next", **{"app.py": "x = 2\n"})
    event = make_event("post-commit")
    for view in (CommitView(event.repo, tip), WorkTreeView(event.repo, f"{tip}^")):
        event.view = view
        settings = {"reports": {"coverage": ["*.json", "coverage.xml"]}}
        assert gather(event, "coverage.previous", settings=settings) == {"coverage.previous": 87.5}


def test_a_broken_report_of_the_base_is_no_figure(project: Any, make_event: Any, gather: Any) -> None:
    project.commit("bad", **{"lcov.info": "rubbish"})
    missing = gather(make_event(), "coverage.previous")["missing"]
    assert missing["coverage.previous"][0] == "lcov.info of the base: neither XML, JSON nor lcov"
    missing = gather(make_event(repo=None, view=None), "coverage.previous")["missing"]
    assert missing["coverage.previous"][0] == "there is no base to compare with"


def test_before_the_first_commit_there_is_no_previous_figure(make_event: Any, gather: Any) -> None:
    missing = gather(make_event(), "coverage.previous")["missing"]
    assert missing["coverage.previous"][0] == "there is no commit to compare with"


def test_a_note_that_is_no_percentage_is_ignored(project: Any, make_event: Any, gather: Any) -> None:
    project.git("notes", "--ref=ahp/coverage", "add", "-m", "120", "HEAD")
    assert "missing" in gather(make_event(), "coverage.previous")

"""`coverage`: current and readable, or absent with the reason and the command that makes it."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.system.history import CommitView
from ahp.system.worktree import WorkTreeView
from tests.facts.conftest import age


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


@pytest.mark.parametrize(
    ("note", "percent"),
    [("100", 100.0), ("0", 0.0), ("100.0", 100.0), ("100.01", None), ("120", None), ("1e1", None), ("-1", None)],
)
def test_a_note_is_a_percentage_or_nothing(
    project: Any, make_event: Any, gather: Any, note: str, percent: float | None
) -> None:
    project.git("notes", "--ref=ahp/coverage", "add", "-m", note, "HEAD")
    assert gather(make_event(), "coverage.previous").get("coverage.previous") == percent

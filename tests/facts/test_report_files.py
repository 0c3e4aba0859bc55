"""Where reports lie, and whether they still speak of the code that is there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ahp.facts import report_files
from tests.facts.conftest import age


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


def test_a_report_too_large_is_not_read(
    project: Any, make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_files, "REPORT_LIMIT", 10)
    assert "more than the 10" in gather(make_event(), "tests.total")["missing"]["tests.total"][0]
    assert "more than the 10" in gather(make_event(), "coverage.current")["missing"]["coverage.current"][0]


def test_a_report_that_vanishes_meanwhile_is_absent(project: Any) -> None:
    (report,) = report_files.find(str(project.root), ["junit.xml"])
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
    found = [report.path for report in report_files.find(str(project.root), patterns)]
    assert found == ["coverage.xml", "junit.xml"]


def test_past_states_and_places_without_a_work_tree_have_no_evidence(
    project: Any, make_event: Any, gather: Any
) -> None:
    past = gather(make_event(mode="replay"), "tests.total", "coverage.current")["missing"]
    assert {reason for reason, _ in past.values()} == {"a past state is judged, and the reports are of the present one"}
    outside = gather(make_event("pre-tool-use", repo=None, view=None), "tests.total")["missing"]
    assert "without a work tree" in outside["tests.total"][0]

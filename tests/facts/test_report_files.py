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


def is_stale(make_event: Any, gather: Any) -> dict[str, Any]:
    return dict(gather(make_event("pre-issue-submit"), "tests.is_stale", "coverage.is_stale"))


STALE = {"tests.is_stale": True, "coverage.is_stale": True}
FRESH = {"tests.is_stale": False, "coverage.is_stale": False}


def removed(root: Path) -> None:
    (root / "app.py").unlink()


def renamed(root: Path) -> None:
    (root / "app.py").rename(root / "main.py")


def edited_and_dated_back(root: Path) -> None:
    (root / "app.py").write_text("x = 22\n")  # git tells files of one size and second by nothing
    age(root / "app.py", 3600)


def an_old_file_added(root: Path) -> None:
    (root / "more.py").write_text("")
    age(root / "more.py", 3600)


@pytest.mark.parametrize("change", [removed, renamed, edited_and_dated_back, an_old_file_added])
def test_a_report_once_seen_is_stale_when_its_sources_are_others(
    project: Any, make_event: Any, gather: Any, change: Any
) -> None:
    assert is_stale(make_event, gather) == FRESH
    change(project.root)
    assert is_stale(make_event, gather) == STALE
    reason = gather(make_event("pre-issue-submit"), "tests.total")["missing"]["tests.total"][0]
    assert reason == "the test report is older than the sources: some were removed, renamed or replaced since"


def test_a_report_is_current_again_with_its_sources_back_or_after_another_run(
    project: Any, make_event: Any, gather: Any
) -> None:
    assert is_stale(make_event, gather) == FRESH
    project.write("app.py", "x = 2\n")
    assert is_stale(make_event, gather) == STALE
    project.write("app.py", "x = 1\n")  # newer than the reports by its time, and the same
    assert is_stale(make_event, gather) == FRESH
    project.write("app.py", "x = 2\n")
    assert is_stale(make_event, gather) == STALE
    run_again(project.root)
    assert is_stale(make_event, gather) == FRESH
    project.write("app.py", "x = 1\n")
    assert is_stale(make_event, gather) == STALE


def run_again(root: Path) -> None:
    """The reports of another run: each says when it was made."""
    for name in ("junit.xml", "coverage.xml"):
        report = root / name
        report.write_text(report.read_text().replace('timestamp="', 'timestamp="1'))
        age(report, -1000)


@pytest.mark.parametrize("seen_before", [True, False])
def test_a_new_time_alone_makes_no_new_report(project: Any, make_event: Any, gather: Any, seen_before: bool) -> None:
    if seen_before:
        assert is_stale(make_event, gather) == FRESH
    project.write("app.py", "x = 2\n")
    age(project.root / "app.py", -100)
    assert is_stale(make_event, gather) == STALE
    for name in ("junit.xml", "coverage.xml"):
        age(project.root / name, -1000)
    assert is_stale(make_event, gather) == STALE
    run_again(project.root)
    assert is_stale(make_event, gather) == FRESH


def test_a_report_that_does_not_say_when_it_was_made_is_known_by_its_time(
    project: Any, make_event: Any, gather: Any
) -> None:
    for name in ("junit.xml", "coverage.xml"):
        report = project.root / name
        report.write_text(report.read_text().replace("timestamp=", "at="))
    assert is_stale(make_event, gather) == FRESH
    project.write("app.py", "x = 2\n")
    assert is_stale(make_event, gather) == STALE
    for name in ("junit.xml", "coverage.xml"):
        age(project.root / name, -1000)
    assert is_stale(make_event, gather) == FRESH


@pytest.mark.parametrize(
    "name",
    ["page.html.j2", "tests/__snapshots__/a.snap", "Dockerfile", "docker/Dockerfile.test", "Makefile", "q.graphql"],
)
def test_what_tests_read_beside_code_makes_a_report_stale(
    project: Any, make_event: Any, gather: Any, name: str
) -> None:
    age(project.root / "junit.xml", 10)
    age(project.root / "coverage.xml", 10)
    age(project.root / "app.py", 20)
    project.write(name, "x\n")
    assert is_stale(make_event, gather) == STALE


def test_staging_and_committing_change_no_source(project: Any, make_event: Any, gather: Any) -> None:
    project.write("app.py", "x = 2\n")
    project.write('odd "name"\\\n.py', "x = 2\n")
    (project.root / "link.py").symlink_to("app.py")
    for name in ("junit.xml", "coverage.xml"):
        age(project.root / name, -1000)
    assert is_stale(make_event, gather) == FRESH
    project.git("add", "-A")
    assert is_stale(make_event, gather) == FRESH
    project.git("commit", "-qm", "more")
    assert is_stale(make_event, gather) == FRESH


def test_settings_that_git_ignores_count(project: Any, make_event: Any, gather: Any) -> None:
    project.write(".gitignore", "*.xml\n.env\n")
    for name in ("app.py", ".gitignore"):
        age(project.root / name, 3600)
    assert is_stale(make_event, gather) == FRESH
    project.write(".env", "DEBUG=1\n")
    assert is_stale(make_event, gather) == STALE


def test_where_nothing_can_be_kept_times_decide(project: Any, make_event: Any, gather: Any) -> None:
    (project.root / ".git" / "ahp").write_text("")  # a file where the folder would be
    assert is_stale(make_event, gather) == FRESH
    project.write("app.py", "x = 2\n")
    assert is_stale(make_event, gather) == STALE


def test_a_note_that_cannot_be_read_is_none(project: Any, make_event: Any, gather: Any) -> None:
    assert is_stale(make_event, gather) == FRESH
    for kept in (project.root / ".git" / "ahp" / "cache" / "reports").iterdir():
        kept.unlink()
        kept.mkdir()
    assert is_stale(make_event, gather) == FRESH
    project.write("app.py", "x = 2\n")
    assert is_stale(make_event, gather) == STALE


def test_a_source_whose_time_is_in_the_future_is_told_with_the_way_out(
    project: Any, make_event: Any, gather: Any
) -> None:
    age(project.root / "app.py", -86400)
    reason = gather(make_event("pre-issue-submit"), "tests.total")["missing"]["tests.total"][0]
    assert reason == "the test report is older than app.py, whose time is in the future: touch it first"

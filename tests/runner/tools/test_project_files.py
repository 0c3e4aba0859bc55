"""Where paths lead, and that nothing is opened elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.runner.tools import project_files
from ahp.system.errors import AhpError


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "secrets").mkdir(parents=True)
    (root / "secrets" / "k").write_text("KEY")
    (root / "open").symlink_to("secrets")
    (root / "near").symlink_to("secrets/k")
    (root / "out").symlink_to(tmp_path)
    (root / "round").symlink_to("round")
    (tmp_path / "other").symlink_to(root)
    return root


def test_every_way_to_a_file_leads_to_it(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    ways = [
        "secrets/k",
        "./secrets//k",
        "secrets/../secrets/k",
        "open/k",
        "near",
        "out/project/secrets/k",
        f"{project}/secrets/k",
        f"{tmp_path}/other/secrets/k",
        f"file://{project}/secrets/k",
        "/proc/self/cwd/secrets/k",
        "/proc/thread-self/cwd/open/k",
        f"/proc/{os.getpid()}/root{project}/near",
    ]
    assert {way: project_files.resolve(str(project), way) for way in ways} == dict.fromkeys(ways, "secrets/k")
    assert project_files.resolve(f"{tmp_path}/other", "open/new") == "secrets/new"
    assert project_files.resolve(str(project), ".") == project_files.resolve(str(project), "open/..") == "."


@pytest.mark.parametrize("path", ["..", "../x", "/etc/passwd", "out/x", "/proc/self/environ", "secrets/../../x"])
def test_what_leads_out_of_the_project_is_refused(project: Path, path: str) -> None:
    with pytest.raises(ValueError, match="out of the project"):
        project_files.resolve(str(project), path)


def test_a_nul_is_no_path(project: Path) -> None:
    with pytest.raises(ValueError, match="NUL"):
        project_files.resolve(str(project), "a\0b")


def test_letters_are_those_of_the_folder_where_case_does_not_count(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.lstat

    def lstat(path: str) -> os.stat_result:
        """As on macOS: a name in other letters is the same file."""
        folder, name = os.path.split(path)
        try:
            return real(path)
        except FileNotFoundError:
            names = os.listdir(folder)
            return real(os.path.join(folder, next(one for one in names if one.lower() == name.lower())))

    with monkeypatch.context() as patched:  # not beyond the test: what removes the folder asks the real one
        patched.setattr(project_files.os, "lstat", lambda path: _or_missing(lstat, path))
        assert project_files.resolve(str(project), "SECRETS/K") == "secrets/k"
        assert project_files.resolve(str(project), "Secrets/New") == "secrets/New"


def _or_missing(lstat, path):  # type: ignore[no-untyped-def]
    try:
        return lstat(path)
    except StopIteration:
        raise FileNotFoundError(path) from None


@pytest.mark.parametrize("change", ["folder", "file"])
def test_a_link_that_comes_between_judging_and_opening_is_not_followed(project: Path, change: str) -> None:
    (project / "docs").mkdir()
    (project / "docs" / "k").write_text("open")
    place = project_files.resolve(str(project), "docs/k")
    if change == "folder":
        (project / "docs").rename(project / "former")
        (project / "docs").symlink_to("secrets")
    else:
        (project / "docs" / "k").unlink()
        (project / "docs" / "k").symlink_to("../secrets/k")
    for attempt in (
        lambda: project_files.read(str(project), place),
        lambda: project_files.write(str(project), place, b"x"),
        lambda: project_files.exists(str(project), place),
    ):
        with pytest.raises(AhpError, match=r"link|no folder"):
            attempt()
    assert (project / "secrets" / "k").read_text() == "KEY"


def test_a_hard_link_keeps_the_old_bytes(project: Path) -> None:
    os.link(project / "secrets" / "k", project / "harmless")
    project_files.write(str(project), "harmless", b"x")
    assert (project / "secrets" / "k").read_text() == "KEY"


def test_what_is_no_ordinary_file_is_refused(project: Path) -> None:
    os.mkfifo(project / "pipe")
    for place, said in (("pipe", "no ordinary file"), ("secrets", "is a folder"), ("near", "link"), ("round", "link")):
        with pytest.raises(AhpError, match=said):
            project_files.read(str(project), place)
        with pytest.raises(AhpError, match=said):
            project_files.write(str(project), place, b"x")
    with pytest.raises(AhpError, match="there is no such file"):
        project_files.read(str(project), "none")
    with pytest.raises(AhpError, match="no folder"):
        project_files.write(str(project), "secrets/k/below", b"x")


def test_a_file_that_is_too_large_is_not_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_files, "LARGEST", 2)
    with pytest.raises(AhpError, match="has 3 bytes, more than the 2"):
        project_files.read(str(project), "secrets/k")
    if os.path.exists("/proc/version"):  # a file whose size is not told
        with pytest.raises(AhpError, match="more than the 2 bytes"):
            project_files.read("/proc", "version")


def test_a_file_keeps_its_permissions_and_a_failed_write_leaves_nothing(project: Path) -> None:
    (project / "run").write_text("x")
    (project / "run").chmod(0o750)
    assert project_files.write(str(project), "run", b"y") is True
    assert (project / "run").stat().st_mode & 0o777 == 0o750
    assert project_files.write(str(project), "new/below/f", b"y") is False
    assert sorted(os.listdir(project / "new" / "below")) == ["f"]

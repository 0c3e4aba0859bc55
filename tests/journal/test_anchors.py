"""Anchors of the log on a git remote: what was cut off is found also where every local trace was removed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.journal import anchors
from ahp.journal.append import Journal
from ahp.journal.verify import anchor, verify
from ahp.system.errors import AhpError
from ahp.system.git import GitError, Repository, discover
from tests.conftest import Repo

from .written import VERDICT

ELSEWHERE = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def remote(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "remote.git")
    made.root.mkdir()
    made.git("init", "--quiet", "--bare")
    made.git("config", "receive.denyNonFastForwards", "true")
    return made


@pytest.fixture
def here(repo: Repo, remote: Repo) -> Repository:
    repo.git("remote", "add", "origin", str(remote.root))
    return discover(str(repo.root), dict(os.environ))


@pytest.fixture
def log(here: Repository) -> Journal:
    journal = Journal(here.ahp_dir)
    journal.append([VERDICT, VERDICT])
    return journal


def cut(journal: Journal, lines: int) -> None:
    """Cuts the log to its first lines, and removes all that remembers more."""
    path = Path(journal.log_path)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))
    for name in ("index", "state.db"):
        Path(journal.folder, name).unlink(missing_ok=True)
    journal.close()


def problems(here: Repository, journal: Journal, remote: str = "") -> list[str]:
    found = anchors.find(here, {journal.index().genesis}, remote)
    return [*verify(journal, found.anchors).problems, *found.problems]


def test_anchors_are_kept_one_after_the_other(here: Repository, log: Journal, remote: Repo) -> None:
    anchors.push(here, log, "origin")
    anchors.push(here, log, "origin")  # nothing was written since: nothing to keep
    first = anchor(log)
    log.append([VERDICT])
    anchors.push(here, log, "origin")
    ref = remote.git("for-each-ref", "--format=%(refname)")
    assert ref == f"refs/ahp/anchors/{log.index().genesis}"
    assert remote.git("log", "--format=%B", ref).split() == [anchor(log), first]
    assert problems(here, log) == problems(here, log, "origin") == []
    found = anchors.find(here, {log.index().genesis}, "origin")
    assert (set(found.anchors), found.notes) == ({anchor(log), first}, ["compared with 2 kept anchors"])


def test_what_was_cut_off_is_found_where_no_local_trace_is_left(here: Repository, log: Journal, repo: Repo) -> None:
    anchors.push(here, log, "origin")
    cut(log, 1)
    log.append([VERDICT])
    lost = [
        "the anchor's line 3 is not in the log: its end was cut off or written anew, or a copy of this clone kept it"
    ]
    assert problems(here, log) == lost
    repo.git("update-ref", "-d", f"refs/ahp/anchors/{log.index().genesis}")
    assert problems(here, log) == []
    assert problems(here, log, "origin") == lost
    anchors.push(here, log, "origin")  # the remote takes the new one only after those it has
    log.append([VERDICT])
    assert problems(here, log, "origin") == lost


def test_many_lost_anchors_are_one_problem(here: Repository, log: Journal) -> None:
    for _ in range(3):
        log.append([VERDICT])
        anchors.keep(here, log)
    cut(log, 2)
    why = "its end was cut off or written anew, or a copy of this clone kept it"
    assert problems(here, log) == [f"the anchor's line 4 is not in the log, and 2 more: {why}"]


def test_a_remote_without_an_anchor_is_told(here: Repository, log: Journal) -> None:
    assert problems(here, log, "origin") == [f"origin keeps no anchor of the log {log.index().genesis}"]
    with pytest.raises(GitError, match="nowhere"):
        anchors.find(here, {log.index().genesis}, "https://ann:secret@nowhere.invalid/x.git")


def test_an_anchor_of_a_log_that_is_gone_is_told(here: Repository, log: Journal) -> None:
    known = log.index().genesis
    anchors.keep(here, log)
    for path in Path(log.folder).iterdir():
        path.unlink()
    log.close()
    log.append([VERDICT])
    found = anchors.find(here, {known, log.index().genesis})
    assert f"the anchor is of the log {known}" in verify(log, found.anchors).problems[0]


def test_a_log_whose_id_is_none_has_no_anchor(here: Repository, log: Journal) -> None:
    data = Path(log.log_path).read_text().replace(log.index().genesis, "../../heads/main")
    cut(log, 0)
    Path(log.log_path).write_text(data)
    with pytest.raises(AhpError, match="is none"):
        anchors.keep(here, log)
    assert anchors.find(here, {"../../heads/main", ""}, "origin") == ([], [], [])

"""The fixtures the other tests trust."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from tests import conftest


def test_home_of_a_test_is_its_own(home: Path) -> None:
    assert Path("~").expanduser() == home
    assert pwd.getpwuid(os.getuid()).pw_dir == str(home)
    assert not {"CI", "CLAUDECODE", "GIT_DIR"} & set(os.environ)


def test_touching_the_real_home_is_an_error() -> None:
    with pytest.raises(conftest.TouchedRealHome):
        Path(conftest.REAL_HOME, ".ahp-no-such-file").read_bytes()
    conftest._guard.touched.clear()


def test_repo_takes_hostile_names(repo: conftest.Repo, hostile_names: list[str]) -> None:
    repo.commit("hostile", **dict.fromkeys(hostile_names, "text\n"))
    assert set(repo.git("ls-files", "-z").rstrip("\0").split("\0")) == set(hostile_names)
    assert repo.git("log", "-1", "--format=%an <%ae>") == "Test Person <person@example.org>"

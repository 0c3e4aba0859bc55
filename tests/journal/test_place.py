"""Where the journal of a folder is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.journal.place import install_record, journal_of, noted_genesis
from ahp.system.errors import AhpError
from tests.conftest import Repo


def test_all_work_trees_of_a_repository_have_one_journal(repo: Repo, tmp_path: Path) -> None:
    repo.commit("first", **{"src/a.txt": "a"})
    repo.git("worktree", "add", "--quiet", str(tmp_path / "other"))
    expected = str(repo.root / ".git" / "ahp")
    for folder in (repo.root, repo.root / "src", tmp_path / "other"):
        assert journal_of(str(folder)).folder == expected


def test_outside_a_repository_it_is_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert journal_of(str(tmp_path)).folder == str(tmp_path / ".ahp")


def test_it_knows_the_log_that_was_installed(repo: Repo) -> None:
    place = repo.root / ".git" / "ahp"
    assert (journal_of(str(repo.root)).genesis, noted_genesis(str(place))) == (None, None)
    place.mkdir()
    (place / "install.json").write_text('{"genesis": "abc", "tips": []}')
    assert journal_of(str(repo.root)).genesis == "abc"
    assert install_record(str(place)) == {"genesis": "abc", "tips": []}
    (place / "install.json").write_text('{"genesis": 7}')
    assert noted_genesis(str(place)) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '"abc"'])
def test_a_damaged_note_is_an_error_that_says_what_to_do(tmp_path: Path, text: str) -> None:
    (tmp_path / "install.json").write_text(text)
    if text:
        with pytest.raises(AhpError, match="damaged; remove it and run ahp install git again"):
            install_record(str(tmp_path))
    else:
        assert install_record(str(tmp_path)) == {}

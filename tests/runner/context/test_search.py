"""ahp.runner.context.search: git grep"""

from __future__ import annotations

from typing import Any

import pytest

from ahp.runner.context import search as module
from ahp.runner.context.search import search
from ahp.system import environ, git
from ahp.system.errors import OutputLimit
from ahp.system.git import GitError, Repository


@pytest.fixture
def project(repo: Any) -> Repository:
    repo.commit(
        "files",
        **{
            "a.py": "import b\n\nload_user()\n",
            "b.py": "def load_user(): ...\ndef save_user(): ...\n",
            "c.py": "load_user\nload_user\n",
            "odd name\tä.py": "rare_name = 1\nload_user\n",
            "binary": b"\0load_user",
        },
    )
    repo.write("untracked.py", "load_user")
    return git.discover(str(repo.root), environ.current())


def test_rare_names_and_several_of_them_come_first(project: Repository) -> None:
    found = search(project, ["load_user", "save_user", "rare_name"])
    assert list(found) == ["b.py", "odd name\tä.py", "c.py", "a.py"]
    assert found["b.py"].names == {"load_user", "save_user"}
    assert (found["b.py"].lines, found["a.py"].lines) == ([1, 2], [3])


def test_names_are_texts_and_no_options_or_patterns(project: Repository) -> None:
    assert search(project, ["--open-files-in-pager=false", ".*", "load_user()"]).keys() == {"a.py", "b.py"}
    assert search(project, ["no_such_name"]) == {}


def test_a_name_within_another_counts_as_both(project: Repository) -> None:
    assert search(project, ["user", "load_user", "b.py"])["a.py"].names == {"user", "load_user"}
    assert search(project, ["b.p"]) == {}  # the dot is no pattern


def test_settings_of_git_do_not_change_what_is_read(project: Repository, repo: Any) -> None:
    for key in ("column", "lineNumber", "fullName"):
        repo.git("config", f"grep.{key}", "true")
    repo.git("config", "color.ui", "always")
    repo.git("config", "grep.patternType", "perl")
    assert list(search(project, ["save_user"])) == ["b.py"]


def test_a_name_that_is_everywhere_is_left_out(project: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    real = module._grep

    def grep(repo: Repository, names: Any) -> bytes:
        if "import" in names:
            raise OutputLimit("git printed too much")
        return real(repo, names)

    monkeypatch.setattr(module, "_grep", grep)
    assert list(search(project, ["save_user", "import"])) == ["b.py"]
    assert search(project, ["import"]) == {}


def test_an_older_git_is_asked_without_the_option_it_lacks(
    project: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Repository.run

    def run(repo: Repository, *args: str, **more: Any) -> bytes:
        if "-m" in args:
            raise GitError("unknown switch `m'")
        return real(repo, *args, **more)

    monkeypatch.setattr(Repository, "run", run)
    assert list(search(project, ["save_user"])) == ["b.py"]


def test_a_git_without_perls_patterns_finds_the_same(project: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Repository.run
    names = ["user", "load_user()", "...", "rare_name"]
    expected = {path: (hits.names, hits.lines) for path, hits in search(project, names).items()}

    def run(repo: Repository, *args: str, **more: Any) -> bytes:
        if "-P" in args:
            raise GitError("cannot use Perl-compatible regexes when not compiled with USE_LIBPCRE")
        return real(repo, *args, **more)

    monkeypatch.setattr(Repository, "run", run)
    assert {path: (hits.names, hits.lines) for path, hits in search(project, names).items()} == expected
    assert expected


def test_where_git_cannot_tell_nothing_is_found(project: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(repo: Repository, *args: str, **more: Any) -> bytes:
        raise GitError("broken")

    monkeypatch.setattr(Repository, "run", run)
    assert search(project, ["save_user"]) == {}

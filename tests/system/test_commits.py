"""Many commits read at once are what each of them is alone."""

from __future__ import annotations

import pytest

from ahp.system import commits, environ, git
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.history import CommitView
from tests.conftest import Repo


def here(repo: Repo) -> Repository:
    return git.discover(str(repo.root), environ.current())


def alike(repo: Repo) -> int:
    found = here(repo)
    past = commits.commits(found)
    for one, view in zip(past, commits.views(found, past, True), strict=True):
        alone = CommitView(found, one.id)
        assert view.change().digest == alone.change().digest
        assert view.diff() == alone.diff()
        assert (view.base(), view.paths()) == (alone.base(), alone.paths())
    return len(past)


def test_roots_merges_renames_binaries_and_empty_commits_are_told_apart(repo: Repo) -> None:
    repo.commit("root", **{"a.txt": "1\n2\n3\n4\n", "b.bin": b"\0\1"})
    repo.git("switch", "--quiet", "--create", "topic")
    repo.commit("topic", **{"c.txt": "x\n"})
    repo.git("switch", "--quiet", "main")
    repo.git("mv", "a.txt", "moved.txt")
    repo.commit("rename", **{"b.bin": b"\0\2"})
    repo.git("merge", "--quiet", "--no-ff", "--message", "merge", "topic")
    repo.commit("empty")
    repo.git("rm", "--quiet", "c.txt")
    repo.commit("delete")
    assert alike(repo) == 6


def test_no_file_passes_for_a_commit(repo: Repo, hostile_names: list[str]) -> None:
    root = repo.commit("root", **{"a.txt": "1\n"})
    repo.commit("names", **{root: f"{root}\n:100644 100644\n", "dir/" + root: "diff --git a/x b/x\n"})
    for name in hostile_names:
        repo.write(name, f"{root}\n")
    repo.add()
    repo.commit("hostile")
    repo.git("mv", root, "1\t1\t")
    repo.commit("renamed")
    assert alike(repo) == 4


def test_text_that_git_calls_binary_is_seen(repo: Repo) -> None:
    repo.commit("root", **{".gitattributes": "*.txt -diff\n", "a.txt": "hidden\n"})
    assert alike(repo) == 1
    found = here(repo)
    (view,) = commits.views(found, commits.commits(found), True)
    assert b"+hidden" in view.diff()


def test_more_than_a_hundred_are_read_in_parts(repo: Repo) -> None:
    stream = "".join(
        f"commit refs/heads/main\nmark :{n}\ncommitter A <a@b> {n} +0000\ndata 1\n{n % 10}\n"
        f"M 644 inline f\ndata {len(str(n))}\n{n}\n\n"
        for n in range(1, 131)
    )
    repo.git("fast-import", "--quiet", stdin=stream.encode())
    found = here(repo)
    past = commits.commits(found, limit=120)
    seen = [view.diff() for view in commits.views(found, past, True)]
    assert len(seen) == 120 and seen[0].rstrip().splitlines()[-2:] == [b"+130", b"\\ No newline at end of file"]


def test_a_damaged_commit_spoils_only_itself(repo: Repo) -> None:
    repo.commit("root", **{"a.txt": "1\n"})
    repo.commit("next", **{"b.txt": "2\n"})
    oid = repo.git("rev-parse", "HEAD:b.txt")
    (repo.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    (repo.root / "b.txt").unlink()
    found = here(repo)
    last, root = commits.views(found, commits.commits(found), True)
    assert root.diff().endswith(b"+1\n") and root.change().entries[0].path == "a.txt"
    with pytest.raises(AhpError):
        last.diff()


def test_what_is_told_of_a_commit(repo: Repo) -> None:
    assert commits.commits(here(repo)) == []
    repo.commit("Subject\n\nBody", "--author", "Ann <ann@example.org>", "--date", "2026-02-13T23:30:00-05:00")
    repo.git("commit", "--quiet", "--allow-empty", "--allow-empty-message", "--message", "")
    empty, one = commits.commits(here(repo))
    assert (one.subject, one.message, one.author) == ("Subject", "Subject\n\nBody\n", "Ann <ann@example.org>")
    assert (one.made, one.parent, one.is_merge) == ("2026-02-13T23:30:00-05:00", "", False)
    assert (empty.subject, empty.message, empty.parent) == ("", "", one.id)
    assert [past.id for past in commits.commits(here(repo), "HEAD~1..HEAD")] == [empty.id]
    with pytest.raises(AhpError, match="no range"):
        commits.commits(here(repo), "--all")

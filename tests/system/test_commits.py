"""Many commits read at once are what each of them is alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ahp.facts import sizes
from ahp.system import commits, environ, git, lines
from ahp.system.errors import AhpError, OutputLimit, Unknown
from ahp.system.git import GitError, Repository
from ahp.system.history import CommitView
from tests.conftest import Repo
from tests.system import histories


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


def test_more_than_a_hundred_are_read_in_parts(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = "".join(
        f"commit refs/heads/main\nmark :{n}\ncommitter A <a@b> {n} +0000\ndata 1\n{n % 10}\n"
        f"M 644 inline f\ndata {len(str(n))}\n{n}\n\n"
        for n in range(1, 131)
    )
    repo.git("fast-import", "--quiet", stdin=stream.encode())
    found = here(repo)
    monkeypatch.setattr(commits, "_TOLD_AT_ONCE", 50)
    assert [one.id for one in commits.commits(found, limit=None)] == repo.git("rev-list", "HEAD").split()
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


def test_too_long_an_answer_is_asked_for_in_halves_and_then_for_fewer(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = "".join(
        f"commit refs/heads/main\ncommitter A <a@b> {n} +0000\ndata 1\n{n % 10}\nM 644 inline f\ndata 2\n{n:02}\n\n"
        for n in range(30)
    )
    repo.git("fast-import", "--quiet", stdin=stream.encode())
    found, asked, run = here(repo), list[int](), Repository.run

    def limited(self: Repository, *words: str, **more: Any) -> bytes:
        if words[0] != "diff-tree":
            return run(self, *words, **more)
        assert "--stdin" in words  # none is asked alone
        asked.append(more["stdin"].count(b"\n"))
        if asked[-1] > 8:
            raise OutputLimit("too long")
        return run(self, *words, **more)

    monkeypatch.setattr(Repository, "run", limited)
    monkeypatch.setattr(commits, "_FIRST", 16)
    monkeypatch.setattr(commits, "_ROOM", 100)
    seen = [view.change().entries[0].path for view in commits.views(found, commits.commits(found), False)]
    assert seen == ["f"] * 30 and asked == [16, 8, 8, 8, 4, 2]


def test_where_git_can_tell_of_none_it_is_not_asked_in_ever_smaller_parts(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, asked = here(repo), list[str]()

    def nothing(self: Repository, *words: str, **more: Any) -> bytes:
        asked.append(words[0])
        raise GitError("an object is not here")

    monkeypatch.setattr(Repository, "run", nothing)
    assert commits.compared(found, [("a" * 40, "b" * 40)] * 1000, ()) == [] and len(asked) < 50


def test_what_is_told_of_a_commit(repo: Repo) -> None:
    assert commits.commits(here(repo)) == []
    repo.commit("Subject\n\nBody", "--author", "Ann <ann@example.org>")
    repo.git(
        "commit",
        "--quiet",
        "--amend",
        "--no-edit",
        "--allow-empty",
        env={"GIT_COMMITTER_DATE": "2026-02-13T23:30:00-05:00"},
    )
    repo.git("commit", "--quiet", "--allow-empty", "--allow-empty-message", "--message", "")
    empty, one = commits.commits(here(repo))
    assert (one.subject, one.message, one.author) == ("Subject", "Subject\n\nBody\n", "Ann <ann@example.org>")
    assert (one.made, one.parent, one.is_merge) == ("2026-02-13T23:30:00-05:00", "", False)
    assert (empty.subject, empty.message, empty.parent) == ("", "", one.id)
    assert [past.id for past in commits.commits(here(repo), "HEAD~1..HEAD")] == [empty.id]
    with pytest.raises(AhpError, match="no range"):
        commits.commits(here(repo), "--all")
    for range_ in ("HEAD..nosuch", "nosuch...HEAD", "nosuch"):
        with pytest.raises(AhpError, match="no commit 'nosuch'"):
            commits.commits(here(repo), range_)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("together", [True, False])
def test_what_a_merge_brings_itself_is_what_no_parent_has(
    repo: Repo, seed: int, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = histories.make(repo, seed, size=24)
    found = here(repo)
    if not together:
        monkeypatch.setattr(commits, "compared", lambda *_: [])
    past = commits.listed(found, history.ids)
    for number, (one, view) in enumerate(zip(past, commits.views(found, past, True), strict=True)):
        parents = sorted(history.parents[number], key=lambda commit: history.ids[commit])
        own = view.own
        assert (one.id, set(one.parents)) == (history.ids[number], {history.ids[parent] for parent in parents})
        assert {entry.path for entry in own.change().entries} == history.counted(number, parents)
        told = lines.of(own)
        assert {(line["path"], line["line"], line["text"]) for line in told.added} == history.added(number, parents)
        assert {(line["path"], line["line"], line["text"]) for line in told.removed} == history.removed(number, parents)
        first = history.parents[number][:1]
        assert {entry.path for entry in view.change().entries} == history.counted(number, first)


def test_sizes_and_lines_of_many_commits_are_asked_together(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12):
        repo.commit(str(number), **{"a.txt": f"{number}\n" * number, f"b-{number}": "x", "image": bytes([0, number])})
    found = here(repo)
    past = commits.commits(found)
    alone = [sizes.line_counts(view, view.change().entries) for one in past for view in [CommitView(found, one.id)]]
    asked: list[str] = []
    run = Repository.run
    monkeypatch.setattr(Repository, "run", lambda self, *a, **more: asked.append(a[0]) or run(self, *a, **more))
    views = list(commits.views(found, past, False))
    assert [sizes.line_counts(view, view.change().entries) for view in views] == alone
    assert asked.count("cat-file") == 2
    other = repo.git("hash-object", "-w", "--stdin", stdin=b"1\n2\n")
    assert views[0].blob_sizes([other])[other] == 4 and views[0].blob_lines({other: 4})[other] == 2


def test_a_commit_where_a_clone_was_cut_off_is_no_root(repo: Repo, tmp_path: Path) -> None:
    for name in "abc":
        repo.commit(name, **{name: "1\n"})
    repo.git("clone", "-q", "--depth", "2", repo.root.as_uri(), str(tmp_path / "shallow"))
    found = here(Repo(tmp_path / "shallow"))
    last, first = commits.views(found, commits.commits(found), True)
    assert [entry.path for entry in last.change().entries] == ["c"]
    with pytest.raises(Unknown, match="does not have what came before; fix: git fetch --unshallow"):
        first.change()
    with pytest.raises(Unknown):
        CommitView(found, "HEAD~1").change()

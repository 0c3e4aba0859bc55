"""The states of a tree that are judged."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ahp.system import commits, git, lines, view, worktree
from ahp.system.errors import AhpError
from ahp.system.git import GitError
from ahp.system.history import CommitView, RangeView
from ahp.system.view import IndexView, View
from ahp.system.worktree import WorkTreeView
from tests.conftest import Repo


def at(repo: Repo) -> git.Repository:
    return git.discover(str(repo.root), dict(os.environ))


def paths(of: View) -> list[tuple[str, str]]:
    return [(e.status, e.path) for e in of.change().entries]


@pytest.fixture
def states(repo: Repo) -> Repo:
    """A file that differs between commit, index and work tree, and one of each kind of change."""
    repo.commit("first", **{"a.txt": "committed\n", "gone.txt": "x\n", "moved.txt": "1\n2\n3\n"})
    repo.write("a.txt", "staged\n")
    repo.git("rm", "-q", "gone.txt")
    repo.git("mv", "moved.txt", "there.txt")
    repo.add()
    repo.write("a.txt", "on disk\n")
    repo.write("new.txt", "1\n2")
    return repo


def test_the_index_is_what_is_staged(states: Repo) -> None:
    index = IndexView(at(states))
    assert paths(index) == [("M", "a.txt"), ("D", "gone.txt"), ("R", "there.txt")]
    assert index.read("a.txt") == b"staged\n"
    assert index.read("gone.txt") is None
    assert index.size("a.txt") == 7
    assert index.size("gone.txt") is None
    assert index.paths() == ["a.txt", "there.txt"]
    assert b"+staged\n" in index.diff()
    assert index.base() == states.head()


def test_the_work_tree_is_what_lies_on_the_disk(states: Repo) -> None:
    tree = WorkTreeView(at(states))
    assert ("A", "new.txt") in paths(tree)
    new = next(e for e in tree.change().entries if e.path == "new.txt")
    assert (new.insertions, new.deletions) == (2, 0)
    assert tree.read("a.txt") == b"on disk\n"
    assert tree.read("none") is None
    assert tree.size("a.txt") == 8
    assert tree.size("none") is None
    assert sorted(tree.paths()) == ["a.txt", "new.txt", "there.txt"]
    diff = tree.diff()
    assert b"+on disk\n" in diff
    assert b"+++ b/new.txt" in diff
    assert tree.base() == states.head()


def test_a_file_that_is_only_meant_to_be_added_is_in_the_work_tree_and_not_in_the_index(repo: Repo) -> None:
    repo.commit("first", **{"a.txt": "1\n"})
    repo.write("meant.txt", "2\n")
    repo.git("add", "-N", "meant.txt")
    repo.write("a.txt", "3\n")
    repo.git("add", "a.txt")
    index = IndexView(at(repo))
    assert paths(index) == [("M", "a.txt")]
    assert b"meant" not in index.diff()
    tree = WorkTreeView(at(repo))
    assert paths(tree) == [("M", "a.txt"), ("A", "meant.txt")]
    assert b"+2\n" in tree.diff()


def test_a_change_on_the_disk_changes_the_digest(states: Repo) -> None:
    before = WorkTreeView(at(states)).change().digest
    states.write("new.txt", "3\n4")
    assert WorkTreeView(at(states)).change().digest != before


def test_ranges_and_commits(states: Repo) -> None:
    first = states.head()
    states.git("commit", "-q", "-m", "second")
    made = CommitView(at(states), "HEAD")
    assert paths(made) == [("M", "a.txt"), ("D", "gone.txt"), ("R", "there.txt")]
    assert (made.base(), made.read("a.txt"), made.paths()) == (first, b"staged\n", ["a.txt", "there.txt"])
    assert b"+staged\n" in made.diff()
    root = CommitView(at(states), first)
    assert paths(root) == [("A", "a.txt"), ("A", "gone.txt"), ("A", "moved.txt")]
    back = RangeView(at(states), "HEAD", first)
    assert ("A", "gone.txt") in paths(back)
    with pytest.raises(GitError, match="no commit nonsense"):
        CommitView(at(states), "nonsense")


def test_before_the_first_commit_everything_is_new(repo: Repo) -> None:
    repo.write("a.txt")
    repo.add()
    assert paths(IndexView(at(repo))) == [("A", "a.txt")]
    assert paths(WorkTreeView(at(repo))) == [("A", "a.txt")]


def test_what_git_listed_while_python_started_is_used(states: Repo) -> None:
    where = at(states)
    listed = where.run("diff-index", "--cached", *view.RAW, "HEAD", "--")
    states.git("reset", "-q", "--hard")
    assert len(IndexView(where, listed).change().entries) == 3
    assert IndexView(where, None).change().entries == []


def test_any_name_can_be_read_in_every_state(repo: Repo, hostile_names: list[str]) -> None:
    for name in hostile_names:
        repo.write(name, "content of " + name)
    repo.add()
    where = at(repo)
    index = IndexView(where)
    assert set(index.paths()) == {e.path for e in index.change().entries} == set(hostile_names)
    repo.git("commit", "-q", "-m", "x")
    for one in (index, WorkTreeView(where), CommitView(where, "HEAD")):
        assert set(one.paths()) == set(hostile_names)
        for name in hostile_names[:: 1 if one.kind == "worktree" else 4]:
            assert one.read(name) == os.fsencode("content of " + name)
        assert one.read("no\nsuch") is None


def test_what_is_no_file_cannot_be_read(repo: Repo) -> None:
    repo.commit("first", **{"folder/a.txt": "1\n"})
    where = at(repo)
    assert CommitView(where, "HEAD").read("folder") is None
    assert IndexView(where).read("nul\0") is None


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x"])
def test_nothing_is_read_outside_the_work_tree(repo: Repo, path: str) -> None:
    with pytest.raises(AhpError, match="lies outside the repository"):
        WorkTreeView(at(repo)).read(path)


def test_a_link_is_what_it_points_to_and_never_followed(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret\n")
    os.symlink(tmp_path / "secret", repo.root / "link")
    repo.write("tool", "#!/bin/sh\n", 0o755)
    os.mkfifo(repo.root / "pipe")
    tree = WorkTreeView(at(repo))
    assert tree.read("link") == os.fsencode(tmp_path / "secret")
    assert {e.path: e.new_mode for e in tree.change().entries} == {"link": 0o120000, "tool": 0o100755}
    assert b"secret\n" not in tree.diff().replace(os.fsencode(tmp_path / "secret"), b"")


def test_an_untracked_binary_has_no_lines(repo: Repo) -> None:
    repo.write("image", b"\0\1")
    repo.write("empty", b"")
    lines = {e.path: e.insertions for e in WorkTreeView(at(repo)).change().entries}
    assert lines == {"image": None, "empty": 0}


def test_a_file_past_the_limit_is_not_read(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worktree, "FILE_LIMIT", 10)
    repo.write("large", "x" * 11)
    (entry,) = WorkTreeView(at(repo)).change().entries
    assert (entry.path, entry.insertions, bool(entry.content)) == ("large", None, True)


def test_a_file_that_vanishes_in_between_is_no_change(repo: Repo) -> None:
    tree = WorkTreeView(at(repo))
    assert tree._new_file("gone") is None


def test_a_submodule_cannot_hide_where_it_is_moved(repo: Repo, tmp_path: Path) -> None:
    part = Repo(tmp_path / "part")
    part.root.mkdir()
    part.git("init", "-q")
    part.commit("first", **{"a.txt": "1\n"})
    repo.git("submodule", "--quiet", "add", str(part.root), "sub")
    repo.git("config", "-f", ".gitmodules", "submodule.sub.ignore", "all")
    repo.commit("first", "-a")
    Repo(repo.root / "sub").commit("second", **{"a.txt": "2\n"})
    repo.git("add", "--force", "sub")
    repo.git("update-index", "--cacheinfo", f"160000,{Repo(repo.root / 'sub').head()},sub")
    assert paths(IndexView(at(repo))) == [("M", "sub")]
    assert b"Subproject commit" in IndexView(at(repo)).diff()
    assert paths(WorkTreeView(at(repo))) == [("M", "sub")]


def test_the_user_s_settings_change_nothing_in_a_diff(repo: Repo) -> None:
    repo.commit("first", **{"a.txt": "".join(f"{n}\n" for n in range(20))})
    repo.write("a.txt", "".join(f"{n}{'!' if n in (5, 8) else ''}\n" for n in range(20)))
    plain = WorkTreeView(at(repo)).diff()
    for name, value in {
        "diff.interHunkContext": "9",
        "diff.noprefix": "true",
        "diff.mnemonicPrefix": "true",
        "diff.context": "7",
        "color.ui": "always",
        "diff.external": "false",
        "diff.relative": "true",
    }.items():
        repo.git("config", name, value)
    assert WorkTreeView(at(repo)).diff() == plain
    assert plain.count(b"@@ -") == 2


def test_the_plain_view_says_nothing_itself(repo: Repo) -> None:
    bare = View(at(repo))
    for ask in (bare.change, bare.base, bare.paths, bare.diff, lambda: bare.read("a")):
        with pytest.raises(NotImplementedError):
            ask()


def hide_by_untracked_attributes(repo: Repo) -> None:
    repo.write(".git/info/attributes", "* -diff\n")


def hide_by_committed_attributes(repo: Repo) -> None:
    repo.write(".gitattributes", "* binary\n")


def hide_by_driver(repo: Repo) -> None:
    repo.write(".git/info/attributes", "* diff=quiet\n")
    repo.git("config", "diff.quiet.binary", "true")


def hide_by_size(repo: Repo) -> None:
    repo.git("config", "core.bigFileThreshold", "1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "hide", [hide_by_untracked_attributes, hide_by_committed_attributes, hide_by_driver, hide_by_size]
)
def test_nothing_that_git_is_told_hides_a_line_of_text(repo: Repo, hide: Callable[[Repo], None]) -> None:
    repo.commit("first", **{"gone.txt": "removed\n", "moved.txt": "1\n2\n3\n4\n"})
    base = repo.head()
    repo.write("new.txt", "added\n")
    repo.write(":(top)*", "added as well\n")
    repo.write("long.txt", "x" * (2 << 20) + "\nlong\n")
    repo.write("image", b"\0\1\nnot a line\n")
    repo.git("rm", "-q", "gone.txt")
    repo.git("mv", "moved.txt", "there.txt")
    repo.write("there.txt", "1\n2\n3\n4\n5\n")
    hide(repo)
    tree = WorkTreeView(at(repo))
    repo.git("--literal-pathspecs", "add", "new.txt", ":(top)*", "long.txt", "image", "there.txt")
    index = IndexView(at(repo))
    staged = index.diff()
    repo.git("commit", "--quiet", "-m", "second")
    for diff in (tree.diff(), staged, WorkTreeView(at(repo), base).diff(), CommitView(at(repo), "HEAD").diff()):
        for line in (b"+added\n", b"+added as well\n", b"+long\n", b"-removed\n", b"+5\n"):
            assert line in diff
        assert b"not a line" not in diff


def hide_by_monitor(repo: Repo) -> None:
    monitor = repo.write(".git/monitor", "#!/bin/sh\nprintf 'now\\0'\n")
    monitor.chmod(0o755)
    repo.git("config", "core.fsmonitor", str(monitor))
    repo.git("update-index", "--fsmonitor", "--fsmonitor-valid", "a.txt")


def hide_by_time_stamps(repo: Repo) -> None:
    repo.git("config", "core.trustctime", "false")
    repo.git("config", "core.checkStat", "minimal")


@pytest.mark.parametrize("hide", [hide_by_monitor, hide_by_time_stamps])
def test_what_lies_in_the_work_tree_is_never_read_for_what_is_staged_or_committed(
    repo: Repo, hide: Callable[[Repo], None]
) -> None:
    """git reads the file where the index has it as unchanged, so that settings decide which content is judged."""
    repo.commit("first", **{"b.txt": "1\n"})
    file = repo.write("a.txt", "staged\n")
    os.utime(file, (1, 1))
    repo.add("a.txt")
    hide(repo)
    file.write_text("edited\n")
    os.utime(file, (1, 1))
    assert b"+edited" in repo.run("git", "diff", "--cached").stdout, "else this would test nothing"
    index = IndexView(at(repo))
    assert (b"+staged" in index.diff(), b"+edited" in index.diff()) == (True, False)
    repo.git("commit", "--quiet", "-m", "second")
    (past,) = commits.listed(at(repo), [repo.head()])
    for made in (CommitView(at(repo), "HEAD"), *commits.views(at(repo), [past], with_text=True)):
        assert (b"+staged" in made.diff(), b"+edited" in made.diff()) == (True, False)


def test_a_replaced_object_hides_nothing(repo: Repo) -> None:
    repo.commit("first", **{"a.txt": "1\n"})
    repo.commit("second", **{"a.txt": "secret\n"})
    clean = repo.git("hash-object", "-w", "--stdin", stdin=b"clean\n").strip()
    repo.git("replace", repo.git("rev-parse", "HEAD:a.txt").strip(), clean)
    repo.git("replace", repo.head(), repo.git("commit-tree", "-m", "x", "-p", "HEAD~1", "HEAD~1^{tree}").strip())
    second = CommitView(at(repo), "HEAD")
    assert b"+secret\n" in second.diff()
    assert second.read("a.txt") == b"secret\n"


def test_a_name_that_ends_in_a_carriage_return_is_not_another_file(repo: Repo) -> None:
    repo.commit("first", **{"a\r": "this\n", "a": "that one\n"})
    for state in (IndexView(at(repo)), CommitView(at(repo), "HEAD"), WorkTreeView(at(repo))):
        assert (state.read("a\r"), state.read("a"), state.size("a\r")) == (b"this\n", b"that one\n", 5)
        assert state.read("b\r") is None


def merging(repo: Repo) -> list[str]:
    """The sorted parents of a merge of three branches that is not committed yet, with a file of its own."""
    repo.commit("first", **{"a.txt": "1\n2\n3\n4\n5\n", "b.txt": "b\n", "moved.txt": "some\nlines\nto move\n"})
    for name, change in (("one", {"one.txt": "theirs\n"}), ("two", {"two.txt": "theirs\n", "b.txt": "theirs\n"})):
        repo.git("checkout", "-q", "-b", name, "main")
        repo.commit(name, **change)
    repo.git("checkout", "-q", "main")
    repo.commit("ours", **{"a.txt": "1\n2\n3\n4\nours\n"})
    parents = [repo.git("rev-parse", name) for name in ("main", "one", "two")]
    repo.git("merge", "-q", "--no-commit", "one", "two")
    repo.write("own.txt", "own\n")
    repo.write("b.txt", "theirs\nown\n")
    repo.add()
    return sorted(parents)


def test_of_a_merge_that_is_not_committed_yet_only_what_no_parent_has_counts(repo: Repo) -> None:
    merging(repo)
    index = IndexView(at(repo))
    assert [entry.path for entry in index.change().entries] == ["b.txt", "own.txt"]
    added = [(one["path"], one["line"], one["text"]) for one in lines.of(index).added]
    assert added == [("b.txt", 2, "own"), ("own.txt", 1, "own")]
    assert [e.path for e in index.whole().change().entries] == ["b.txt", "one.txt", "own.txt", "two.txt"]


def test_the_commit_that_a_merge_becomes_reads_the_same_and_has_the_same_digest(repo: Repo) -> None:
    parents = merging(repo)
    index = IndexView(at(repo))
    staged, text = index.digest(), lines.of(index)
    repo.git("commit", "-q", "-m", "joined")
    made = RangeView(at(repo), parents[0], repo.head(), tuple(parents[1:]))
    assert (made.digest(), lines.of(made).added, lines.of(made).removed) == (staged, text.added, text.removed)
    (past,) = commits.listed(at(repo), [repo.head()])
    (view_,) = commits.views(at(repo), [past], with_text=True)
    assert view_.own.digest() == staged


def test_what_a_merge_takes_back_is_its_own(repo: Repo) -> None:
    merging(repo)
    repo.git("rm", "-q", "--cached", "one.txt")
    repo.git("checkout", "-q", "HEAD~1", "--", "a.txt")  # as it was before either side
    assert [(e.status, e.path) for e in IndexView(at(repo)).change().entries if e.path == "a.txt"] == []  # as in `one`
    repo.write("a.txt", "neither\n")
    repo.add("a.txt")
    assert "a.txt" in [e.path for e in IndexView(at(repo)).change().entries]


def test_a_merge_head_before_the_first_commit_is_no_parent(repo: Repo) -> None:
    repo.commit("first", **{"a.txt": "1\n"})
    (repo.root / ".git" / "MERGE_HEAD").write_text(repo.head() + "\n")
    repo.git("symbolic-ref", "HEAD", "refs/heads/none")
    assert paths(IndexView(at(repo))) == [("A", "a.txt")]


@pytest.mark.parametrize("is_merge", [False, True])
def test_git_is_asked_once_for_what_changes_and_once_for_its_lines(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, is_merge: bool
) -> None:
    if is_merge:
        merging(repo)
    else:
        repo.commit("first", **{"a.txt": "1\n"})
        repo.write("a.txt", "2\n")
        repo.add()
    asked: list[str] = []
    run = git.Repository.run

    def count(self: git.Repository, *arguments: str, **options: object) -> bytes:
        asked.append(arguments[0])
        return run(self, *arguments, **options)  # type: ignore[arg-type]

    index = IndexView(at(repo))
    monkeypatch.setattr(git.Repository, "run", count)
    for _ in range(3):
        index.change()
        lines.of(index)
    assert [one for one in asked if one != "cat-file"] == ["diff-index"] * (6 if is_merge else 2)
    assert asked.count("cat-file") <= (3 if is_merge else 1)  # what was hashed is not hashed again

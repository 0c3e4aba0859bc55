"""A range brings what its tip has otherwise than all that it begins at; held against a slow and plain oracle."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from ahp.system import boundaries, git, lines
from ahp.system.errors import Unknown
from ahp.system.history import RangeView
from tests.conftest import Repo
from tests.system import histories

SEEDS = range(int(os.environ.get("AHP_TEST_HISTORIES", "8")))


def at(repo: Repo) -> git.Repository:
    return git.discover(str(repo.root), dict(os.environ))


def told(records: list[lines.Line]) -> set[tuple[object, ...]]:
    assert len({tuple(record.values()) for record in records}) == len(records)
    return {(record["path"], record["line"], record["text"]) for record in records}


def paths(view: RangeView) -> set[str]:
    return {entry.path for entry in view.change().entries}


@pytest.mark.parametrize("seed", SEEDS)
def test_any_range_of_any_history(repo: Repo, seed: int) -> None:
    history = histories.make(repo, seed)
    where, chance = at(repo), random.Random(seed)
    for _ in range(8):
        tip, *known = chance.sample(range(len(history.ids)), chance.choice([1, 2, 2, 3, 4]))
        view = boundaries.range_over(where, history.ids[tip], [history.ids[commit] for commit in known])
        bases = history.best_common(tip, known)
        empty = [where.empty_tree()] if not bases else []
        assert [view.old, *view.others] == [*empty, *[history.ids[base] for base in bases]]
        assert paths(view) == history.counted(tip, bases)
        found = lines.of(view)
        assert told(found.added) == history.added(tip, bases)
        assert told(found.removed) == history.removed(tip, bases)
        over_first = history.trees[bases[0]] if bases else {}
        for entry in view.change().entries:
            before, after = over_first.get(entry.path, ()), history.trees[tip].get(entry.path, ())
            assert (entry.insertions, entry.deletions) == (len(set(after) - set(before)), len(set(before) - set(after)))
            assert entry.status == ("A" if not before else "M" if after else "D")
        listed = repo.git("rev-list", *view.revisions()).split()
        assert set(listed) == {history.ids[one] for one in history.reach([tip]) - history.reach(known)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_ranges_that_are_asked_together_are_those_that_git_lists_alone(repo: Repo, seed: int) -> None:
    history = histories.make(repo, seed)
    alone, together, chance = at(repo), at(repo), random.Random(seed)
    known = [history.ids[one] for one in chance.sample(range(len(history.ids)), 3)] + ["1" * 40]
    asked = [(tip, known, known) for tip in history.ids]
    asked += [(tip, [*alike.boundaries(), history.ids[0]], [*known, history.ids[0]])
              for tip in history.ids for alike in [boundaries.range_over(alone, tip, known)]]  # fmt: skip
    together.answers = {}
    boundaries.foresee(together, asked)
    assert len(together.answers) >= len(history.ids)
    for tip, over, _ in asked:
        assert boundaries.outgoing(together, tip, over) == boundaries.outgoing(alone, tip, over)
    for tip in history.ids:
        one, other = (boundaries.range_over(where, tip, known) for where in (alone, together))
        assert one.boundaries() == other.boundaries()


def test_what_git_cannot_list_together_is_asked_alone(repo: Repo) -> None:
    first, second = repo.commit("1"), repo.commit("2")
    where = at(repo)
    where.answers = {}
    boundaries.foresee(where, [(tip, [first], [first, "no id"]) for tip in (first, second)])
    assert boundaries.outgoing(where, second, [first]) == [second]


def test_a_fork_point_that_a_later_merge_overtook_is_none(repo: Repo) -> None:
    repo.commit("root", a="1\n")
    repo.git("checkout", "-qb", "topic")
    repo.commit("mine", mine="1\n")
    repo.git("checkout", "-q", "main")
    theirs = repo.commit("theirs", theirs="1\n", a="2\n")
    repo.git("checkout", "-q", "topic")
    repo.git("merge", "-q", "--no-edit", "main")
    view = boundaries.range_over(at(repo), repo.head(), [theirs])
    assert (view.old, view.others, paths(view)) == (theirs, (), {"mine"})
    # What a merge took back of theirs is the author's.
    repo.git("checkout", "-q", "HEAD~1", "--", "a")
    repo.git("commit", "-q", "--amend", "--no-edit")
    view = boundaries.range_over(at(repo), repo.head(), [theirs])
    assert paths(view) == {"mine", "a"}


def test_nothing_is_known_past_the_end_of_a_shallow_clone(repo: Repo, tmp_path: Path) -> None:
    first = repo.commit("first", a="1\n")
    for name in "bcd":
        repo.commit(name, **{name: "1\n"})
    repo.git("clone", "-q", "--depth", "2", repo.root.as_uri(), str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow")
    tip = shallow.head()
    top = shallow.commit("mine", mine="1\n")
    assert paths(boundaries.range_over(at(shallow), top, [tip])) == {"mine"}
    for known in ([], [first]):
        view = boundaries.range_over(at(shallow), top, known)
        for ask in (view.change, view.base, view.revisions, view.diff):
            with pytest.raises(Unknown, match="cut off before the range begins; fix: git fetch --unshallow"):
                ask()
        assert (view.digest(), view.touched()) == ("", [])
        assert view.read("mine") == b"1\n"
    repo.git("checkout", "-q", "-b", "merged", first)
    repo.git("merge", "-q", "-m", "merge", "--no-ff", "main~1")
    tip = repo.commit("theirs", theirs="1\n")
    shallow.git("fetch", "-q", "origin", "merged")  # whole, while what it is compared with is cut off
    with pytest.raises(Unknown, match="cut off before the range begins"):
        boundaries.range_over(at(shallow), tip, [shallow.git("rev-parse", "origin/main")]).change()
    shallow.git("fetch", "-q", "--unshallow", "origin", "main", "merged")
    assert paths(boundaries.range_over(at(shallow), tip, [shallow.git("rev-parse", "origin/main")])) == {"theirs"}
    assert paths(boundaries.range_over(at(shallow), top, [first])) == {"b", "c", "d", "mine"}


def test_in_a_shallow_clone_two_beginnings_may_hide_a_better_one(repo: Repo, tmp_path: Path) -> None:
    repo.commit("root", a="1\n")
    sides = []
    for name in ("one", "two"):
        repo.git("checkout", "-qb", name, "main")
        sides.append(repo.commit(name, **{name: "1\n"}))
    repo.git("checkout", "-qb", "tip", "one")
    repo.git("merge", "-q", "--no-edit", "two")
    whole = boundaries.range_over(at(repo), repo.head(), sides)
    assert len(whole.others) == 1 and paths(whole) == set()
    repo.git("clone", "-q", "--depth", "2", "--branch", "tip", repo.root.as_uri(), str(tmp_path / "shallow"))
    cut = boundaries.range_over(at(Repo(tmp_path / "shallow")), repo.head(), sides)
    with pytest.raises(Unknown):
        cut.change()


def test_what_has_no_commit_in_common_is_all_new_or_unknown(repo: Repo) -> None:
    first = repo.commit("first", a="1\n")
    repo.git("checkout", "-q", "--orphan", "island")
    top = repo.commit("island", b="1\n")
    assert paths(boundaries.range_over(at(repo), top, [first])) == {"a", "b"}
    with pytest.raises(Unknown, match="no commit in common"):
        boundaries.range_over(at(repo), top, [first], whole=False).change()


def test_a_damaged_history_is_unknown_and_not_empty(repo: Repo) -> None:
    first = repo.commit("first", a="1\n")
    second = repo.commit("second", a="2\n")
    third = repo.commit("third", a="3\n")
    blob = repo.git("rev-parse", f"{first}:a")
    for oid in (second, blob):
        (repo.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(Unknown, match="git cannot follow the history"):
        boundaries.range_over(at(repo), third, [first]).change()
    with pytest.raises(Unknown, match="an object of what changed is not in this clone"):
        RangeView(at(repo), first, third).change()


def test_an_error_that_no_missing_object_explains_stays_one(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    first = repo.commit("first", a="1\n")
    second = repo.commit("second", a="2\n")
    view, run = RangeView(at(repo), first, second), git.Repository.run

    def refuse(self: git.Repository, *arguments: str, **options: object) -> bytes:
        if arguments[0] == "diff-tree":
            raise git.GitError("git diff-tree failed: no memory")
        return run(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(git.Repository, "run", refuse)
    with pytest.raises(git.GitError, match="no memory"):
        view.change()

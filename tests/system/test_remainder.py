"""What a range changes and none of its commits changes itself: merges that take back what others did."""

from __future__ import annotations

import pytest

from tests.conftest import Repo
from tests.system.merged_histories import Left, left, try_seed

NOTHING = Left(set(), [])
NAMES = [f"{number}.txt" for number in range(6)]


@pytest.fixture
def two(repo: Repo) -> Repo:
    """On `topic`, which has work of its own; `main` has removed a key since and made a file strict."""
    repo.commit("begin", cfg="key\n", guard="a\nweak\nb\n", **dict.fromkeys(NAMES, "1\n2\n3\n"))
    repo.git("branch", "topic")
    repo.git("rm", "-q", "cfg")
    repo.commit("fix", guard="a\nstrict\nb\n")
    repo.git("checkout", "-q", "topic")
    repo.commit("work", own="w\n")
    return repo


def conclude(repo: Repo, **files: str) -> str:
    """Commits the merge that is going on, with these files."""
    for name, text in files.items():
        repo.write(name, text)
    repo.add()
    repo.git("commit", "-q", "-m", "merge")
    return repo.head()


TAKEN_BACK = Left({"cfg", "guard"}, ["+key", "+weak", "-strict"])


def test_a_merge_that_keeps_its_own_side_is_left(two: Repo) -> None:
    two.git("merge", "-q", "-s", "ours", "-m", "merge", "main")
    assert left(two, "topic", ["main"]) == TAKEN_BACK


@pytest.mark.parametrize("parents", [("main", "topic~1"), ("topic~1", "main"), ("main", "main~1"), ("main~1", "main")])
def test_a_merge_with_an_old_commit_for_a_parent_is_left(two: Repo, parents: tuple[str, str]) -> None:
    above = [word for parent in parents for word in ("-p", parent)]
    tip = two.git("commit-tree", *above, "-m", "merge", "main~1^{tree}")
    assert left(two, tip, ["main"]) == TAKEN_BACK


def test_a_merge_that_git_makes_leaves_nothing(two: Repo) -> None:
    two.git("merge", "-q", "--no-edit", "main")
    assert left(two, "topic", ["main"]) == NOTHING
    two.git("checkout", "-q", "main")
    two.git("merge", "-q", "--no-ff", "--no-edit", "topic")
    assert left(two, "main", ["main~1"]) == NOTHING


def test_ten_merges_of_main_into_a_topic_leave_nothing(two: Repo) -> None:
    for number in range(10):
        two.git("checkout", "-q", "main")
        two.commit("more", **{NAMES[number % 6]: f"1\nmain {number}\n2\n3\n"})
        two.git("checkout", "-q", "topic")
        two.git("merge", "-q", "--no-edit", "main")
        two.commit("own", **{f"own {number}": "w\n"})
    assert left(two, "topic", ["main"]) == NOTHING
    two.git("merge", "-q", "-s", "ours", "-m", "nothing new", "main~1")
    assert left(two, "topic", ["main"]) == NOTHING


def test_an_octopus_leaves_nothing_and_one_that_takes_back_does(two: Repo) -> None:
    for name in ("x", "y"):
        two.git("checkout", "-q", "-b", name, "main~1")
        two.commit(name, **{name: f"{name}\n"})
    two.git("checkout", "-q", "topic")
    two.git("merge", "-q", "--no-edit", "x", "y", "main")
    assert left(two, "topic", ["main"]) == NOTHING
    two.git("reset", "-q", "--hard", "HEAD~1")
    two.git("merge", "-q", "-s", "ours", "-m", "merge", "x", "y", "main")
    assert left(two, "topic", ["main"]) == TAKEN_BACK


def test_a_revert_of_a_revert_is_the_commits_own(two: Repo) -> None:
    two.git("merge", "-q", "--no-edit", "main")
    two.git("revert", "--no-edit", "-m", "1", "HEAD")
    assert left(two, "topic", ["main"]) == NOTHING
    two.git("revert", "--no-edit", "HEAD")
    assert left(two, "topic", ["main"]) == NOTHING


def test_criss_cross_merges_leave_nothing_whatever_is_known(two: Repo) -> None:
    two.git("branch", "other", "main")
    two.git("merge", "-q", "--no-edit", "other")
    two.git("checkout", "-q", "other")
    two.git("merge", "-q", "--no-edit", "topic~1")
    two.commit("more", **{"0.txt": "1\n2\n3\n4\n"})
    two.git("checkout", "-q", "topic")
    two.commit("more", **{"0.txt": "0\n1\n2\n3\n"})
    two.git("merge", "-q", "--no-edit", "other")
    for known in (["main"], ["other"], ["other", "main"], ["topic~1", "other"], ["other~1", "topic~2"]):
        assert left(two, "topic", known) == NOTHING
    two.git("merge", "-q", "-s", "ours", "-m", "merge", "main")  # has it already: nothing is taken back
    assert left(two, "topic", ["main", "other"]) == NOTHING


def test_rebased_and_squashed_work_leaves_nothing(two: Repo) -> None:
    two.git("rebase", "-q", "main")
    two.git("checkout", "-q", "-b", "squashed", "main")
    two.git("merge", "-q", "--squash", "topic")
    two.commit("squashed")
    two.git("merge", "-q", "--no-edit", "topic")
    assert left(two, "squashed", ["main"]) == left(two, "topic", ["main"]) == NOTHING


def test_what_a_resolved_conflict_drops_of_main_is_left(two: Repo) -> None:
    two.commit("own guard", guard="a\nown\nb\n")
    assert two.run("git", "merge", "-q", "main").returncode
    merge = conclude(two, guard="a\nown\nb\n")
    assert left(two, "topic", ["main"]) == Left({"guard"}, ["-strict"])
    assert (
        left(two, merge, ["topic~1", "main"]) == NOTHING
    )  # of two boundaries a path in conflict has to be new to both
    two.git("reset", "-q", "--hard", "HEAD~1")
    assert two.run("git", "merge", "-q", "main").returncode
    conclude(two, guard="a\nown\nstrict\nb\n")
    assert left(two, "topic", ["main"]) == NOTHING


def test_what_is_edited_in_a_merge_is_its_own_and_what_it_drops_is_left(two: Repo) -> None:
    two.git("merge", "-q", "--no-commit", "main")
    conclude(two, new="edited\n")
    assert left(two, "topic", ["main"]) == NOTHING
    two.git("reset", "-q", "--hard", "HEAD~1")
    two.git("merge", "-q", "--no-commit", "main")
    conclude(two, guard="a\nweak\nb\n")
    assert left(two, "topic", ["main"]) == Left({"guard"}, ["+weak", "-strict"])


def test_a_subtree_merge_brings_its_files_itself(two: Repo) -> None:
    two.git("checkout", "-q", "--orphan", "lib")
    two.git("rm", "-q", "-rf", ".")
    two.commit("lib", **{"lib.txt": "of lib\n"})
    two.git("checkout", "-q", "topic")
    two.git("merge", "-q", "-s", "ours", "--no-commit", "--allow-unrelated-histories", "lib")
    two.git("read-tree", "--prefix=vendor/", "-u", "lib")
    two.git("commit", "-q", "-m", "subtree")
    assert left(two, "topic", ["main"]) == NOTHING
    two.git("checkout", "-q", "lib")
    two.commit("lib 2", **{"lib.txt": "of lib\nmore\n"})
    two.git("checkout", "-q", "topic")
    two.git("merge", "-q", "--no-edit", "-X", "subtree=vendor", "lib")
    assert left(two, "topic", ["main"]) == NOTHING


def test_modes_deletions_and_binary_files_are_left_too(two: Repo) -> None:
    two.git("checkout", "-q", "main")
    two.write("0.txt", "1\n2\n3\n", mode=0o755)
    two.write("bin", b"\0\1")
    two.write("empty", "")
    two.add()
    two.commit("more")
    two.git("checkout", "-q", "topic")
    two.git("merge", "-q", "-s", "ours", "-m", "merge", "main")
    assert left(two, "topic", ["main"]).paths == {"cfg", "guard", "0.txt", "bin", "empty"}
    two.git("reset", "-q", "--hard", "HEAD~1")
    two.git("merge", "-q", "--no-edit", "main")
    assert left(two, "topic", ["main"]) == NOTHING


def test_attributes_drivers_and_settings_of_the_clone_do_not_explain_a_merge(two: Repo) -> None:
    two.write(".git/info/attributes", "* merge=union\n")
    two.commit("own guard", guard="a\nweak\nown\nb\n")
    two.git("merge", "-q", "--no-edit", "main")
    assert "weak" in (two.root / "guard").read_text()
    assert left(two, "topic", ["main"]) == Left({"guard"}, ["+weak"])


def test_a_rename_that_git_follows_leaves_nothing(two: Repo) -> None:
    two.git("checkout", "-q", "main")
    two.git("mv", "0.txt", "moved.txt")
    two.commit("rename")
    two.git("checkout", "-q", "topic")
    two.commit("edit", **{"0.txt": "0\n1\n2\n3\n"})
    two.git("merge", "-q", "--no-edit", "main")
    assert (two.root / "moved.txt").read_text() == "0\n1\n2\n3\n"
    assert left(two, "topic", ["main"]) == NOTHING


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_histories_leave_what_was_planted_and_nothing_else(repo: Repo, seed: int) -> None:
    assert try_seed(repo, seed) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 160))
def test_many_random_histories_leave_what_was_planted_and_nothing_else(repo: Repo, seed: int) -> None:
    assert try_seed(repo, seed) == []

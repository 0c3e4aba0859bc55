"""What a push brings, by what the remote is known to have (authority §3)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ahp.hosts.git import ranges
from ahp.protocol.event import PushRef
from ahp.system import git, lines, tracking
from ahp.system.errors import Unknown
from ahp.system.history import RangeView
from tests.conftest import Repo

ZERO = "0" * 40


@pytest.fixture
def here(repo: Repo, tmp_path: Path) -> Repo:
    """A repository with a remote `origin` that has its main."""
    repo.commit("first", f="0\n")
    repo.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repo.git("push", "-q", "-u", "origin", "main")
    return repo


def at(repo: Repo) -> git.Repository:
    return git.discover(str(repo.root), dict(os.environ))


def view(
    repo: Repo, local: str = "HEAD", ref: str = "refs/heads/new", old: str = ZERO, to: str = "origin"
) -> RangeView:
    """The range of pushing `local` to `ref`, which is at `old`."""
    oid = repo.git("rev-parse", local) if local != ZERO else ZERO
    return ranges.range_of(at(repo), PushRef("refs/heads/local", oid, ref, old), to)


def brought(
    repo: Repo, local: str = "HEAD", ref: str = "refs/heads/new", old: str = ZERO, to: str = "origin"
) -> list[str]:
    return sorted(entry.path for entry in view(repo, local, ref, old, to).change().entries)


def side(repo: Repo, name: str, base: str = "main") -> str:
    """A branch with one file of its name."""
    repo.git("checkout", "-qb", name, base)
    return repo.commit(name, **{name: f"{name}\n"})


def merge(repo: Repo, into: str, *names: str) -> str:
    repo.git("checkout", "-q", into)
    repo.git("merge", "-q", "--no-ff", "--no-edit", *names)
    return repo.head()


def test_what_a_merged_branch_brings_is_pushed_with_the_merge(here: Repo) -> None:
    main = here.head()
    side(here, "s1")
    side(here, "s2")
    merge(here, "main", "s1")
    assert brought(here) == ["s1"]
    assert brought(here, ref="refs/heads/main", old=main) == ["s1"]
    here.commit("more", more="1\n")
    merge(here, "main", "s2")
    assert brought(here) == ["more", "s1", "s2"]
    assert set(here.git("rev-list", *view(here).revisions()).split()) == set(
        here.git("rev-list", "main", f"^{main}").split()
    )


def test_what_colleagues_changed_and_was_merged_in_is_not_the_author_s(here: Repo) -> None:
    side(here, "mine")
    here.git("checkout", "-q", "main")
    here.commit("theirs", theirs="1\n")
    here.git("push", "-q", "origin", "main")
    merge(here, "mine", "main")
    assert brought(here) == ["mine"]
    assert brought(here, ref="refs/heads/mine", old=here.git("rev-parse", "mine~1")) == []


def test_a_criss_cross_has_two_beginnings(here: Repo) -> None:
    one = side(here, "one")
    two = side(here, "two")
    here.git("push", "-q", "origin", "one", "two")
    cross = here.git("commit-tree", "-p", one, "-p", two, "-m", "x", "main^{tree}")
    here.git("checkout", "-qb", "tip", cross)
    here.git("read-tree", "-m", "-u", "HEAD")
    here.commit("tip", one="one\n", two="two, changed\n", mine="1\n")
    # `one` is as one has it, and differs from two; `two` differs from both.
    assert brought(here) == ["mine", "two"]


def test_a_root_that_is_merged_in_is_new(here: Repo) -> None:
    main = here.head()
    here.git("checkout", "-q", "--orphan", "other")
    here.git("rm", "-rqf", ".")
    here.commit("island", island="1\n")
    here.git("checkout", "-q", "main")
    here.git("merge", "-q", "--no-edit", "--allow-unrelated-histories", "other")
    assert brought(here, ref="refs/heads/main", old=main) == brought(here) == ["island"]


def test_a_stacked_branch_brings_what_is_on_top(here: Repo) -> None:
    side(here, "below")
    here.git("push", "-q", "origin", "below")
    side(here, "above", "below")
    assert brought(here) == ["above"]
    assert brought(here, ref="refs/heads/main", old=here.git("rev-parse", "main")) == ["above", "below"]


def test_the_default_branch_is_told_by_its_old_id_alone(here: Repo) -> None:
    main = here.head()
    side(here, "topic")
    here.git("push", "-q", "origin", "topic")
    merge(here, "main", "topic")
    assert brought(here, ref="refs/heads/main", old=main) == ["topic"]
    assert brought(here, ref="refs/heads/release", old=main) == []
    repository, ref = at(here), PushRef("refs/heads/local", here.head(), "refs/heads/release", main)
    assert ranges.range_of(repository, ref, "origin", has_authority=True).base() == main
    assert ranges.range_of(repository, ref, "origin").change().entries == []


def test_a_branch_whose_commit_was_never_fetched_is_what_it_was_at_the_last_fetch(here: Repo) -> None:
    main = here.head()
    side(here, "topic")
    here.git("push", "-q", "origin", "topic")
    unseen = view(here, ref="refs/heads/main", old="1" * 40)
    assert (unseen.base(), brought(here, ref="refs/heads/main", old="1" * 40)) == (main, ["topic"])
    here.git("update-ref", "refs/remotes/origin/main", "topic")
    unseen = view(here, ref="refs/heads/main", old="1" * 40)
    with pytest.raises(Unknown, match="refs/heads/main has on the remote was never fetched; fix: git fetch origin"):
        unseen.change()
    with pytest.raises(Unknown, match=r"fix: git fetch '\.\./a b' refs/heads/main$"):
        view(here, ref="refs/heads/main", old="1" * 40, to="../a b").change()


def test_a_fresh_clone_has_what_it_was_cloned_from(here: Repo, tmp_path: Path) -> None:
    side(here, "topic")
    here.git("push", "-q", "origin", "topic")
    here.git("clone", "-q", str(tmp_path / "remote.git"), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone")
    assert brought(clone, local="origin/topic") == []
    clone.git("checkout", "-q", "topic")
    clone.commit("mine", mine="1\n")
    assert brought(clone) == ["mine"]


def test_a_ref_that_no_exchange_with_the_remote_moved_is_not_believed(here: Repo) -> None:
    here.commit("secret", secret="1\n")
    here.git("update-ref", "refs/remotes/origin/zz", "HEAD")
    assert brought(here) == ["secret"]
    here.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert brought(here) == ["f", "secret"]
    mine = [here.head(), here.git("rev-parse", "HEAD~1")]
    assert ranges.to_judge(at(here), view(here), "origin", []) == mine
    here.git("fetch", "-q", ".", "main:refs/remotes/origin/yy")
    here.git("fetch", "-q", "./", "+main:remotes/origin/xx")
    assert brought(here) == ["f", "secret"]
    here.git("push", "-q", "origin", "main:pushed")
    assert brought(here) == []
    here.git("update-ref", "-d", "refs/remotes/origin/pushed")
    assert brought(here) == ["f", "secret"]
    here.git("fetch", "-q", "origin", "+refs/heads/pushed:refs/remotes/origin/pushed")
    assert brought(here) == []


@pytest.mark.parametrize("how", ["fetch", "pull", "push", "remote rename", "remote update"])
def test_every_exchange_with_the_remote_is_believed(here: Repo, tmp_path: Path, how: str) -> None:
    here.git("update-ref", "refs/remotes/origin/zz", "HEAD")
    here.git("clone", "-q", str(tmp_path / "remote.git"), str(tmp_path / "other"))
    Repo(tmp_path / "other").commit("theirs", theirs="1\n")
    Repo(tmp_path / "other").git("push", "-q")
    name = "origin"
    if how == "fetch":
        here.git("fetch", "-q")
        here.git("merge", "-q", "origin/main")
    elif how == "pull":
        here.git("pull", "-q")
    elif how == "remote update":
        here.git("remote", "update")
        here.git("merge", "-q", "origin/main")
    elif how == "remote rename":
        here.git("pull", "-q")
        here.git("remote", "rename", "origin", "upstream")
        name = "upstream"
    else:
        here.git("pull", "-q")
        here.commit("mine", mine="1\n")
        here.git("push", "-q")
    assert brought(here, to=name) == []


def test_a_ref_that_no_reflog_tells_of_excuses_only_what_is_packed(here: Repo, tmp_path: Path) -> None:
    here.git("config", "core.logAllRefUpdates", "false")
    here.git("remote", "rm", "origin")
    here.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    here.git("fetch", "-q")
    assert brought(here) == ["f"]  # whoever switches reflogs off could have written it
    here.git("pack-refs", "--all")
    assert brought(here) == []
    here.git("config", "core.logAllRefUpdates", "true")
    side(here, "topic")
    here.git("push", "-q", "origin", "topic")
    assert brought(here) == []
    here.git("reflog", "expire", "--expire=now", "--all")
    assert (here.root / ".git/logs/refs/remotes/origin/topic").read_bytes() == b""
    assert brought(here) == ["topic"]
    here.git("fetch", "-q")  # moves nothing, so that it leaves no entry
    assert brought(here) == ["topic"]
    here.git("update-ref", "-d", "refs/remotes/origin/topic")
    here.git("fetch", "-q")
    assert brought(here) == []


def test_an_expired_reflog_makes_no_forged_ref_believed(here: Repo) -> None:
    here.commit("secret", secret="1\n")
    here.git("update-ref", "refs/remotes/origin/zz", "HEAD")
    assert brought(here) == ["secret"]
    here.git("reflog", "expire", "--expire=now", "--all")
    assert "secret" in brought(here)
    repo = at(here)
    assert tracking.doubts(repo, "refs/remotes/origin/zz") and not tracking.believes(repo, "refs/remotes/origin/zz")


@pytest.mark.parametrize("setting", [None, "true", "always"])
def test_a_ref_that_came_without_a_reflog_where_one_is_kept_is_not_believed(here: Repo, setting: str | None) -> None:
    here.git("config", "--unset", "core.logAllRefUpdates")
    if setting is not None:
        here.git("config", "core.logAllRefUpdates", setting)
    here.commit("secret", secret="1\n")
    off = ("-c", "core.logAllRefUpdates=false")
    here.git(*off, "update-ref", "refs/remotes/origin/fake", "HEAD")
    assert not (here.root / ".git/logs/refs/remotes/origin/fake").exists()
    assert brought(here) == ["secret"]
    here.write(".git/refs/remotes/origin/zz", here.head() + "\n")
    repo = at(here)
    repo.env = {**repo.env, "GIT_CONFIG_PARAMETERS": "'core.logallrefupdates'='false'"}
    assert not tracking.believes(repo, "refs/remotes/origin/zz") and tracking.doubts(repo, "refs/remotes/origin/zz")
    assert tracking.believed(repo) == tracking.believed(repo, "origin") == [here.git("rev-parse", "HEAD~1")]


def test_what_a_bare_repository_fetched_has_no_reflog(here: Repo, tmp_path: Path) -> None:
    remote, bare = str(tmp_path / "remote.git"), tmp_path / "bare.git"
    here.git("clone", "-q", "--bare", remote, str(bare))
    Repo(bare).git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    Repo(bare).git("fetch", "-q")
    Repo(bare).git("worktree", "add", "-q", str(tmp_path / "linked"), "main")
    assert not (bare / "logs/refs/remotes").exists()
    assert brought(Repo(tmp_path / "linked")) == []


def test_a_repository_that_is_said_to_be_bare_is_none_where_it_kept_reflogs(here: Repo) -> None:
    here.commit("secret", secret="1\n")
    here.git("-c", "core.logAllRefUpdates=false", "update-ref", "refs/remotes/origin/zz", "HEAD")
    here.git("config", "core.bare", "true")
    assert brought(here) == ["secret"]


def test_refs_kept_in_tables_have_their_reflogs_asked_of_git(here: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """git 2.45 can keep refs elsewhere than in files; older ones cannot make such a repository, so it is made up."""
    here.commit("secret", secret="1\n")
    here.git("update-ref", "refs/remotes/origin/zz", "HEAD")
    here.git("reflog", "delete", "--updateref", "refs/remotes/origin/main@{0}")
    real = tracking.files.read
    monkeypatch.setattr(
        tracking.files, "read", lambda path, *limit: b"x" if path.endswith("tables.list") else real(path, *limit)
    )
    asked: list[str] = []
    run = git.Repository.run

    def counted(repo: git.Repository, *args: str, **options: Any) -> bytes:
        asked.extend(args[:1])
        return run(repo, *args, **options)

    for name in ("one", "two", "three"):
        here.git("push", "-q", "origin", f"main~1:refs/heads/{name}")
    monkeypatch.setattr(git.Repository, "run", counted)
    assert brought(here) == ["secret"]
    assert asked.count("log") == 1  # of all refs together
    here.git("reflog", "expire", "--expire=all", "--all")
    assert brought(here) == []


def test_a_second_remote_has_nothing_of_the_first(here: Repo, tmp_path: Path) -> None:
    side(here, "topic")
    here.git("init", "-q", "--bare", str(tmp_path / "second.git"))
    for name in ("second", "team/second"):
        here.git("remote", "add", name, str(tmp_path / "second.git"))
        assert brought(here, to=name) == ["f", "topic"]
        here.git("push", "-q", name, "main")
        assert brought(here, to=name) == ["topic"]
    # An address of a remote is that remote; of any other, what every remote has is known.
    here.git("push", "-q", "origin", "topic")
    assert brought(here, to=str(tmp_path / "second.git")) == ["topic"]
    assert brought(here, to="https://example.org/x.git") == []


def test_tags_are_what_they_name_in_the_end(here: Repo) -> None:
    side(here, "topic")
    here.git("tag", "-a", "-m", "x", "v1")
    here.git("tag", "-a", "-m", "x", "v2", "v1")
    here.git("tag", "-a", "-m", "x", "tree", "HEAD^{tree}")
    for name in ("v1", "v2"):
        assert brought(here, name, f"refs/tags/{name}") == ["topic"]
    assert brought(here, "tree", "refs/tags/tree") == ["f", "topic"]
    assert brought(here, "v2", "refs/tags/v", old=here.git("rev-parse", "v1")) == []
    assert brought(here, "v2", "refs/tags/v", old=here.git("rev-parse", "tree")) == ["topic"]


def test_a_tag_of_a_blob_is_read_like_a_file(here: Repo) -> None:
    blobs = {
        "text": b"secret\nsecond",
        "wide": "secret\nsecond\n".encode("utf-16"),
        "binary": bytes(range(256)) * 8,
        "empty": b"",
    }
    for name, data in blobs.items():
        oid = here.git("hash-object", "-w", "--stdin", stdin=data)
        here.git("tag", "-a", "-m", "x", name, oid)
        ref = f'refs/tags/"{name}\u2028'
        pushed = view(here, name, ref)
        (entry,) = pushed.change().entries
        assert (entry.path, entry.status, entry.new_oid, pushed.paths()) == (ref, "A", oid, [ref])
        assert (pushed.read(ref), pushed.read("other")) == (data, None)
        found = [(line["path"], line["line"], line["text"]) for line in lines.of(pushed).added]
        assert found == ([(ref, 1, "secret"), (ref, 2, "second")] if name in ("text", "wide") else [])
        assert pushed.revisions() == [at(here).empty_tree()]


def test_notes_are_all_that_is_in_them(here: Repo) -> None:
    here.git("notes", "add", "-m", "secret")
    (entry,) = view(here, "refs/notes/commits", "refs/notes/commits").change().entries
    assert entry.status == "A"
    old = here.git("rev-parse", "refs/notes/commits")
    here.git("notes", "append", "-m", "more")
    (entry,) = view(here, "refs/notes/commits", "refs/notes/commits", old).change().entries
    assert entry.status == "M"


def test_a_deletion_brings_nothing_and_what_is_not_here_is_unknown(here: Repo) -> None:
    assert brought(here, ZERO, old=here.head()) == []
    gone = ranges.range_of(at(here), PushRef("x", "1" * 40, "refs/heads/x", ZERO), "origin")
    with pytest.raises(Unknown, match="not in this clone or not what its id says; fix: git fsck"):
        gone.change()


def test_a_shallow_clone_knows_what_it_adds_and_no_more(here: Repo, tmp_path: Path) -> None:
    for name in "abc":
        here.commit(name, **{name: "1\n"})
    here.git("push", "-q", "origin", "main")
    here.git("clone", "-q", "--depth", "1", (tmp_path / "remote.git").as_uri(), str(tmp_path / "shallow"))
    shallow = Repo(tmp_path / "shallow")
    shallow.commit("mine", mine="1\n")
    assert brought(shallow) == ["mine"]
    assert brought(shallow, ref="refs/heads/main", old=here.head()) == ["mine"]
    with pytest.raises(Unknown, match="git fetch --unshallow"):
        brought(shallow, to="elsewhere")


def test_a_partial_clone_knows_its_history(here: Repo, tmp_path: Path) -> None:
    for number in "123":
        here.commit(number, f=f"{number}\n")
    here.git("push", "-q", "origin", "main")
    Repo(tmp_path / "remote.git").git("config", "uploadpack.allowFilter", "true")
    address = (tmp_path / "remote.git").as_uri()
    here.git("clone", "-q", "--filter=blob:none", address, str(tmp_path / "partial"))
    partial = Repo(tmp_path / "partial")
    partial.commit("mine", mine="1\n")
    assert brought(partial) == ["mine"]


@pytest.mark.parametrize("local", ["HEAD^{/b c}", "refs/heads/a\u2028b", "refs/heads/\u0085", "refs/heads/\udcff", ""])
def test_any_name_of_a_ref_is_read(local: str) -> None:
    line = f"{local} {'1' * 40} refs/heads/y\u2029z {ZERO}\n".encode("utf-8", "surrogateescape")
    refs = ranges.read_refs(line * 2)
    assert len(refs) == 2
    for ref in refs:
        assert (ref.local_ref, ref.local_oid) == (local, "1" * 40)
        assert (ref.remote_ref, ref.remote_oid) == ("refs/heads/y\u2029z", ZERO)
    assert ranges.read_refs(b"") == []

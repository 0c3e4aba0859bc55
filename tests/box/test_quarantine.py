"""What a call does in git enters the repository only after it was judged."""

from __future__ import annotations

import hashlib
import os
import subprocess
import zlib
from pathlib import Path

import pytest

from ahp.cli.main import run
from tests.conftest import Repo

from .conftest import Boxed

pytestmark = pytest.mark.box

POLICY = """\
version: 1
limits: {protected: [main]}
rules:
  no-secret: {at: pre-commit, each: l in diff.added, block: "'SECRET' in l.text"}
  protect-main: {at: pre-commit, block: branch.name in limits.protected}
  subject: {at: commit-msg, block: "'wip' in commit.subject"}
"""


@pytest.fixture
def guarded(boxed: Boxed, monkeypatch: pytest.MonkeyPatch) -> Boxed:
    """A repository with a policy in force, on a topic branch."""
    boxed.repo.commit("policy", **{".ahp/hooks.yaml": POLICY})
    monkeypatch.chdir(boxed.repo.root)
    assert run(["install", "git"]) == 0
    boxed.repo.git("checkout", "-q", "-b", "topic")
    return boxed


def refs(repo: Repo) -> str:
    return repo.git("for-each-ref") + repo.git("symbolic-ref", "HEAD")


def test_a_clean_commit_moves_its_branch(guarded: Boxed) -> None:
    done = guarded("echo b > b.txt && git add -A && git commit -qm two && git status --porcelain", "s")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    repo = guarded.repo
    assert repo.git("log", "-1", "--format=%s %an", "topic").split() == ["two", "Test", "Person"]
    assert repo.git("status", "--porcelain") == ""
    assert repo.git("reflog", "-1", "--format=%gs").strip() == "commit (box): two"
    repo.git("fsck", "--strict")
    assert not list((repo.root / ".git/objects").rglob("*ahp*"))


WAYS = {
    "no hooks": "git commit -qnm x",
    "plumbing": "git update-ref refs/heads/topic $(git commit-tree -p HEAD -m x $(git write-tree))",
    "another branch": "git checkout -q -b evil; git commit -qnm x",
    "a raw ref": "git commit-tree -p HEAD -m x $(git write-tree) > .git/refs/heads/evil",
    "a tag": "git tag evil $(git commit-tree -p HEAD -m x $(git write-tree))",
    "detached": "git checkout -q --detach; git commit -qnm x",
    "another repository": "git clone -q . /tmp/c; cp s.txt /tmp/c; cd /tmp/c; git add -A; git commit -qnm x; "
    "git push -q $ROOT HEAD:evil",
    "configuration": "git config core.hooksPath /dev/null; git commit -qm x",
    "hooks elsewhere": "git -c core.hooksPath=/tmp commit -qm x",
    "in a merge": "git checkout -qb o; git commit -qnm x; git checkout -q topic; git merge -q --no-ff --no-verify o",
    "an amended one": "git commit -qnm x; git commit -qn --amend -m y",
    "an orphan": "git checkout -q --orphan evil; git commit -qnm x",
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_commit_that_breaks_a_rule_is_held(guarded: Boxed, way: str) -> None:
    before = refs(guarded.repo)
    text = f"ROOT={guarded.repo.root}; echo SECRET > s.txt; git add s.txt; {way}"
    done = guarded(text, "s")
    assert refs(guarded.repo) == before
    assert "no-secret" in done.stderr and "stays where it was" in done.stderr, done
    assert done.returncode == 1
    assert guarded.repo.git("rev-list", "--all", "--objects", "--", "s.txt") == ""
    assert guarded("true", "s").stderr == ""  # it was told once


def test_main_is_judged_as_main(guarded: Boxed) -> None:
    before = refs(guarded.repo)
    done = guarded("git checkout -q main; git commit -qnm x --allow-empty", "s")
    assert "protect-main" in done.stderr and guarded.repo.git("rev-parse", "main") in before


def test_what_main_takes_from_a_topic_is_judged_as_mains(guarded: Boxed) -> None:
    assert guarded("git commit -qn --allow-empty -m fine", "s").returncode == 0
    before = guarded.repo.git("rev-parse", "main")
    for way in ("git branch -f main topic", "git push -q . +topic:main", "git checkout -q main; git merge -q topic"):
        done = guarded(way, way)
        assert guarded.repo.git("rev-parse", "main") == before
        assert "protect-main" in done.stderr, way


def test_a_tag_of_a_blob_stays_in_the_copy(guarded: Boxed) -> None:
    done = guarded("git tag evil $(echo SECRET | git hash-object -w --stdin)", "s")
    assert "names no commit" in done.stderr and "evil" not in refs(guarded.repo)


def test_a_message_is_judged(guarded: Boxed) -> None:
    assert "subject" in guarded("git commit -qn --allow-empty -m 'wip x'", "s").stderr


def test_a_held_commit_is_mended_and_moves(guarded: Boxed) -> None:
    guarded("echo SECRET > s.txt; git add s.txt; git commit -qnm two", "s")
    done = guarded("echo fine > s.txt; git add s.txt; git commit -qn --amend --no-edit", "s")
    assert (done.returncode, done.stderr) == (0, "")
    assert guarded.repo.git("show", "topic:s.txt").strip() == "fine"
    secret = hashlib.sha1(b"blob 7\0SECRET\n").hexdigest()
    assert guarded.repo.run("git", "cat-file", "-e", secret).returncode != 0


def test_a_branch_without_its_commit_costs_no_held_commit(guarded: Boxed) -> None:
    guarded("echo SECRET > s.txt; git add s.txt; git commit -qnm two", "s")
    guarded(f"echo {'1' * 40} > .git/refs/heads/nothing", "s")
    done = guarded("rm .git/refs/heads/nothing; git log -1 --format=%s topic", "s")
    assert done.stdout.strip() == "two", done


def test_what_is_not_held_moves_beside_what_is(guarded: Boxed) -> None:
    evil = "git checkout -q -b evil; echo SECRET > s.txt; git add s.txt; git commit -qnm x"
    assert guarded(f"git commit -qn --allow-empty -m fine; {evil}", "s").returncode == 1
    repo = guarded.repo
    assert repo.git("log", "-1", "--format=%s", "topic").strip() == "fine"
    assert repo.run("git", "rev-parse", "-q", "--verify", "evil").returncode != 0
    assert repo.git("symbolic-ref", "HEAD").strip() == "refs/heads/topic"
    repo.git("fsck", "--strict")


def test_branches_tags_and_the_index_follow(guarded: Boxed) -> None:
    repo = guarded.repo
    assert (
        guarded(
            "git branch keep; git branch gone; git tag v1; echo b > b.txt; git add b.txt; git rm -q --cached a.txt", "s"
        ).returncode
        == 0
    )
    assert set(repo.git("for-each-ref", "--format=%(refname:short)").split()) == {"main", "topic", "keep", "gone", "v1"}
    assert repo.git("diff", "--cached", "--name-status").split() == ["D", "a.txt", "A", "b.txt"]
    assert guarded("git branch -q -D gone; git checkout -q keep", "s").returncode == 0
    assert repo.git("symbolic-ref", "--short", "HEAD").strip() == "keep"
    assert "gone" not in repo.git("for-each-ref")


def test_the_copy_lasts_as_long_as_the_session(guarded: Boxed) -> None:
    guarded("echo b >> a.txt; git stash -q", "s")
    assert guarded("git stash list | wc -l; git stash pop -q; cat a.txt", "s").stdout == "1\na\nb\n"
    guarded("git config alias.x 'log --format=%s'", "s")
    assert guarded("git x -1", "s").stdout == "policy\n"
    assert guarded.repo.run("git", "config", "alias.x").returncode == 1


def test_what_a_person_does_meanwhile_is_there(guarded: Boxed) -> None:
    repo = guarded.repo
    guarded("true", "s")
    repo.commit("by a person", **{"p.txt": "p\n"})
    repo.write("q.txt", "q\n")
    repo.git("add", "q.txt")
    done = guarded("git log -1 --format=%s; git status --porcelain; git commit -qm two; git log --format=%s -2", "s")
    assert done.stdout == "by a person\nA  q.txt\ntwo\nby a person\n", done.stderr
    assert repo.git("log", "-1", "--format=%s").strip() == "two"


def test_where_both_moved_a_ref_the_outside_one_stands(guarded: Boxed) -> None:
    repo = guarded.repo
    guarded("true", "s")
    waits = "git commit -qn --allow-empty -m inside; touch there; while [ -e there ]; do sleep 0.02; done"
    launcher = guarded.start(waits, "s")
    while not (repo.root / "there").exists():
        pass
    repo.git("commit", "-q", "--allow-empty", "-m", "outside", "--no-verify")
    (repo.root / "there").unlink()
    _, err = launcher.communicate(timeout=60)
    assert launcher.returncode == 1 and "refs/outside/heads/topic" in err
    assert repo.git("log", "-1", "--format=%s").strip() == "outside"
    assert (
        guarded("git log -1 --format=%s refs/outside/heads/topic; git log -1 --format=%s", "s").stdout
        == "outside\ninside\n"
    )
    assert guarded("git rebase -q refs/outside/heads/topic", "s").returncode == 0
    assert repo.git("log", "-2", "--format=%s").split() == ["inside", "outside"]


def test_a_forged_object_stays_out(guarded: Boxed) -> None:
    """git checks no hash of a loose object when it reads one: a blob whose name is that of another content."""
    blob = zlib.compress(b"blob 5\0evil\n").hex()
    oid = hashlib.sha1(b"blob 5\0good\n").hexdigest()
    text = (
        f"mkdir -p .git/objects/{oid[:2]}; python3 -c \"open('.git/objects/{oid[:2]}/{oid[2:]}','wb')"
        f".write(bytes.fromhex('{blob}'))\"; git update-index --add --cacheinfo 100644,{oid},g.txt; git commit -qnm x"
    )
    before = refs(guarded.repo)
    done = guarded(text, "s")
    assert refs(guarded.repo) == before and done.returncode == 1
    assert guarded.repo.run("git", "cat-file", "-e", oid).returncode != 0


@pytest.mark.parametrize(
    "text",
    [
        "mkdir /tmp/c; echo /tmp/c > .git/commondir",
        "git config core.fsmonitor 'touch ran; false'; git config filter.x.clean 'touch ran'",
        "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes; git config filter.x.smudge 'touch ran'",
        "rm -rf .git/objects .git/refs .git/HEAD",
        "rm -rf .git/* 2>/dev/null; echo 'gitdir: /tmp' > .git/HEAD",
        "mkdir -p .git/rebase-merge; echo 'exec touch ran' > .git/rebase-merge/git-rebase-todo",
        "echo 0 > .git/packed-refs; echo junk > .git/refs/heads/main; echo junk > .git/refs/heads/topic",
        "git branch -D main; git update-ref -d refs/heads/topic",
        "ln -sf /etc .git/refs/heads/x; ln -sf /etc/passwd .git/index; ln -s / .git/objects/pack/x",
        "echo 'ref: ../../x' > .git/HEAD; printf 'x refs/heads/../../y\\n' > .git/packed-refs",
        "echo /etc > .git/objects/info/alternates; git config core.worktree /etc",
    ],
)
def test_what_is_done_to_the_copy_stays_in_it(guarded: Boxed, text: str) -> None:
    repo = guarded.repo
    before = (refs(repo), (repo.root / ".git/config").read_text(), sorted(os.listdir(repo.root / ".git")))
    guarded(text, "s")
    guarded("true", "s")
    assert (refs(repo), (repo.root / ".git/config").read_text()) == before[:2]
    new = set(os.listdir(repo.root / ".git")) - set(before[2]) - {"ahp-box"}
    assert new == set() and not (repo.root / "ran").exists()
    assert subprocess.run(["git", "status"], cwd=repo.root, capture_output=True, check=False).returncode == 0


def test_a_copy_that_git_cannot_read_is_made_anew(guarded: Boxed) -> None:
    done = guarded("rm -rf .git/HEAD .git/objects", "s")
    assert done.returncode == 1 and "cannot read the box's copy" in done.stderr
    assert guarded("git log -1 --format=%s", "s").stdout == "policy\n"


def test_a_launcher_that_is_killed_leaves_the_repository_whole(guarded: Boxed, tmp_path: Path) -> None:
    repo = guarded.repo
    for number in range(6):
        launcher = guarded.start(f"echo {number} > n.txt; git add n.txt; git commit -qm n{number}", "s")
        try:
            launcher.wait(0.05 + 0.1 * number)
        except subprocess.TimeoutExpired:
            launcher.kill()
        launcher.communicate()
        repo.git("fsck", "--strict")
        assert repo.run("git", "status").returncode == 0
    (repo.root / ".git/index.lock").unlink(missing_ok=True)
    # A git that is killed leaves its lock, in the box's copy, too.
    assert guarded("rm -f .git/index.lock; git commit -q --allow-empty -m last", "s").returncode == 0

"""ahp.integrations.gitpython, with the real package (docs/embedding.md)"""

from __future__ import annotations

from pathlib import Path

import git
import pytest

from ahp import AhpError, Gate
from ahp.integrations.gitpython import GuardedRepo, Refused, guard
from tests.conftest import Repo
from tests.hosts.git import gated as making
from tests.hosts.git.gated import Gated

POLICY = """\
version: 1
rules:
  size: {at: pre-commit, block: files.changed_count > 1}
  words: {at: commit-msg, block: commit.subject.startswith('wip')}
  signed: {at: commit-msg, block: "contains(commit.message, 'Signed-off-by: Mallory')"}
  pushed: {at: pre-push, block: files.changed_count > 1}
"""


@pytest.fixture
def gated(tmp_path: Path) -> Gated:
    """A repository with one commit and the gate installed."""
    return making.make(tmp_path / "repo")


@pytest.fixture
def guarded(gated: Gated) -> GuardedRepo:
    gated.policy(POLICY)
    return guard(git.Repo(gated.root))


def staged(repo: GuardedRepo, *names: str) -> None:
    for name in names:
        (Path(str(repo.working_tree_dir)) / name).write_text(name)
    repo.index.add(list(names))


@pytest.fixture(params=["with hooks", "skip_hooks", "no hooks"])
def named(request: pytest.FixtureRequest, gated: Gated) -> dict[str, bool]:
    """What index.commit is told, in a repository with or without ahp's hooks."""
    if request.param == "no hooks":
        for hook in (gated.root / ".git" / "hooks").iterdir():
            hook.unlink()
    return {"skip_hooks": True} if request.param == "skip_hooks" else {}


def test_a_commit_is_judged_once_with_hooks_past_them_and_without(
    guarded: GuardedRepo, gated: Gated, named: dict[str, bool]
) -> None:
    first = gated.head()
    staged(guarded, "a.txt", "b.txt")
    with pytest.raises((Refused, git.HookExecutionError), match="size"):
        guarded.index.commit("two", **named)
    guarded.index.reset()
    staged(guarded, "a.txt")
    with pytest.raises((Refused, git.HookExecutionError), match="words"):
        guarded.index.commit("wip", **named)
    assert gated.head() == first
    made = guarded.index.commit("one", **named)
    assert (made.hexsha, gated.git("log", "-1", "--format=%s")) == (gated.head(), "one")
    assert [signal["rule"] for signal in gated.log("signal")] == ["size", "words"]
    assert [one for one in gated.judged() if one[1] == "deny"] == [("pre-commit", "deny"), ("commit-msg", "deny")]


def test_trailers_belong_to_the_message_that_is_judged(guarded: GuardedRepo, gated: Gated) -> None:
    first = gated.head()
    staged(guarded, "a.txt")
    with pytest.raises(Refused, match="signed"):
        guarded.index.commit("one", skip_hooks=True, trailers={"Signed-off-by": "Mallory"})
    assert gated.head() == first


def test_what_is_not_on_disk_yet_is_judged_as_it_will_be_committed(guarded: GuardedRepo, gated: Gated) -> None:
    gated.write("a.txt")
    gated.write("b.txt")
    index = guarded.index
    index.add(["a.txt", "b.txt"], write=False)
    with pytest.raises(Refused, match="size"):
        index.commit("two", skip_hooks=True)


def test_a_commit_on_other_parents_moves_no_ref(guarded: GuardedRepo, gated: Gated) -> None:
    first = gated.head()
    staged(guarded, "a.txt")
    with pytest.raises(AhpError, match="head=False"):
        guarded.index.commit("one", parent_commits=[guarded.head.commit], skip_hooks=True)
    made = guarded.index.commit("one", parent_commits=[guarded.head.commit], head=False, skip_hooks=True)
    assert gated.head() == first != made.hexsha


def test_a_range_between_two_of_its_commits_is_told_and_not_logged(guarded: GuardedRepo, gated: Gated) -> None:
    first = guarded.head.commit.hexsha
    for name in ("a.txt", "b.txt"):
        staged(guarded, name)
        guarded.index.commit(name)
    before = len(gated.log())
    verdict = guarded.judge_range(first, "HEAD")
    assert verdict.denied and "pushed" in guarded.gate.text(verdict)
    assert guarded.judge_range("HEAD~1", "HEAD").decision == "allow"
    assert len(gated.log()) == before


@pytest.fixture
def up(gated: Gated, tmp_path: Path) -> Path:
    """A remote with the first commit."""
    gated.git("init", "-q", "--bare", str(tmp_path / "up.git"))
    gated.git("remote", "add", "origin", str(tmp_path / "up.git"))
    gated.git("push", "-q", "--no-verify", "origin", "main")
    return tmp_path / "up.git"


@pytest.mark.parametrize("option", ["no_verify", "no_verif"])
def test_a_push_past_the_hooks_is_judged_before_anything_is_sent(
    guarded: GuardedRepo, gated: Gated, up: Path, option: str
) -> None:
    first = gated.head()
    for name in ("a.txt", "b.txt"):
        staged(guarded, name)
        guarded.index.commit(name, skip_hooks=True)
    with pytest.raises(Refused, match="pushed") as refused:
        guarded.remote().push("main", **{option: True})
    assert refused.value.verdict.denied
    assert git.Repo(up).refs[0].commit.hexsha == first
    assert [signal["rule"] for signal in gated.log("signal")] == ["pushed"]
    guarded.remotes["origin"].push("HEAD~1:refs/heads/main", **{option: True}).raise_if_error()
    assert git.Repo(up).refs[0].commit.hexsha == guarded.head.commit.parents[0].hexsha
    guarded.remote().push("main").raise_if_error()  # by the hook
    assert [one for one in gated.judged() if one[0] == "pre-push"] == [
        ("pre-push", "deny"),
        *[("pre-push", "allow")] * 2,
    ]
    assert gated.log("bypass") == []  # what guard() judged past the hooks is known


def test_a_deletion_and_a_new_branch_are_judged(guarded: GuardedRepo, gated: Gated, up: Path) -> None:
    gated.policy(POLICY + "  branch: {at: pre-push, block: \"push.is_delete or push.ref == 'refs/heads/forbidden'\"}\n")
    for refspec in ("main:refs/heads/forbidden", ":main"):
        with pytest.raises(Refused, match="branch"):
            guarded.remote().push(refspec, no_verify=True)
    assert [ref.name for ref in git.Repo(up).refs] == ["main"]


@pytest.mark.parametrize(
    ("key", "value", "said"), [("objectFormat", "sha256", "SHA-256"), ("refStorage", "reftable", "reftable")]
)
def test_another_form_of_repository_is_told_with_the_way_by_its_folder(
    repo: Repo, key: str, value: str, said: str
) -> None:
    repo.commit("first")
    opened = git.Repo(repo.root)
    repo.git("config", f"extensions.{key}", value)
    with pytest.raises(AhpError, match=rf"has {said}.*Gate\('{repo.root}'\)"):
        guard(opened)


def test_the_gate_takes_what_gitpython_has_opened(gated: Gated) -> None:
    gated.policy(POLICY)
    gated.write("a.txt")
    gated.write("b.txt")
    gated.git("add", ".")
    opened = git.Repo(gated.root)
    assert Gate(opened).judge("pre-commit", dry=True).denied
    assert Gate(guard(opened)).judge("pre-commit", dry=True).denied

"""Which policy judges, whatever became of the file in the work tree (authority §2.3, §2.4)."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.git import gated as making
from tests.hosts.git.gated import Gated, Said

NO_KEYS = "any(p.endswith('.pem') for p in files.changed)"
BLOCKS = f'version: 1\nrules:\n  keys: {{at: [pre-commit, pre-push], block: "{NO_KEYS}"}}\n'
NEVER = 'version: 1\nrules:\n  never: {at: pre-commit, block: "files.changed_count > 9000"}\n'
BROKEN = "version: 1\nrules: {x: {at: pre-commit, block: nonsense > 1}}\n"
HOOKS = ".ahp/hooks.yaml"
WAIVERS = ".ahp/waivers.yaml"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Gated:
    made = making.make(tmp_path_factory.mktemp("template") / "repo")
    made.commit_policy(BLOCKS)
    made.write("a/known.txt")
    made.git("add", "a")
    made.git("commit", "-q", "-m", "a")
    return made


@pytest.fixture
def ruled(template: Gated, tmp_path: Path) -> Gated:
    """A repository on main whose committed policy refuses keys."""
    return making.copy(template, tmp_path / "repo")


def stage(repo: Gated, name: str = "k.pem") -> None:
    repo.write(name)
    repo.git("add", "--force", name)


def attempt(repo: Gated, name: str = "k.pem") -> Said:
    stage(repo, name)
    return repo.say("commit", "-m", "x")


def missing(repo: Gated) -> None:
    (repo.root / HOOKS).unlink()


def emptied(repo: Gated) -> None:
    repo.write(HOOKS, "")


def commented_out(repo: Gated) -> None:
    repo.write(HOOKS, "".join(f"# {line}\n" for line in BLOCKS.splitlines()))


def linked(repo: Gated) -> None:
    outside = repo.root.parent / "weak.yaml"
    outside.write_text(NEVER)
    missing(repo)
    (repo.root / HOOKS).symlink_to(outside)


def folder_linked(repo: Gated) -> None:
    (repo.root / ".ahp").rename(repo.root.parent / "elsewhere")
    (repo.root.parent / "elsewhere" / "hooks.yaml").write_text(NEVER)
    (repo.root / ".ahp").symlink_to(repo.root.parent / "elsewhere")


def broken(repo: Gated) -> None:
    repo.write(HOOKS, BROKEN)


def unreadable(repo: Gated) -> None:
    missing(repo)
    (repo.root / HOOKS).mkdir()


WORDS = {
    missing: "is missing",
    emptied: "has no rule",
    commented_out: "has no rule",
    linked: "is a symbolic link",
    folder_linked: "is in a folder that is a symbolic link",
    broken: "does not load (.ahp/hooks.yaml:2:36",
    unreadable: "does not load",
}


@pytest.mark.slow
@pytest.mark.parametrize("lose", WORDS, ids=lambda lose: lose.__name__)
def test_a_work_tree_without_a_policy_that_loads_has_no_effect_and_is_told_in_one_line(
    ruled: Gated, lose: Callable[[Gated], None]
) -> None:
    lose(ruled)
    said = attempt(ruled)
    assert said.code == 1 and "refused by keys" in said.text
    ruled.git("rm", "-q", "--cached", "k.pem")
    said = attempt(ruled, "fine.txt")
    (told,) = [line for line in said.text.splitlines() if line.startswith("ahp:")]
    assert said.code == 0 and WORDS[lose] in told and told.endswith("the policy of HEAD judges")


def weaker(repo: Gated) -> None:
    repo.write(HOOKS, NEVER)


def hidden(repo: Gated) -> None:
    repo.git("update-index", "--assume-unchanged", HOOKS)
    weaker(repo)


def skipped(repo: Gated) -> None:
    repo.git("update-index", "--skip-worktree", HOOKS)
    missing(repo)


def sparse(repo: Gated) -> None:
    repo.git("update-index", "--refresh")  # the copy has time stamps of its own
    repo.git("sparse-checkout", "set", "--cone", "a")
    assert not (repo.root / HOOKS).exists()


def forced_out_of_the_index(repo: Gated) -> None:
    repo.git("update-index", "--force-remove", HOOKS)
    (repo.root / ".ahp").rename(repo.root / ".old")


def ignored(repo: Gated) -> None:
    repo.git("rm", "-q", "--cached", HOOKS)
    repo.write(".git/info/exclude", "/.ahp/\n")
    weaker(repo)


def replaced(repo: Gated) -> None:
    weak = repo.git("hash-object", "-w", "--stdin", stdin=NEVER.encode())
    repo.git("replace", repo.git("rev-parse", f"HEAD:{HOOKS}"), weak)
    weaker(repo)


def commit_replaced(repo: Gated) -> None:
    tree = repo.git("write-tree", env={"GIT_INDEX_FILE": str(repo.root.parent / "empty")})
    repo.git("replace", repo.head(), repo.git("commit-tree", "-m", "none", tree))
    missing(repo)


def local_layer(repo: Gated) -> None:
    repo.write(".ahp/hooks.local.yaml", "rules: {keys: {at: pre-commit, shadow: true}}\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "hide",
    [
        *(weaker, hidden, skipped, sparse, forced_out_of_the_index, ignored, replaced, commit_replaced, local_layer),
    ],
    ids=lambda hide: hide.__name__,
)
def test_what_is_not_committed_takes_nothing_away(ruled: Gated, hide: Callable[[Gated], None]) -> None:
    hide(ruled)
    stage(ruled)
    staged = ruled.run("git", "diff-index", "--cached", "--name-only", "HEAD").stdout
    assert b"k.pem" in staged
    said = ruled.say("commit", "-m", "x")
    assert said.code == 1 and "refused by keys" in said.text


def test_a_policy_blob_whose_content_is_another_s_does_not_judge(ruled: Gated) -> None:
    """HEAD's policy does not load then; the newest one before it does."""
    ruled.git("rm", "-rq", "--cached", "a")
    ruled.commit_policy(BLOCKS + "  more: {at: pre-push, block: push.is_force}\n")
    oid = ruled.git("rev-parse", f"HEAD:{HOOKS}")
    path = ruled.root / ".git" / "objects" / oid[:2] / oid[2:]
    weak = ruled.git("hash-object", "-w", "--stdin", stdin=NEVER.encode())
    path.chmod(0o644)
    path.write_bytes((ruled.root / ".git" / "objects" / weak[:2] / weak[2:]).read_bytes())
    for compiled in (ruled.folder / "cache").iterdir():
        compiled.rename(ruled.root.parent / compiled.name)  # what was compiled of the right blob is right
    said = attempt(ruled)
    assert said.code == 1 and "refused by keys" in said.text
    assert "is not what its id says" in said.text and "judges until it is fixed" in said.text


@pytest.mark.slow
def test_a_committed_policy_that_does_not_load_is_mended_under_the_one_before(ruled: Gated) -> None:
    good = ruled.git("log", "-1", "--format=%h", "--abbrev=10", "--", HOOKS)
    ruled.write(HOOKS, BROKEN)
    ruled.git("add", "-f", HOOKS)
    said = ruled.say("commit", "-m", "broken")
    assert said.code == 1 and "a commit may not bring a policy that does not load" in said.text
    ruled.git("commit", "-q", "--no-verify", "-m", "broken")
    said = attempt(ruled)
    assert said.code == 1 and f"the policy of commit {good} judges until it is fixed" in said.text
    assert said.text.count("does not load") == 1  # the work tree's is the same
    ruled.git("rm", "-q", "--cached", "k.pem")
    ruled.write(HOOKS, NEVER)
    ruled.git("add", "-f", HOOKS)
    said = ruled.say("commit", "-m", "mended")
    assert said.code == 0, said.text
    assert attempt(ruled).code == 0  # now the weaker policy is the committed one


@pytest.mark.slow
def test_a_first_policy_that_was_committed_broken_is_mended_by_the_file(tmp_path: Path) -> None:
    repo = making.make(tmp_path / "repo")
    repo.write(HOOKS, BROKEN)
    repo.git("add", "-f", HOOKS)
    repo.git("commit", "-q", "--no-verify", "-m", "broken")
    said = attempt(repo)
    assert said.code == 1 and "cannot judge" in said.text
    repo.git("rm", "-q", "--cached", "k.pem")
    repo.write(HOOKS, BLOCKS)
    repo.git("add", "-f", HOOKS)
    assert repo.say("commit", "-m", "mended").code == 0
    assert attempt(repo).code == 1


@pytest.mark.slow
def test_where_head_s_policy_does_not_load_and_there_is_no_other_nobody_judges_and_it_is_said(tmp_path: Path) -> None:
    repo = making.make(tmp_path / "repo")
    repo.write(HOOKS, BROKEN)
    repo.git("add", "-f", HOOKS)
    repo.git("commit", "-q", "--no-verify", "-m", "broken")
    (repo.root / HOOKS).unlink()
    said = attempt(repo)
    assert said.code == 0 and "the policy of HEAD does not load (.ahp/hooks.yaml:2:" in said.text
    assert said.text.count("; nobody judges") == 1


@pytest.mark.parametrize("name", [HOOKS, ".ahp"])
def test_a_link_in_the_policy_s_place_is_not_committed(ruled: Gated, name: str) -> None:
    (linked if name == HOOKS else folder_linked)(ruled)
    ruled.git("rm", "-q", "--cached", HOOKS)
    ruled.git("add", "-f", name)
    said = ruled.say("commit", "-m", "x")
    assert said.code == 1 and "is a symbolic link" in said.text


def test_a_policy_that_extends_what_is_not_staged_is_not_committed(ruled: Gated) -> None:
    ruled.write(".ahp/base.yaml", BLOCKS)
    ruled.write(HOOKS, "version: 1\nextends: [base.yaml]\n")
    ruled.git("add", "-f", HOOKS)
    said = ruled.say("commit", "-m", "x")
    assert said.code == 1 and "there is no file 'base.yaml'" in said.text
    ruled.git("add", "-f", ".ahp/base.yaml")
    assert ruled.say("commit", "-m", "x").code == 0
    assert attempt(ruled).code == 1


def test_a_committed_local_layer_is_never_read_as_the_policy(ruled: Gated) -> None:
    ruled.write(".ahp/hooks.local.yaml", "rules: {stop: {at: pre-commit, block: files.changed_count > 0}}\n")
    ruled.git("add", "-f", ".ahp/hooks.local.yaml")
    ruled.git("commit", "-q", "--no-verify", "-m", "local")
    (ruled.root / ".ahp/hooks.local.yaml").unlink()
    assert attempt(ruled, "fine.txt").code == 0


def orphan_branch(ruled: Gated) -> Gated:
    ruled.git("checkout", "-q", "--orphan", "fresh")
    ruled.git("rm", "-rqf", "--ignore-unmatch", ".")
    return ruled


def commit_before_the_policy(ruled: Gated) -> Gated:
    ruled.git("checkout", "-q", ruled.git("rev-list", "--max-parents=0", "HEAD"))
    return ruled


def old_commit_in_a_linked_work_tree(ruled: Gated) -> Gated:
    first = ruled.git("rev-list", "--max-parents=0", "HEAD")
    ruled.git("worktree", "add", "-q", "--detach", str(ruled.root.parent / "old"), first)
    return Gated(ruled.root.parent / "old")


@pytest.mark.parametrize("go", [orphan_branch, commit_before_the_policy, old_commit_in_a_linked_work_tree])
def test_where_head_has_no_policy_the_default_branch_s_judges(ruled: Gated, go: Callable[[Gated], Gated]) -> None:
    repo = go(ruled)
    said = attempt(repo)
    assert said.code == 1 and "refused by keys" in said.text
    repo.git("rm", "-q", "--cached", "k.pem")
    said = attempt(repo, "fine.txt")
    assert (said.code, "ahp:" in said.text) == (0, False)


def test_the_remote_s_default_branch_comes_before_the_local_one(ruled: Gated) -> None:
    ruled.git("clone", "-q", "--bare", str(ruled.root), str(ruled.root.parent / "bare.git"))
    ruled.git("remote", "add", "origin", str(ruled.root.parent / "bare.git"))
    ruled.git("fetch", "-q", "origin")
    ruled.git("remote", "set-head", "origin", "main")
    orphan_branch(ruled)
    ruled.git("branch", "-q", "-D", "main")
    said = attempt(ruled)
    assert said.code == 1 and "refused by keys" in said.text


def test_without_any_branch_the_commit_that_the_log_names_judges(ruled: Gated) -> None:
    before = ruled.git("log", "-1", "--format=%H", "--", HOOKS)
    assert attempt(ruled, "fine.txt").code == 0
    (record,) = ruled.log("policy")
    assert (record["commit"], record["origin"]) == (before, "committed")
    assert [row[:2] for row in record["rules"]] == [["pre-commit", "keys"], ["pre-push", "keys"]]
    ruled.git("checkout", "-q", "--orphan", "fresh")
    ruled.git("rm", "-rqf", "--ignore-unmatch", ".")
    ruled.git("branch", "-q", "-D", "main")
    said = attempt(ruled)
    assert said.code == 1 and "refused by keys" in said.text


def test_the_commit_of_a_policy_that_was_adopted_here_is_logged_once_it_is_made(tmp_path: Path) -> None:
    repo = making.make(tmp_path / "repo")
    repo.write(HOOKS, BLOCKS)
    repo.git("add", "-f", HOOKS)
    repo.git("commit", "-qm", "adopt ahp")
    adopted = repo.git("rev-parse", "HEAD")
    assert attempt(repo, "fine.txt").code == attempt(repo, "finer.txt").code == 0
    assert [(one["origin"], one.get("commit")) for one in repo.log("policy")] == [
        ("working", None),
        ("committed", adopted),
    ]
    repo.git("reset", "-q", "--hard", f"{adopted}~1")  # on the default branch, without a remote
    said = attempt(repo)
    assert said.code == 1 and "refused by keys" in said.text


def with_a_remote(ruled: Gated) -> None:
    """Its `old` is a branch from before the policy, and the clone knows its HEAD."""
    ruled.git("clone", "-q", "--bare", str(ruled.root), str(ruled.root.parent / "bare.git"))
    ruled.git("remote", "add", "origin", str(ruled.root.parent / "bare.git"))
    first = ruled.git("rev-list", "--max-parents=0", "HEAD")
    ruled.git("push", "-q", "--no-verify", "origin", f"{first}:refs/heads/old")
    ruled.git("fetch", "-q", "origin")
    ruled.git("remote", "set-head", "origin", "main")
    ruled.run("install", "git")


def another_head(ruled: Gated) -> None:
    ruled.git("remote", "set-head", "origin", "old")


def another_branch_fetched_onto_it(ruled: Gated) -> None:
    ruled.git("fetch", "-q", "origin", "+old:refs/remotes/origin/main")


def no_tracking_ref(ruled: Gated) -> None:
    ruled.git("branch", "-q", "-d", "-r", "origin/main")


def no_remote(ruled: Gated) -> None:
    ruled.git("remote", "remove", "origin")


@pytest.mark.slow
@pytest.mark.parametrize("hide", [another_head, another_branch_fetched_onto_it, no_tracking_ref, no_remote])
def test_what_a_clone_notes_of_its_remote_takes_no_policy_away(ruled: Gated, hide: Callable[[Gated], None]) -> None:
    with_a_remote(ruled)
    assert attempt(ruled, "fine.txt").code == 0
    hide(ruled)
    ruled.git("reset", "-q", "--hard", ruled.git("rev-list", "--max-parents=0", "HEAD"))
    said = attempt(ruled)
    assert said.code == 1 and "refused by keys" in said.text
    ruled.git("commit", "-q", "--no-verify", "-m", "unseen")
    said = ruled.say("push", str(ruled.root.parent / "bare.git"), "HEAD:refs/heads/new")
    assert said.code == 1 and "refused by keys" in said.text


def test_a_policy_that_was_only_pushed_never_judges_in_another_s_place(ruled: Gated) -> None:
    with_a_remote(ruled)
    assert attempt(ruled, "fine.txt").code == 0
    ruled.git("checkout", "-q", "-b", "weak")
    ruled.write(HOOKS, BLOCKS.replace("keys", "others").replace("*.pem", "*.none"))
    ruled.git("commit", "-q", "--no-verify", "-am", "a weak one")
    ruled.git("push", "-q", "origin", "weak")
    assert "pushed" in [one["origin"] for one in ruled.log("policy")]
    no_remote(ruled)
    ruled.git("checkout", "-q", "main")
    ruled.git("reset", "-q", "--hard", ruled.git("rev-list", "--max-parents=0", "HEAD"))
    said = attempt(ruled)
    assert said.code == 1 and "refused by keys" in said.text


def test_a_team_that_gave_ahp_up_is_left_alone(ruled: Gated) -> None:
    assert attempt(ruled, "fine.txt").code == 0
    ruled.git("rm", "-q", HOOKS)
    said = ruled.say("commit", "-m", "no ahp any more")
    assert said.code == 0, said.text
    said = attempt(ruled)
    assert said.code == 0 and "ahp:" not in said.text.replace("ahp: no", "")
    ruled.write(HOOKS, BLOCKS)  # somebody's own, which is not committed: it still adds
    assert attempt(ruled, "l.pem").code == 1


def test_adoption_the_file_alone_judges_until_it_is_committed(tmp_path: Path) -> None:
    repo = making.make(tmp_path / "repo")
    repo.write(HOOKS, BLOCKS)
    assert attempt(repo).code == 1
    repo.git("rm", "-q", "--cached", "k.pem")
    repo.git("add", "-f", HOOKS)
    said = repo.say("commit", "-m", "adopt ahp")
    assert (said.code, "ahp:" in said.text) == (0, False)
    missing(repo)
    assert attempt(repo).code == 1


def test_the_first_commit_of_all_is_judged_by_the_file(tmp_path: Path) -> None:
    repo = making.make(tmp_path / "repo")
    repo.git("update-ref", "-d", "HEAD")
    repo.write(HOOKS, BLOCKS)
    assert attempt(repo).code == 1
    repo.git("rm", "-q", "--cached", "k.pem")
    repo.git("add", "-f", HOOKS)
    said = repo.say("commit", "-m", "first")
    assert (said.code, "ahp:" in said.text) == (0, False)


def test_a_clone_of_a_colleague_is_judged_at_once(ruled: Gated, tmp_path: Path) -> None:
    ruled.git("clone", "-q", str(ruled.root), str(tmp_path / "clone"))
    clone = Gated(tmp_path / "clone")
    making.installing.install(clone.repository(), "")
    said = attempt(clone, "fine.txt")
    assert (said.code, "ahp:" in said.text) == (0, False)
    assert attempt(clone).code == 1


def test_a_submodule_and_a_bare_repository_with_work_trees_are_quiet(ruled: Gated, tmp_path: Path) -> None:
    ruled.git("clone", "-q", "--bare", str(ruled.root), str(tmp_path / "bare.git"))
    bare = Gated(tmp_path / "bare.git")
    bare.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "wt"))
    tree = Gated(tmp_path / "wt")
    making.installing.install(tree.repository(), "")
    said = attempt(tree, "fine.txt")
    assert (said.code, "ahp:" in said.text) == (0, False)
    assert attempt(tree).code == 1


def test_a_waiver_is_in_force_once_it_is_committed(ruled: Gated) -> None:
    until = datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=9)
    ruled.write(WAIVERS, "not: [yaml")
    assert "waiver" not in attempt(ruled).text
    ruled.write(WAIVERS, f'- {{rule: keys, subject: "*", reason: moving, approver: ann, expires: {until}}}\n')
    said = attempt(ruled)
    assert said.code == 1 and "your waiver of keys takes effect once it is committed: " in said.text
    ruled.git("reset", "-q")
    ruled.git("add", "-f", WAIVERS)
    assert ruled.say("commit", "-m", "waiver", WAIVERS).code == 0
    said = attempt(ruled)
    assert said.code == 0 and "waived: keys" in said.text and "in force yet" not in said.text


def test_a_person_s_edit_is_in_force_once_it_is_committed(ruled: Gated) -> None:
    ruled.write(HOOKS, NEVER)
    said = attempt(ruled, "fine.txt")
    assert (said.code, "ahp:" in said.text) == (0, False)  # a difference that says nothing else is not told
    said = attempt(ruled)
    assert said.code == 1 and f"takes effect once it is committed: git commit {HOOKS}" in said.text
    told = ruled.say("commit", "-m", "x", env={"CLAUDECODE": "1"})
    assert told.code == 1 and "not in force yet" not in told.text
    ruled.git("rm", "-q", "--cached", "k.pem")
    ruled.git("add", "-f", HOOKS)
    assert ruled.say("commit", "-m", "weaker").code == 0
    assert attempt(ruled).code == 0
    assert os.path.exists(ruled.root / HOOKS)

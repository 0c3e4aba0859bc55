"""Which root judges: what install recorded, whatever the folder, the environment or git's configuration say."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ahp.hosts.api import Gate
from ahp.hosts.git import install as installing
from ahp.system import git
from tests.conftest import Repo
from tests.hosts.git.gated import Gated

STRICT = """\
version: 1
rules:
  names: {at: pre-commit, each: p in files.changed, block: "p.startswith('bad')", message: bad}
  main: {at: pre-push, block: "branch.name == 'main'", message: not to main}
"""
WEAK = 'version: 1\nrules:\n  never: {at: [pre-commit, pre-push], block: "false", message: never}\n'


@pytest.fixture
def remote(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "remote.git")
    made.root.mkdir()
    made.git("init", "-q", "--bare")
    return made


@pytest.fixture
def work(gated: Gated, remote: Repo) -> Gated:
    """On branch `work`, with a remote that has `main`, and a file staged that the policy refuses."""
    gated.git("remote", "add", "origin", str(remote.root))
    gated.git("push", "-q", "--no-verify", "origin", "main")
    gated.git("checkout", "-q", "-b", "work")
    gated.policy(STRICT)
    gated.write("bad.txt")
    gated.add("bad.txt")
    return gated


@pytest.fixture
def weak(tmp_path: Path) -> str:
    """A folder with a policy that lets all pass."""
    folder = tmp_path / "weak"
    (folder / ".ahp").mkdir(parents=True)
    (folder / ".ahp" / "hooks.yaml").write_text(WEAK)
    return str(folder)


def linked(gated: Gated, name: str = "linked") -> Gated:
    """A linked work tree of `gated` with the policy in it."""
    root = gated.root.parent / name
    gated.git("worktree", "add", "-q", "-b", name, str(root))
    made = Gated(root)
    made.write(".ahp/hooks.yaml", STRICT)
    return made


def stage(gated: Repo, name: str) -> None:
    gated.write(name)
    gated.add(name)


def fresh(root: Path, *options: str) -> Gated:
    """A repository at `root` with the policy, and the gate installed."""
    root.mkdir(exist_ok=True)
    made = Gated(root)
    made.git("init", "-q", *options)
    made.write(".git/info/exclude" if not options else ".ignore", "/.ahp/\n")
    made.write(".ahp/hooks.yaml", STRICT)
    installing.install(made.repository(), "")
    return made


def is_judged_here(gated: Gated, refused: str = "bad.txt", allowed: str = "good.txt") -> None:
    """The policy of `gated` judges its commits, and what it allows is quiet."""
    stage(gated, refused)
    said = gated.say("commit", "-m", "x")
    assert said.code == 1 and "commit refused by names" in said.text, said
    gated.git("mv", refused, allowed)
    said = gated.say("commit", "-q", "-m", "x")
    assert said == (0, ""), said.text


# What may not move the root.


def moves(weak: str, root: Path, how: str, *command: str) -> tuple[list[str], dict[str, str], str]:
    """(command line, environment, folder) of a git command that is told another work tree."""
    git_dir = str(root / ".git")
    return {
        "option": (["git", f"--work-tree={weak}", *command], {}, str(root)),
        "variable": (["git", *command], {"GIT_WORK_TREE": weak}, str(root)),
        "git-dir from elsewhere": (["git", f"--git-dir={git_dir}", *command], {}, weak),
        "GIT_DIR from elsewhere": (["git", *command], {"GIT_DIR": git_dir}, weak),
        "configuration": (["git", *command], {}, str(root)),
        "option of the configuration": (["git", "-c", f"core.worktree={weak}", *command], {}, str(root)),
        "the git directory": (["git", *command], {}, git_dir),
    }[how]


WAYS = ["option", "variable", "git-dir from elsewhere", "GIT_DIR from elsewhere", "configuration"]


def ran(argv: list[str], env: dict[str, str], at: str) -> tuple[int, str]:
    done = subprocess.run(argv, cwd=at, capture_output=True, env={**os.environ, **env}, check=False)
    return done.returncode, os.fsdecode(done.stdout + done.stderr)


@pytest.mark.parametrize("how", [*WAYS, "option of the configuration"])
def test_another_work_tree_brings_no_other_policy_to_a_commit(work: Gated, weak: str, how: str) -> None:
    if how == "configuration":
        work.git("config", "core.worktree", weak)
    head = work.git("rev-parse", "work")
    code, said = ran(*moves(weak, work.root, how, "commit", "-m", "x"))
    assert code == 1 and "commit refused by names" in said, said
    assert work.git("rev-parse", "work") == head


@pytest.mark.slow
@pytest.mark.parametrize("how", [*WAYS, "option of the configuration", "the git directory"])
def test_another_work_tree_brings_no_other_policy_to_a_push(work: Gated, remote: Repo, weak: str, how: str) -> None:
    work.git("commit", "-q", "--no-verify", "-m", "x")
    shutil.copytree(weak + "/.ahp", work.root / ".git" / ".ahp")
    if how == "configuration":
        work.git("config", "core.worktree", weak)
    main = remote.git("rev-parse", "main")
    code, said = ran(*moves(weak, work.root, how, "push", "origin", "work:main"))
    assert code == 1 and "push refused by main" in said, said
    assert remote.git("rev-parse", "main") == main


def test_no_common_directory_of_the_environment_is_believed(work: Gated, weak: str) -> None:
    where = git.locate(str(work.root), {"GIT_DIR": ".git", "GIT_COMMON_DIR": weak})
    assert (where.root, where.common_dir) == (str(work.root), f"{work.root}/.git")


def test_a_linked_work_tree_is_not_moved_either(work: Gated, weak: str) -> None:
    tree = linked(work)
    stage(tree, "bad2.txt")
    for argv, env in (
        (["git", f"--work-tree={weak}", "commit", "-m", "x"], {}),
        (["git", "commit", "-m", "x"], {"GIT_WORK_TREE": weak}),
    ):
        code, said = ran(argv, env, str(tree.root))
        assert code == 1 and "commit refused by names" in said, said
    tree.git("config", "extensions.worktreeConfig", "true")
    tree.git("config", "--worktree", "core.worktree", weak)
    code, said = ran(["git", "commit", "-m", "x"], {}, str(tree.root))
    assert code == 1 and "commit refused by names" in said, said


def test_a_separate_git_directory_is_not_moved_either(tmp_path: Path, weak: str) -> None:
    made = fresh(tmp_path / "work", "--separate-git-dir", str(tmp_path / "elsewhere.git"))
    stage(made, "bad.txt")
    for argv, at in (
        (["git", f"--work-tree={weak}", "commit", "-m", "x"], made.root),
        (["git", f"--git-dir={tmp_path}/elsewhere.git", "commit", "-m", "x"], Path(weak)),
    ):
        code, said = ran(argv, {}, str(at))
        assert code == 1 and "commit refused by names" in said, said
    # A folder that claims the git directory does not help while the recorded one is there.
    Path(weak, ".git").write_text(f"gitdir: {tmp_path}/elsewhere.git\n")
    code, said = ran(["git", "commit", "-m", "x"], {}, weak)
    assert code == 1 and "commit refused by names" in said, said


def test_without_a_record_a_foreign_folder_is_refused(tmp_path: Path, weak: str) -> None:
    made = fresh(tmp_path / "work", "--separate-git-dir", str(tmp_path / "elsewhere.git"))
    (tmp_path / "elsewhere.git" / "ahp" / "root").unlink()
    code, said = ran(["git", f"--git-dir={tmp_path}/elsewhere.git", "commit", "-m", "x"], {}, weak)
    assert code == 1 and "cannot tell where the work tree of" in said and "ahp install git" in said, said
    is_judged_here(made)


@pytest.mark.slow
def test_commands_and_programs_ask_the_same_root(
    work: Gated, weak: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    work.git("config", "core.worktree", weak)
    shutil.copytree(weak + "/.ahp", work.root / ".git" / ".ahp")
    monkeypatch.setenv("GIT_WORK_TREE", weak)
    for folder in (work.root, work.root / ".git", work.root / ".git" / "refs"):
        where = git.discover(str(folder), dict(os.environ))
        assert where.root == str(work.root)
        assert Gate(folder).judge("pre-commit", dry=True).denied
        code, said = ran(["ahp", "check", "pre-commit"], {}, str(folder))
        assert code == 1 and "names" in said, said
    # git itself is told, too: what is compared are the files of the root.
    assert where.run("diff", "--name-only", "HEAD", "--").split() == [b"bad.txt"]


def test_before_install_a_command_in_the_git_directory_finds_the_work_tree(repo: Repo, tmp_path: Path) -> None:
    assert git.discover(str(repo.root / ".git" / "refs"), dict(os.environ)).root == str(repo.root)
    repo.git("config", "core.worktree", str(tmp_path))
    assert git.discover(str(repo.root / ".git"), dict(os.environ)).root == str(tmp_path)  # as git arranges it


@pytest.mark.slow
def test_installing_again_does_not_take_up_a_later_setting(work: Gated, weak: str) -> None:
    work.git("config", "core.worktree", weak)
    shutil.copytree(weak + "/.ahp", work.root / ".git" / ".ahp")
    for at in ("", ".git"):
        code, said = ran(["ahp", "install", "git"], {}, str(work.root / at))
        assert code == 0, said
    code, said = ran(["git", "commit", "-m", "x"], {}, str(work.root))
    assert code == 1 and "commit refused by names" in said, said


# Honest arrangements: right, and not a word more.


def test_naming_the_root_from_anywhere_is_quiet(work: Gated, tmp_path: Path) -> None:
    work.git("mv", "bad.txt", "good.txt")
    tree = [f"--git-dir={work.root}/.git", f"--work-tree={work.root}"]
    assert ran(["git", *tree, "commit", "-q", "-m", "x"], {}, str(tmp_path)) == (0, "")
    stage(work, "good2.txt")
    env = {"GIT_DIR": f"{work.root}/.git", "GIT_WORK_TREE": str(work.root)}
    assert ran(["git", "commit", "-q", "-m", "x"], env, str(tmp_path)) == (0, "")
    assert ran(["git", *tree, "push", "-q", "origin", "work"], {}, str(tmp_path)) == (0, "")
    alias = tmp_path / "alias"
    alias.symlink_to(work.root)
    stage(work, "good3.txt")
    tree = [f"--git-dir={alias}/.git", f"--work-tree={alias}"]
    assert ran(["git", *tree, "commit", "-q", "-m", "x"], {}, str(tmp_path)) == (0, "")
    assert work.log("bypass") == []


def test_a_push_from_the_git_directory_is_judged_by_its_work_tree(work: Gated) -> None:
    work.git("mv", "bad.txt", "good.txt")
    work.git("commit", "-q", "-m", "x")
    assert ran(["git", "push", "-q", "origin", "work"], {}, str(work.root / ".git")) == (0, "")
    assert [record["hook"] for record in work.log("verdict")] == ["pre-commit", "pre-push"]


def test_a_submodule(work: Gated, tmp_path: Path) -> None:
    work.git("reset", "-q", "--hard")
    work.git("submodule", "--quiet", "add", str(tmp_path / "remote.git"), "sub")
    sub = Gated(work.root / "sub")
    sub.write(".ahp/hooks.yaml", STRICT)
    Repo(sub.root).run("sh", "-c", 'echo "/.ahp/" >>"$(git rev-parse --git-path info/exclude)"')
    installing.install(sub.repository(), "")
    is_judged_here(sub)
    is_judged_here(work)
    work.git("mv", "sub", "moved")
    is_judged_here(Gated(work.root / "moved"), "bad2.txt", "good2.txt")


def test_a_linked_work_tree(work: Gated) -> None:
    tree = linked(work)
    is_judged_here(tree, "bad2.txt", "good2.txt")
    tree.git("worktree", "move", str(tree.root), str(tree.root) + "-moved")
    tree = Gated(Path(f"{tree.root}-moved"))
    is_judged_here(tree, "bad3.txt", "good3.txt")
    moved = tree.root.rename(tree.root.parent / "by hand")  # its git directory does not know yet
    is_judged_here(Gated(moved), "bad4.txt", "good4.txt")
    assert git.discover(str(moved), dict(os.environ)).root == str(moved)


def test_a_git_directory_that_was_moved_away_behind_a_file(work: Gated) -> None:
    work.git("reset", "-q")
    (work.root / ".git").rename(work.root.parent / "g")
    (work.root / ".git").write_text("gitdir: ../g\n")
    installing.install(work.repository(), str(work.user_policy))
    is_judged_here(work, "bad7.txt", "good7.txt")
    (work.root.parent / "g").rename(work.root.parent / "h")
    (work.root / ".git").write_text("gitdir: ../h\n")
    is_judged_here(work, "bad8.txt", "good8.txt")


def test_a_moved_repository(work: Gated) -> None:
    tree = linked(work)
    moved = Gated(work.root.rename(work.root.parent / "elsewhere"))
    moved.git("worktree", "repair", str(tree.root))
    moved.git("reset", "-q", "--hard")
    is_judged_here(moved)
    is_judged_here(Gated(tree.root), "bad2.txt", "good2.txt")
    assert not work.root.exists()  # the shims name the bundle by its old place
    (moved.folder / "cache/light.pyc").unlink()
    is_judged_here(moved, "bad3.txt", "good3.txt")
    assert (moved.folder / "cache/light.pyc").exists() and not work.root.exists()


def test_a_moved_work_tree_of_a_separate_git_directory(tmp_path: Path) -> None:
    made = fresh(tmp_path / "work", "--separate-git-dir", str(tmp_path / "elsewhere.git"))
    is_judged_here(made)
    moved = Gated(made.root.rename(tmp_path / "moved"))
    is_judged_here(moved, "bad2.txt", "good2.txt")
    shutil.move(tmp_path / "elsewhere.git", tmp_path / "deep" / "er.git")
    moved.write(".git", f"gitdir: {tmp_path}/deep/er.git\n")
    installing.install(moved.repository(), "")
    is_judged_here(moved, "bad3.txt", "good3.txt")


def test_a_linked_git_directory(tmp_path: Path) -> None:
    made = fresh(tmp_path / "work")
    (made.root / ".git").rename(tmp_path / "store.git")
    (made.root / ".git").symlink_to(tmp_path / "store.git")
    installing.install(made.repository(), "")
    is_judged_here(made)


@pytest.mark.slow
def test_a_bare_repository_with_work_trees(work: Gated, remote: Repo, tmp_path: Path) -> None:
    for name in ("bare.git", "project/.git"):
        bare = Gated(tmp_path / name)
        work.git("clone", "-q", "--bare", str(remote.root), str(bare.root))
        root = bare.root.parent / "tree"
        bare.git("worktree", "add", "-q", "-B", "topic", str(root), "main")
        tree = Gated(root)
        (bare.root / "info").mkdir(exist_ok=True)
        (bare.root / "info" / "exclude").write_text("/.ahp/\n")
        tree.write(".ahp/hooks.yaml", STRICT)
        installing.install(tree.repository(), "")
        is_judged_here(tree)
        code, said = ran(["git", "push", "-q", "origin", "topic:main"], {}, str(root))
        assert code == 1 and "push refused by main" in said, said
        assert git.discover(str(bare.root), dict(os.environ)).root == ""
        assert git.locate(str(bare.root), {"GIT_DIR": "."}).root == ""
        assert ran(["git", "push", "-q", "origin", f"topic:{bare.root.parent.name}"], {}, str(bare.root)) == (0, "")
        shutil.rmtree(root)


@pytest.mark.slow
def test_a_work_tree_that_only_the_configuration_names(tmp_path: Path, weak: str) -> None:
    home = Gated(tmp_path / "home")
    home.root.mkdir()
    store = home.root / ".dotfiles"
    home.git("init", "-q", "--bare", str(store))
    dotfiles = Repo(store)
    dotfiles.git("config", "core.bare", "false")
    dotfiles.git("config", "core.worktree", str(home.root))
    home.write(".ahp/hooks.yaml", STRICT)
    done = dotfiles.run("ahp", "install", "git")
    assert done.returncode == 0, done.stderr
    home.write("bad.txt")
    where = [f"--git-dir={store}", f"--work-tree={home.root}"]
    home.git(*where, "add", "bad.txt")
    dotfiles.git("config", "core.worktree", weak)  # what install did not see
    for argv, at in (
        (["git", *where, "commit", "-m", "x"], home.root),
        (["git", f"--git-dir={store}", "commit", "-m", "x"], store),
    ):
        code, said = ran(argv, {}, str(at))
        assert code == 1 and "commit refused by names" in said, said
    home.git(*where, "mv", "bad.txt", "good.txt")
    assert ran(["git", *where, "commit", "-q", "-m", "x"], {}, str(home.root)) == (0, "")


@pytest.mark.slow
def test_a_git_directory_beside_a_work_tree_that_has_no_link_to_it(tmp_path: Path) -> None:
    home = Gated(tmp_path / "home")
    home.root.mkdir()
    store = tmp_path / "store.git"
    home.git("init", "-q", "--bare", str(store))
    Repo(store).git("config", "core.bare", "false")
    Repo(store).git("config", "core.worktree", str(home.root))
    said = Repo(store).run("ahp", "install", "git").stderr.decode()
    link = f"echo 'gitdir: {store}' >.git"
    assert said.endswith(f"fix, in it: ahp install git (where it has no .git, before that: {link})\n"), said
    home.write(".ahp/hooks.yaml", STRICT)
    assert home.run("sh", "-c", f"{link} && ahp install git").returncode == 0
    home.write("bad.txt")
    home.git("add", "bad.txt")
    assert "commit refused by names" in home.say("commit", "-m", "x").text


def test_from_the_work_tree_of_a_submodule_the_main_one_is_known(work: Gated, remote: Repo, tmp_path: Path) -> None:
    work.git("reset", "-q", "--hard")
    work.git("submodule", "--quiet", "add", str(remote.root), "sub")
    Repo(work.root / "sub").git("worktree", "add", "-q", str(tmp_path / "tree"))
    installing.install(Gated(tmp_path / "tree").repository(), "")
    sub = Gated(work.root / "sub")
    assert (work.root / ".git/modules/sub/ahp/root").read_text() == "../../../sub/.git\n"
    sub.write(".ahp/hooks.yaml", STRICT)
    is_judged_here(sub)


def test_from_a_linked_work_tree_of_a_separate_git_directory_the_main_one_is_found(tmp_path: Path) -> None:
    main = Gated(tmp_path / "work")
    main.root.mkdir()
    main.git("init", "-q", "--separate-git-dir", str(tmp_path / "store.git"))
    main.commit("first")
    main.git("worktree", "add", "-q", str(tmp_path / "tree"))
    installing.install(Gated(tmp_path / "tree").repository(), "")
    assert not (tmp_path / "store.git/ahp/root").exists()  # git has no record of it, either
    main.write(".ahp/hooks.yaml", STRICT)
    is_judged_here(main)


@pytest.fixture
def mounted(work: Gated) -> Iterator[Path]:
    """The repository bind-mounted at another place; skipped where that may not be done."""
    place = work.root.parent / "mounted"
    place.mkdir()
    if subprocess.run(["mount", "--bind", work.root, place], capture_output=True, check=False).returncode:
        pytest.skip("bind mounts are root's")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_bind_mounted_repository(work: Gated, mounted: Path) -> None:
    work.git("reset", "-q", "--hard")
    is_judged_here(Gated(mounted))
    assert git.discover(str(mounted), dict(os.environ)).root == str(mounted)

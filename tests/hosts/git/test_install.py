"""Putting the shims in place and taking them away (design §9)."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ahp.hosts.git import install as installing
from ahp.hosts.git import ranges
from ahp.hosts.git.githooks import HOOKS
from ahp.journal.place import journal_of
from ahp.system import installed
from ahp.system.errors import AhpError
from ahp.system.history import RangeView
from tests.attended import attended
from tests.conftest import Repo
from tests.hosts.git.gated import Gated, shims

BAD = """\
version: 1
rules:
  names: {at: pre-commit, each: p in files.changed, block: "p.startswith('bad')", message: bad}
"""


@pytest.fixture
def plain(repo: Repo) -> Gated:
    """A repository with a commit and a policy, but no gate."""
    made = Gated(repo.root)
    made.commit("first", README="text\n")
    made.write(".git/info/exclude", "/.ahp/\n")
    made.write(".ahp/hooks.yaml", BAD)
    return made


def install(gated: Gated) -> installing.Installed:
    return installing.install(gated.repository(), str(gated.user_policy))


def hooks(gated: Gated) -> dict[str, bytes]:
    folder = gated.root / ".git" / "hooks"
    files = [path for path in folder.iterdir() if path.is_file() and path.suffix != ".sample"]
    return {path.name: path.read_bytes() for path in files}


AT_REST = {*HOOKS, "commit-msg.idle-ahp"} - {"commit-msg"}  # the files of an installation that had no work on messages


def refused(gated: Gated, name: str = "bad.txt") -> str:
    gated.write(name)
    gated.add(name)
    said = gated.say("commit", "-m", "x")
    assert said.code == 1
    assert "refused by names" in said.text
    return said.text


def test_install_writes_five_executable_shims_and_notes_what_it_did(plain: Gated) -> None:
    done = install(plain)
    assert done.folder == str(plain.root / ".git" / "hooks")
    assert tuple(done.written) == tuple(HOOKS)
    assert done.kept == []
    assert set(hooks(plain)) == AT_REST
    assert all(os.access(plain.root / ".git" / "hooks" / hook, os.X_OK) for hook in AT_REST)
    noted = json.loads((plain.folder / "install.json").read_text())
    assert noted["genesis"] == plain.log("genesis")[0]["id"]
    assert journal_of(str(plain.root)).genesis == noted["genesis"]
    refused(plain)


def test_installing_twice_is_installing_once(plain: Gated) -> None:
    plain.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n", 0o755)
    install(plain)
    before, log = hooks(plain), plain.log()
    done = install(plain)
    assert done.kept == ["pre-commit"]
    assert (hooks(plain), plain.log()) == (before, log)


def test_an_earlier_hook_keeps_running_first_and_comes_back(plain: Gated) -> None:
    told = plain.root.parent / "told"
    text = f'#!/bin/sh\necho "$0 $*" >>{shlex.quote(str(told))}\ntest ! -e stop\n'
    for hook in HOOKS:
        plain.write(f".git/hooks/{hook}", text, 0o755)
    install(plain)
    plain.write("a.txt")
    plain.add()
    assert plain.say("commit", "-q", "-m", "x").code == 0
    ran = [Path(line.split()[0]).name for line in told.read_text().splitlines()]
    assert ran == ["pre-commit", "commit-msg", "post-commit"]  # by the names that git calls them by
    assert told.read_text().splitlines()[1].endswith(".git/COMMIT_EDITMSG")
    # First: where it refuses, ahp is not asked; what it stages is judged.
    plain.write("stop")
    plain.write("b.txt")
    plain.add("b.txt")
    judged = len(plain.log())
    assert plain.say("commit", "-q", "-m", "x").code == 1
    assert len(plain.log()) == judged
    done = installing.uninstall(plain.repository())
    assert tuple(done.kept) == tuple(HOOKS)
    assert hooks(plain) == dict.fromkeys(HOOKS, text.encode())
    assert set(json.loads((plain.folder / "install.json").read_text())) == {"genesis", "before"}


def test_an_earlier_hook_that_stages_is_judged_by_what_it_staged(plain: Gated) -> None:
    plain.write(".git/hooks/pre-commit", "#!/bin/sh\necho x >bad.txt\ngit add bad.txt\n", 0o755)
    install(plain)
    refused(plain, "good.txt")


def test_a_hook_that_may_not_be_executed_is_kept_but_does_not_run(plain: Gated) -> None:
    plain.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n", 0o644)
    assert install(plain).kept == []
    plain.write("good.txt")
    plain.add()
    assert plain.say("commit", "-q", "-m", "x").code == 0
    installing.uninstall(plain.repository())
    assert hooks(plain) == {"pre-commit": b"#!/bin/sh\nexit 1\n"}


def test_uninstall_without_install_removes_nothing(plain: Gated) -> None:
    plain.write(".git/hooks/pre-commit", "#!/bin/sh\n", 0o755)
    done = installing.uninstall(plain.repository())
    assert (done.written, done.kept) == ([], [])
    assert hooks(plain) == {"pre-commit": b"#!/bin/sh\n"}


def test_uninstall_leaves_what_somebody_put_in_the_place_of_ours(plain: Gated) -> None:
    install(plain)
    plain.write(".git/hooks/pre-push", "#!/bin/sh\n", 0o755)
    done = installing.uninstall(plain.repository())
    assert "pre-push" not in done.written
    assert hooks(plain) == {"pre-push": b"#!/bin/sh\n"}
    assert plain.log("genesis")


def test_an_earlier_hook_finds_what_lies_beside_it(plain: Gated) -> None:
    plain.write(".git/hooks/parts.sh", "echo part >>told\n")
    plain.write(".git/hooks/pre-commit.d/one", "echo one >>told\n")
    plain.write(".git/hooks/master", '#!/bin/sh\n. "$(dirname "$0")/parts.sh"\n. "${0%/*}/${0##*/}.d/one"\n', 0o755)
    (plain.root / ".git/hooks/pre-commit").symlink_to("master")
    before = hooks(plain)
    for _ in range(2):
        install(plain)
    plain.write("good.txt")
    plain.add("good.txt")
    assert plain.say("commit", "-q", "-m", "x").code == 0
    assert (plain.root / "told").read_text() == "part\none\n"
    installing.uninstall(plain.repository())
    assert hooks(plain) == before and not (plain.root / ".git/hooks/before-ahp").exists()


def test_a_tool_that_writes_its_hook_anew_keeps_running_and_ahp_too(plain: Gated) -> None:
    tool = "#!/bin/sh\necho {} >>told\n"
    plain.write(".git/hooks/pre-commit", tool.format("old"), 0o755)
    install(plain)
    plain.write(".git/hooks/pre-commit", tool.format("new"), 0o755)
    (plain.root / ".git/hooks/pre-push").unlink()
    aside = install(plain).aside
    assert [Path(path).name for path in aside] == ["pre-commit.before-ahp.old"]
    refused(plain, "bad.txt")
    assert (plain.root / "told").read_text() == "new\n"
    plain.write(".git/hooks/pre-commit", tool.format("newest"), 0o755)
    done = installing.uninstall(plain.repository())
    assert [Path(path).name for path in done.aside] == ["pre-commit.before-ahp.old.2"]
    (plain.root / ".git/hooks/pre-commit").unlink()  # that tool is removed
    assert install(plain).kept == []


def test_a_linked_hook_is_kept_as_a_link(plain: Gated) -> None:
    target = plain.write("tools/hook.sh", "#!/bin/sh\nexit 0\n", 0o755)
    os.symlink(target, plain.root / ".git" / "hooks" / "pre-commit")
    install(plain)
    assert target.read_text() == "#!/bin/sh\nexit 0\n"
    installing.uninstall(plain.repository())
    assert os.readlink(plain.root / ".git" / "hooks" / "pre-commit") == str(target)


def put_away(gated: Gated) -> None:
    code, said = attended(["ahp", "uninstall", "git"], gated.root)
    assert code == 0, said


def test_taking_the_gate_away_for_a_commit_is_no_amnesty(gated: Gated, tmp_path: Path) -> None:
    gated.policy(BAD)
    first = gated.head()
    put_away(gated)
    made = gated.commit("x", **{"bad.txt": "x\n"})
    installing.install(gated.repository(), str(gated.user_policy))
    gated.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    said = gated.say("push", "-q", str(tmp_path / "remote.git"), "main")
    assert said.code == 1 and "push refused by names" in said.text and made[:10] in said.text
    assert [record["commit"] for record in gated.log("bypass")] == [made]
    told = [(record["what"], record["tips"]) for record in gated.log("install")]
    assert told == [("installed", [first]), ("removed", [first]), ("installed", [made])]
    assert "git hooks removed: " in gated.run("ahp", "log").stdout.decode()


def test_what_the_first_install_found_is_in_the_log_too(gated: Gated) -> None:
    first = gated.head()
    (gated.folder / "install.json").unlink()
    gated.commit("x")
    installing.install(gated.repository(), str(gated.user_policy))
    assert installing.made_before(gated.repository()) == [first]


@pytest.mark.slow
def test_installing_over_hooks_without_their_record_is_no_amnesty(gated: Gated, tmp_path: Path) -> None:
    gated.commit_policy(BAD)
    gated.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    gated.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    gated.git("push", "-q", "--no-verify", "origin", "main")
    there = gated.head()
    made = gated.commit("x", "--no-verify", **{"bad.txt": "x\n"})
    for _ in range(2):
        shutil.rmtree(gated.folder)
        done = installing.install(gated.repository(), str(gated.user_policy))
        assert done.lost and installing.made_before(gated.repository()) == [there]
        assert not installing.install(gated.repository(), str(gated.user_policy)).lost
        assert installing.made_before(gated.repository()) == [there]
    said = gated.say("push", "-q", "origin", "main")
    assert said.code == 1 and "push refused by names" in said.text and made[:10] in said.text
    gated.git("update-ref", "-d", "refs/remotes/origin/main")
    shutil.rmtree(gated.folder)
    assert installing.install(gated.repository(), str(gated.user_policy)).lost
    assert not installing.install(gated.repository(), str(gated.user_policy)).lost
    assert installing.made_before(gated.repository()) == []  # nothing that a remote is known to have


def test_installing_over_settings_without_hooks_and_their_record_is_no_amnesty(gated: Gated) -> None:
    gated.commit("x", "--no-verify", **{"bad.txt": "x\n"})
    shutil.rmtree(gated.folder)
    shutil.rmtree(gated.root / ".git" / "hooks")
    assert installing.install(gated.repository(), str(gated.user_policy)).lost
    assert installing.made_before(gated.repository()) == []
    installing.uninstall(gated.repository())
    shutil.rmtree(gated.folder)
    assert not installing.install(gated.repository(), str(gated.user_policy)).lost  # it was taken away as it should be


def test_every_tip_is_known_and_one_that_is_gone_does_no_harm(plain: Gated, tmp_path: Path) -> None:
    tree = plain.git("write-tree")
    commits = [plain.git("commit-tree", tree, "-m", str(number)) for number in range(230)]
    lines = "".join([f"create refs/tags/t{number} {commit}\n" for number, commit in enumerate(commits[:-2])])
    plain.git("update-ref", "--stdin", stdin=lines.encode())
    plain.git("tag", "-a", "-m", "annotated", "last", commits[-2])
    plain.git("worktree", "add", "-q", "--detach", str(tmp_path / "tree"), commits[-1])
    install(plain)
    before = installing.made_before(plain.repository())
    assert set(before) == {plain.head(), *commits}
    (record,) = plain.log("install")
    assert record["tips"] == before and record["actor"].startswith("human") and record["host"] == "git"
    at = plain.repository()
    whole = RangeView(at, at.empty_tree(), plain.head())
    assert ranges.to_judge(at, whole, "", ["1" * 40, *before]) == []
    assert ranges.to_judge(at, whole, "", ["1" * 40]) == [plain.head()]


def test_a_work_tree_with_hooks_of_its_own_is_remembered(plain: Gated, tmp_path: Path) -> None:
    plain.git("worktree", "add", "-q", str(tmp_path / "tree"))
    tree = Gated(tmp_path / "tree")
    plain.git("config", "extensions.worktreeConfig", "true")
    own = tmp_path / "own hooks"
    tree.git("config", "--worktree", "core.hooksPath", str(own))
    install(plain)
    installing.install(tree.repository(), "")
    assert ({path.name for path in own.iterdir()}, set(hooks(plain))) == (set(HOOKS), AT_REST)
    done = installing.uninstall(plain.repository())
    assert len(done.written) == 2 * len(HOOKS)
    assert not list(own.iterdir()) and hooks(plain) == {}


def test_a_hook_that_was_missing_is_told_when_it_is_put_back(plain: Gated) -> None:
    for _ in range(2):
        install(plain)
    assert len(plain.log("install")) == 1
    (plain.root / ".git/hooks/pre-push").unlink()
    install(plain)
    assert [record["what"] for record in plain.log("install")] == ["installed", "installed"]


def test_a_local_hooks_path_is_installed_into(plain: Gated) -> None:
    install(plain)
    plain.git("config", "core.hooksPath", "tools/hooks")
    done = install(plain)
    assert done.folder == str(plain.root / "tools" / "hooks")
    refused(plain)
    done = installing.uninstall(plain.repository())
    assert set(done.folder.split(" and ")) == {str(plain.root / "tools/hooks"), str(plain.root / ".git/hooks")}
    assert len(done.written) == 2 * len(HOOKS)
    assert list((plain.root / "tools" / "hooks").iterdir()) == []
    assert plain.git("config", "core.hooksPath") == "tools/hooks"


def test_a_global_hooks_path_is_left_alone_and_its_hooks_are_called(plain: Gated, home: Path) -> None:
    shared = home / "shared hooks"
    shared.mkdir()
    told = home / "told"
    for hook in ("pre-commit", "prepare-commit-msg"):
        (shared / hook).write_text(f'#!/bin/sh\necho "{hook}" >>{shlex.quote(str(told))}\n')
        (shared / hook).chmod(0o755)
    (shared / "post-checkout").mkdir()
    plain.git("config", "--global", "core.hooksPath", str(shared))
    done = install(plain)
    assert done.folder == str(plain.folder / "hooks")
    assert sorted(done.kept) == ["pre-commit", "prepare-commit-msg"]
    refused(plain)
    assert told.read_text() == "pre-commit\n"
    plain.git("reset", "-q")
    plain.write("good.txt")
    plain.add("good.txt")
    assert plain.say("commit", "-q", "-m", "x").code == 0
    assert told.read_text() == "pre-commit\npre-commit\nprepare-commit-msg\n"
    assert sorted(path.name for path in shared.iterdir()) == ["post-checkout", "pre-commit", "prepare-commit-msg"]
    again = install(plain)
    assert (again.folder, sorted(again.kept)) == (done.folder, sorted(done.kept))
    installing.uninstall(plain.repository())
    assert plain.git("config", "--show-scope", "core.hooksPath") == f"global\t{shared}"
    assert list((plain.folder / "hooks").iterdir()) == []


def test_every_linked_worktree_gets_the_gate_by_one_install(plain: Gated, tmp_path: Path) -> None:
    plain.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = Gated(tmp_path / "linked")
    installing.install(linked.repository(), "")
    assert set(hooks(plain)) >= AT_REST
    refused(plain)


def test_a_repository_may_have_any_name(tmp_path: Path, home: Path) -> None:
    root = tmp_path / os.fsdecode(b"-rf with space/quote'\"s $(touch pwned)/new\nline not-utf8-\xff")
    root.mkdir(parents=True)
    gated = Gated(root)
    gated.git("init", "-q")
    gated.write(".ahp/hooks.yaml", BAD)
    gated.write("good.txt")
    gated.add("good.txt")
    done = gated.run("ahp", "install", "git")
    assert done.returncode == 0, done.stderr
    assert b"git: 5 hooks in " in done.stdout
    assert len(done.stdout.splitlines()) == 1
    assert gated.say("commit", "-q", "-m", "x") == (0, "")
    assert gated.log("verdict")[0]["decision"] == "allow"
    refused(gated)
    assert os.listdir(tmp_path) == ["-rf with space"]
    assert not list(tmp_path.rglob("pwned"))


def test_a_bare_repository_has_nothing_to_judge(tmp_path: Path, plain: Gated) -> None:
    plain.git("init", "-q", "--bare", str(tmp_path / "bare.git"))
    bare = Gated(tmp_path / "bare.git")
    with pytest.raises(AhpError, match="this repository is bare"):
        installing.install(bare.repository(), "")


def test_a_damaged_record_is_named(plain: Gated) -> None:
    install(plain)
    (plain.folder / "install.json").write_text("[")
    with pytest.raises(AhpError, match=r"install\.json is damaged; remove it"):
        install(plain)


def test_a_git_directory_that_takes_no_folder_is_an_error(plain: Gated) -> None:
    plain.write(".git/ahp", "in the way\n")
    with pytest.raises(AhpError):
        install(plain)


def test_without_git_on_path_there_is_nothing_to_bake(plain: Gated) -> None:
    repo = plain.repository()
    repo.git = "no-such-git"
    with pytest.raises(AhpError, match="git is not on PATH"):
        installing._git_program(repo)


def test_an_installation_without_templates_says_so(plain: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ahp.hosts.templates.package", lambda: str(plain.root))
    with pytest.raises(AhpError, match="lacks its hook template"):
        install(plain)


def shim_with(gated: Gated, **baked: str) -> None:
    """Bakes other values into pre-commit."""
    path = gated.root / ".git" / "hooks" / "pre-commit"
    lines = []
    for line in path.read_text().splitlines(keepends=True):
        name = line.partition("=")[0]
        lines.append(f"{name}={shlex.quote(baked.pop(name))}\n" if name in baked else line)
    path.write_text("".join(lines))


def test_a_gone_interpreter_leaves_the_judging_to_ahp_on_path(gated: Gated) -> None:
    gated.policy(BAD)
    shim_with(gated, python="/no/such/python", program="/no/such/bin/ahp")
    text = refused(gated)
    assert text.startswith(
        "ahp: the ahp it was installed with is gone, or this user may not read it; the one on PATH judges"
        " (fix: ahp install git)\n"
    )


def test_a_gone_package_counts_as_a_gone_interpreter(gated: Gated) -> None:
    gated.policy(BAD)
    shim_with(gated, package="/no/such/ahp/__init__.py", program="")
    assert "the one on PATH judges" in refused(gated)


def test_an_environment_that_was_made_anew_judges_without_any_path(gated: Gated, tmp_path: Path) -> None:
    """As after `uv tool upgrade` or `pipx reinstall` with another Python, also for a program with a bare PATH."""
    gated.policy(BAD)
    shim_with(gated, package="/no/such/lib/python3.99/site-packages/ahp/__init__.py")
    gated.write("bad.txt")
    gated.add()
    said = gated.say("commit", "-m", "x", env={"PATH": "/usr/bin:/bin"})
    program = f"{Path(sys.executable).parent}/ahp"
    assert said.code == 1
    assert said.text.startswith(
        f"ahp: it was installed anew since these hooks were; {program} judges (fix: ahp install git)\n"
    )
    assert "bad.txt" in said.text
    # A program that is there and does not start any more is none.
    broken = tmp_path / "ahp"
    broken.write_text("#!/no/such/python\n")
    broken.chmod(0o755)
    shim_with(gated, program=str(broken))
    assert "the one on PATH judges" in gated.say("commit", "-m", "x").text


def test_without_any_ahp_the_commit_is_refused(gated: Gated) -> None:
    gated.policy(BAD)
    shim_with(gated, python="/no/such/python", program="/no/such/bin/ahp")
    gated.write("good.txt")
    gated.add()
    head = gated.head()
    said = gated.say("commit", "-m", "x", env={"PATH": "/usr/bin:/bin"})
    assert said.code == 1
    assert said.text.startswith("ahp: cannot judge this pre-commit: the ahp it was installed with is gone")
    assert "     it was /no/such/bin/ahp\n" in said.text
    assert f"fix: {installed.command(here=False)} && ahp install git" in said.text
    assert gated.head() == head


def test_a_gone_git_is_looked_for_on_path(gated: Gated) -> None:
    gated.policy(BAD)
    shim_with(gated, git="/no/such/git")
    refused(gated)


def test_the_shims_are_plain_posix_shell(gated: Gated) -> None:
    for path in shims(gated):
        assert subprocess.run(["sh", "-n", str(path)], check=False).returncode == 0
        assert b"@" not in path.read_bytes().replace(b'"$@"', b"")

"""husky's committed hooks: one portable line each, in its place, and gone on uninstall (design §9)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.cli.main import run
from ahp.hosts.git import husky
from ahp.hosts.git import install as installing
from ahp.hosts.git.githooks import HOOKS
from ahp.hosts.git.husky import LINE
from ahp.system.errors import AhpError
from tests.hosts.git.gated import Gated, Said

# What husky 9 does when git calls one of its hooks, without its conveniences.
RUNNER = 'n=$(basename "$0")\ns=$(dirname "$(dirname "$0")")/$n\n[ ! -f "$s" ] && exit 0\nsh -e "$s" "$@"\n'
STUB = '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n'
POLICY = """\
version: 1
rules:
  names: {at: [pre-commit, pre-push], each: p in files.changed, block: "p.startswith('bad')", message: bad}
  words: {at: commit-msg, block: "commit.subject == 'no'", message: no}
"""


def set_up(gated: Gated, folder: str = ".husky") -> None:
    """What `husky` does in a clone."""
    gated.write(f"{folder}/_/h", RUNNER)
    gated.write(f"{folder}/_/.gitignore", "*")
    for hook in HOOKS:
        gated.write(f"{folder}/_/{hook}", STUB, 0o755)
    gated.git("config", "core.hooksPath", f"{folder}/_")


@pytest.fixture
def joined(gated: Gated) -> Gated:
    """A repository whose gate is reached through husky, with a hook of its own at pre-commit and pre-push."""
    gated.policy(POLICY)
    gated.write(".husky/pre-commit", "echo own >> told\n")
    gated.write(".husky/pre-push", "#!/bin/sh\ncat > pushed\n")
    set_up(gated)
    installing.install(gated.repository(), str(gated.user_policy))
    return gated


def commit(gated: Gated, name: str, message: str = "x", at: str = "") -> Said:
    gated.write(name)
    gated.add(name)
    return gated.say("commit", "-q", "-m", message, at=at)


def test_our_line_is_portable_and_one() -> None:
    assert LINE.count(b"\n") == 1
    assert b"`ahp install git`" in LINE
    assert b" /" not in LINE.replace(b"/ahp/husky", b"")


@pytest.mark.slow
def test_content_message_and_push_are_judged_through_husky(joined: Gated, tmp_path: Path) -> None:
    assert commit(joined, "good.txt").code == 0
    assert (joined.root / "told").read_text() == "own\n"
    assert "refused by words" in commit(joined, "better.txt", "no").text
    assert "refused by names" in commit(joined, "bad.txt").text
    joined.git("commit", "-q", "--no-verify", "-m", "x")
    joined.git("init", "-q", "--bare", str(tmp_path / "remote"))
    said = joined.say("push", "-q", str(tmp_path / "remote"), "HEAD~1:refs/heads/good")
    assert said.code == 0
    assert (joined.root / "pushed").read_text().startswith("HEAD~1 ")
    assert "refused by names" in joined.say("push", "-q", str(tmp_path / "remote"), "HEAD:refs/heads/bad").text
    (joined.root / "pushed").unlink()
    assert joined.say("push", "-q", str(tmp_path / "remote"), "HEAD~1:refs/heads/good").code == 0  # nothing to push
    assert (joined.root / "pushed").read_text() == ""


def test_a_line_that_changes_the_folder_does_not_lead_astray(joined: Gated) -> None:
    joined.write("app/x.txt")
    path = joined.root / ".husky/pre-commit"
    path.write_bytes(b"cd app\n" + path.read_bytes())
    assert commit(joined, "good.txt").code == 0
    assert "refused by names" in commit(joined, "bad.txt").text


def test_without_husky_the_gate_is_reached_all_the_same(joined: Gated) -> None:
    joined.git("config", "--unset", "core.hooksPath")
    assert "refused by names" in commit(joined, "bad.txt").text


def test_our_line_comes_last_but_first_at_a_push(joined: Gated) -> None:
    read = {hook: (joined.root / ".husky" / hook).read_bytes() for hook in HOOKS}
    assert read["pre-commit"] == b"echo own >> told\n" + LINE
    assert read["pre-push"] == b"#!/bin/sh\n" + LINE + b"cat > pushed\n"
    assert read["commit-msg"] == read["post-commit"] == read["pre-merge-commit"] == LINE
    done = installing.install(joined.repository(), str(joined.user_policy))
    assert done.kept == ["pre-commit", "pre-push"]
    assert {hook: (joined.root / ".husky" / hook).read_bytes() for hook in HOOKS} == read


def test_uninstall_takes_our_lines_away(joined: Gated) -> None:
    installing.uninstall(joined.repository())
    assert sorted(path.name for path in (joined.root / ".husky").iterdir()) == ["_", "pre-commit", "pre-push"]
    assert (joined.root / ".husky/pre-commit").read_bytes() == b"echo own >> told\n"
    assert (joined.root / ".husky/pre-push").read_bytes() == b"#!/bin/sh\ncat > pushed\n"
    assert not (joined.folder / "husky").exists()
    assert joined.git("config", "core.hooksPath") == ".husky/_"
    assert commit(joined, "bad.txt").code == 0


def test_husky_that_is_not_active_yet_is_joined_too(gated: Gated) -> None:
    gated.policy(POLICY)
    gated.write(".husky/pre-commit", "true\n")
    installing.install(gated.repository(), str(gated.user_policy))
    assert "refused by names" in commit(gated, "bad.txt").text
    set_up(gated)
    assert "refused by names" in commit(gated, "bad.txt").text


def test_a_folder_of_another_name_and_husky_8_are_known(gated: Gated) -> None:
    root = str(gated.root)
    assert husky.folder_of(root, f"{root}/tools/hooks/_") == f"{root}/tools/hooks"
    assert husky.folder_of(root, f"{root}/.husky") == f"{root}/.husky"
    assert husky.folder_of(root, f"{root}/.git/hooks") == ""
    gated.policy(POLICY)
    gated.git("config", "core.hooksPath", ".husky")
    gated.write(".husky/commit-msg", "#!/bin/sh\ntrue\n", 0o755)
    installing.install(gated.repository(), str(gated.user_policy))
    assert "refused by names" in commit(gated, "bad.txt").text
    assert b"/ahp/husky" in (gated.root / ".husky/commit-msg").read_bytes()


def test_a_last_line_without_its_end_stays_a_line(tmp_path: Path) -> None:
    hook = tmp_path / "commit-msg"
    hook.write_bytes(b"npm test")
    hook.chmod(0o644)
    assert husky.join(str(hook))
    assert hook.read_bytes() == b"npm test\n" + LINE
    assert hook.stat().st_mode & 0o777 == 0o644
    assert husky.leave(str(hook))
    assert hook.read_bytes() == b"npm test\n"
    assert not husky.leave(str(hook))


def test_a_link_in_the_work_tree_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("alias x=y\n")
    (tmp_path / "pre-commit").symlink_to("target")
    with pytest.raises(AhpError, match="symbolic link"):
        husky.join(str(tmp_path / "pre-commit"))
    assert (tmp_path / "target").read_text() == "alias x=y\n"


def test_a_folder_that_is_a_link_or_holds_no_hook_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "pre-commit").write_text("")
    (tmp_path / ".husky").symlink_to("elsewhere")
    assert husky.folder_of(str(tmp_path), f"{tmp_path}/.git/hooks") == ""
    (tmp_path / ".husky").unlink()
    (tmp_path / ".husky" / "_").mkdir(parents=True)
    assert husky.folder_of(str(tmp_path), f"{tmp_path}/.git/hooks") == ""
    (tmp_path / ".husky" / "pre-push").write_text("")
    assert husky.folder_of(str(tmp_path), f"{tmp_path}/.git/hooks") == f"{tmp_path}/.husky"


def test_what_keeps_git_from_our_line_is_told(tmp_path: Path) -> None:
    hook = tmp_path / "commit-msg"
    assert "has lost ahp's line" in husky.trouble(str(hook))
    hook.write_bytes(b"npm test\nexit 0\n" + LINE)
    assert husky.trouble(str(hook)) == f"line 2 of {hook} ends it before ahp's line; move that line above it"
    hook.write_bytes(b'if [ -n "$X" ]; then\n  exit 1\nfi\n' + LINE)
    assert husky.trouble(str(hook)) == ""
    hook.write_bytes(b"npm test || exit\n" + LINE + b"exec true\n")
    assert husky.trouble(str(hook)) == ""


def test_a_person_is_told_to_commit_the_lines(
    joined: Gated, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(joined.root)
    assert run(["install", "git"]) == 0
    said = capsys.readouterr().out
    assert f"git: husky's hooks in {joined.root}/.husky call them by one line each: commit those\n" in said


def test_a_clone_where_nobody_installed_ahp_lets_go_on_and_says_so(joined: Gated, tmp_path: Path) -> None:
    joined.add(".husky")
    joined.git("commit", "-q", "--no-verify", "-m", "gate")
    joined.git("clone", "-q", str(joined.root), str(tmp_path / "clone"))
    theirs = Gated(tmp_path / "clone")
    set_up(theirs)
    said = commit(theirs, "bad.txt")
    assert said.code == 0
    assert "ahp: no gate in this clone, so nothing was judged (.ahp/hooks.yaml tells how to install" in said.text


def test_where_it_was_installed_a_lost_shim_refuses(joined: Gated) -> None:
    os.unlink(joined.folder / "husky" / "pre-commit.sh")
    assert commit(joined, "good.txt").code != 0

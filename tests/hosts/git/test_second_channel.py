"""Two ways into ahp from git: the hooks folder, and since git 2.54 the configuration. What each of them holds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from ahp.hosts.git import doctor, install, second_channel
from ahp.system import git
from tests.hosts.git.gated import Gated

POLICY = """\
version: 1
rules:
  content: {at: pre-commit, block: "any(matches(l.text, 'BAD') for l in diff.added)", message: no BAD}
  merged: {at: pre-merge-commit, block: "any(matches(l.text, 'BAD') for l in diff.added)", message: no BAD}
  subject: {at: commit-msg, block: "not commit.subject.startswith('ok')", message: begin with ok}
  pushed: {at: pre-push, block: "push.commit_count > 2", message: too many}
"""
_VERSION = re.search(rb"(\d+)\.(\d+)", subprocess.check_output(["git", "version"]))
assert _VERSION
HAS_BOTH = tuple(map(int, _VERSION.groups())) >= second_channel.SINCE
COMMIT = "git commit -qm 'ok x'"


class Way(NamedTuple):
    """A way round the hooks: what is done first and then, in the repository's folder, by `sh`. H is the hooks folder, S
    the second channel's, E an empty folder. Whether it is held by the hooks folder alone, and by both.
    """

    name: str
    first: str
    then: str = COMMIT
    folder: bool = False
    both: bool = True


SETTING = 'cat ~/.gitconfig >$E/../c; printf "[core]\\nhooksPath=$E\\n" >>$E/../c'
OFF = " ".join(f"-c hook.ahp-{hook}.enabled=false" for hook in git.CHANNEL)
WAYS = [
    Way("nothing", ":", folder=True),
    Way("-c core.hooksPath=/dev/null", ":", "git -c core.hooksPath=/dev/null commit -qm 'ok x'"),
    Way("-c core.hooksPath=EMPTY", ":", "git -c core.hooksPath=$E commit -qm 'ok x'"),
    Way("GIT_CONFIG_COUNT", ":", f"GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=$E {COMMIT}"),
    Way("GIT_CONFIG_PARAMETERS", ":", f"GIT_CONFIG_PARAMETERS=\"'core.hookspath'='$E'\" {COMMIT}"),
    Way("GIT_CONFIG_GLOBAL", SETTING, f"GIT_CONFIG_GLOBAL=$E/../c {COMMIT}"),
    Way("GIT_CONFIG_SYSTEM", SETTING, f"GIT_CONFIG_SYSTEM=$E/../c {COMMIT}"),
    Way("-c include.path=FILE", SETTING, "git -c include.path=$E/../c commit -qm 'ok x'"),
    Way("git config core.hooksPath", "git config core.hooksPath $E"),
    Way("git config --global core.hooksPath", "git config --global core.hooksPath $E"),
    Way("git config --worktree", "git config extensions.worktreeConfig true; git config --worktree core.hooksPath $E"),
    Way("git config include.path", SETTING + "; git config include.path $E/../c"),
    Way("hooks folder emptied", "rm -r $H; mkdir $H"),
    Way("hooks folder removed", "rm -r $H"),
    Way("hooks folder a link elsewhere", "mv $H $H.was; ln -s $E $H"),
    Way("hook removed", "rm $H/pre-commit"),
    Way("hook not executable", "chmod -x $H/pre-commit"),
    Way("hook overwritten", "printf '#!/bin/sh\\nexit 0\\n' >$H/pre-commit"),
    Way(
        "hook overwritten, with its old time",
        "cp -p $H/pre-commit $E/../p; printf '#!/bin/sh\\n' >$H/pre-commit; touch -r $E/../p $H/pre-commit",
    ),
    Way("hook a link to true", "ln -sf /bin/true $H/pre-commit"),
    Way(
        "another manager's folder",
        "mkdir -p .h/_; cp $H/post-commit .h/_/pre-commit; echo >.h/_/pre-commit; git config core.hooksPath .h/_",
    ),
    Way("setting off", ":", "git -c hook.ahp-pre-commit.enabled=false commit -qm 'ok x'", folder=True),
    Way("setting of the event off", ":", "git -c hook.pre-commit.enabled=false commit -qm 'ok x'", folder=True),
    Way("settings removed", "git config --remove-section hook.ahp-pre-commit", folder=True),
    Way("its folder removed", "rm -r $S", folder=True),
    Way(
        "one setting off, no hooks folder",
        ":",
        "git -c hook.ahp-pre-commit.enabled=false -c core.hooksPath=$E commit -qm 'ok x'",
    ),
    Way("all settings off, no hooks folder", ":", f"git {OFF} -c core.hooksPath=$E commit -qm 'ok x'", both=False),
    Way("its folder removed, no hooks folder", "rm -r $S", "git -c core.hooksPath=$E commit -qm 'ok x'", both=False),
    Way("--no-verify", ":", "git commit -nqm 'ok x'", both=False),
    Way("commit-tree", ":", "git update-ref HEAD $(git commit-tree -p HEAD -m x $(git write-tree))", both=False),
]


@pytest.fixture
def gated(gated: Gated) -> Gated:
    """Installed anew: the fixture is a copy of another repository, and so are the paths in its configuration."""
    install.install(gated.repository(), str(gated.user_policy))
    return gated


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "places" / "empty"
    folder.mkdir(parents=True)
    return folder


def say(gated: Gated, elsewhere: Path, text: str) -> subprocess.CompletedProcess[str]:
    places = {"H": ".git/hooks", "S": ".git/ahp/second", "E": str(elsewhere)}
    return subprocess.run(
        ["sh", "-c", text], cwd=gated.root, env={**os.environ, **places}, capture_output=True, text=True
    )


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=[way.name for way in WAYS])
def test_what_each_channel_holds(gated: Gated, elsewhere: Path, way: Way) -> None:
    gated.policy(POLICY)
    gated.write("f", "BAD\n")
    gated.add()
    say(gated, elsewhere, way.first)
    before = gated.head()
    said = say(gated, elsewhere, way.then)
    assert (gated.head() == before) is (way.both if HAS_BOTH else way.folder), said.stderr
    assert said.stderr.count("refused by") == (gated.head() == before)


def of_setting(gated: Gated, hook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """As git 2.54 starts a hook of its configuration."""
    command = gated.git("config", f"hook.ahp-{hook}.command").strip()
    asked = ["sh", "-c", f'{command} "$@"', command, *arguments]
    env = {**os.environ, "GIT_INDEX_FILE": ".git/index", "GIT_EDITOR": ":"}
    return subprocess.run(asked, cwd=gated.root, env=env, capture_output=True, text=True)


def test_a_setting_is_silent_while_git_runs_ours_and_judges_where_not(gated: Gated, elsewhere: Path) -> None:
    gated.policy(POLICY)
    gated.write("f", "BAD\n")
    gated.add()
    assert (of_setting(gated, "pre-commit").returncode, of_setting(gated, "pre-commit").stderr) == (0, "")
    hook = gated.root / ".git/hooks/pre-commit"
    os.utime(hook)  # as after a restore: the same, at another time
    assert of_setting(gated, "pre-commit").stderr == ""
    gated.git("config", "core.hooksPath", str(elsewhere))
    said = of_setting(gated, "pre-commit")
    assert said.returncode == 1 and "refused by content" in said.stderr
    gated.git("config", "--unset", "core.hooksPath")
    hook.write_text("#!/bin/sh\nexit 0\n")
    assert "refused by content" in of_setting(gated, "pre-commit").stderr
    hook.unlink()
    assert "refused by content" in of_setting(gated, "pre-commit").stderr


def test_a_message_is_judged_by_the_setting_where_git_runs_no_hooks(gated: Gated, elsewhere: Path) -> None:
    gated.policy(POLICY)
    gated.write("f", "fine\n")
    gated.add()
    (gated.root / "message").write_text("not so\n")
    gated.git("config", "core.hooksPath", str(elsewhere))
    said = of_setting(gated, "commit-msg", "message")
    assert said.returncode == 1 and "refused by subject" in said.stderr


def test_a_warning_is_given_once_through_two_channels(gated: Gated) -> None:
    gated.policy("version: 1\nrules: {w: {at: pre-commit, prompt: files.changed_count > 0, message: careful}}\n")
    gated.write("f", "x\n")
    gated.add()
    assert gated.say("commit", "-qm", "x").text.count("careful") == 1


def test_another_installation_leaves_one_of_each_and_uninstall_none(gated: Gated) -> None:
    before = gated.git("config", "--local", "--list").split("\n")
    install.install(gated.repository(), str(gated.user_policy))
    assert second_channel.is_there(gated.repository())
    assert sorted(gated.git("config", "--local", "--list").split("\n")) == sorted(before)
    install.uninstall(gated.repository())
    assert "hook.ahp" not in gated.git("config", "--local", "--list")
    assert not (gated.root / ".git/ahp/second").exists()
    assert not second_channel.is_there(gated.repository())


def test_a_copy_of_the_repository_is_judged_once_and_by_its_own(gated: Gated, elsewhere: Path, tmp_path: Path) -> None:
    gated.policy(POLICY)
    shutil.copytree(gated.root, tmp_path / "copy", symlinks=True)
    copy = Gated(tmp_path / "copy")
    copy.write("f", "BAD\n")
    copy.add()
    assert of_setting(copy, "pre-commit").stderr == ""
    copy.git("config", "core.hooksPath", str(elsewhere))
    assert "refused by content" in of_setting(copy, "pre-commit").stderr
    assert "content" in (copy.root / ".git/ahp/signals.jsonl").read_text()
    assert "content" not in (gated.root / ".git/ahp/signals.jsonl").read_text()


def test_where_its_folder_is_gone_git_goes_on(gated: Gated) -> None:
    """A repository may be moved; its hooks judge, and `ahp doctor` tells."""
    for path in (gated.root / ".git/ahp/second").iterdir():
        path.unlink()
    assert of_setting(gated, "pre-commit").returncode == 0


@pytest.mark.slow
def test_doctor_tells_and_mends_where_this_git_reads_settings(gated: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_channel, "SINCE", (1, 0))
    gated.policy(POLICY)
    repo, user = gated.repository(), str(gated.user_policy)

    def told() -> str:
        return next(check.status for check in doctor.examine(repo, user) if check.name == "configuration")

    assert told() == "ok"
    gated.git("config", "--unset", "hook.ahp-pre-push.event")
    assert told() == "wrong"
    doctor.fix(repo, user, doctor.examine(repo, user))
    assert told() == "ok"
    monkeypatch.setattr(second_channel, "SINCE", (99, 0))
    assert not [check for check in doctor.examine(repo, user) if check.name == "configuration"]


def test_ahp_s_own_git_calls_do_without_other_hooks_of_the_configuration(gated: Gated, elsewhere: Path) -> None:
    """What `ahp install git` wrote is known by its form, so nothing has to be asked for it."""
    repo = gated.repository()
    assert repo.drivers() == {}
    repo.run("update-ref", "refs/heads/one", "HEAD")
    gated.git("config", "--add", "hook.ahp-pre-push.event", "reference-transaction")
    gated.git("config", "hook.ahp-pre-push.command", f"touch {elsewhere}/ran")
    assert repo.drivers()["hook.ahp-pre-push.enabled"] == "false"
    repo.run("update-ref", "refs/heads/two", "HEAD")
    assert not (elsewhere / "ran").exists()

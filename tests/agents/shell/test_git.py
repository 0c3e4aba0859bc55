from __future__ import annotations

import pytest

from ahp.agents.shell import git, programs
from ahp.agents.shell.marks import Marks
from ahp.agents.shell.usage import Usage


def read(args: list[str]) -> Usage:
    return git.read("git", args, None, Marks())


@pytest.mark.parametrize(
    ("line", "flags"),
    [
        ("commit -n", ["-n", "--no-verify"]),
        ("commit -anm x", ["-a", "--all", "-n", "--no-verify", "-m", "--message"]),
        ("commit -mn", ["-m", "--message"]),
        ("commit -m -n", ["-m", "--message"]),
        ("commit -Sn x", ["-S", "--gpg-sign"]),
        ("commit -un", ["-u", "--untracked-files"]),
        ("commit --no-veri --no-v", ["--no-verify", "--no-v"]),
        ("commit --mess -n x", ["--message"]),
        ("commit --message=x -- -n", ["--message"]),
        ("commit x --amend", ["--amend"]),
        ("log -n 5 -3", ["-n", "-3"]),
        ("push -fu origin", ["-f", "--force", "-u", "--set-upstream"]),
        ("push --force-with-l", ["--force-with-lease"]),
        ("am -n", ["-n", "--no-verify"]),
        ("clean -fdx", ["-f", "--force", "-d", "-x"]),
        ("--no-pager -P --bare status", ["--no-pager", "-P", "--bare"]),
    ],
)
def test_options_are_told_as_written_and_in_full(line: str, flags: list[str]) -> None:
    assert read(line.split()).flags == flags


def test_options_before_the_command_are_not_the_commands() -> None:
    line = "-C a -C b -c Core.HooksPath=/x -c y --git-dir=z --work-tree w --exec-path=q commit -C HEAD x"
    call = read(line.split(" "))
    assert (call.verb, call.folder) == ("commit", "a/b")
    assert call.config == [("core.hookspath", "/x"), ("y", "true")]
    values = dict(call.values)
    assert (values["--git-dir"], values["--work-tree"], values["--reuse-message"]) == ("z", "w", "HEAD")
    assert call.operands == ["x"]
    assert read(["-C", "a", "-C", "/b", "x"]).folder == "/b"


def test_a_setting_may_come_by_another_way() -> None:
    assert read(["--config-env=core.hooksPath=X", "commit"]).config == [("core.hookspath", "X")]
    clone = read(["clone", "-c", "core.hooksPath=x", "--config", "a.b=c", "url"])
    assert clone.config == [("core.hookspath", "x"), ("a.b", "c")]
    assert git.settings(["GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=A.b", "GIT_CONFIG_VALUE_0=c", "X=y"]) == [("a.b", "c")]
    assert git.settings(["GIT_CONFIG_PARAMETERS='a.b=c' 'd.e'='f'"]) == [("a.b", "c"), ("d.e", "f")]


def test_what_git_runs_by_its_configuration_is_told() -> None:
    config = [("alias.x", "commit -n"), ("alias.y", "!z"), ("core.editor", "vi"), ("core.fsmonitor", "true")]
    assert [run.script for run in git.run_by([*config, ("user.name", "vi")])] == ["git commit -n", "z", "vi"]


@pytest.mark.parametrize("line", ["", "-c", "-C", "--version", "-"])
def test_a_line_without_a_command_has_none(line: str) -> None:
    assert read(line.split()).verb in ("", "-")


def test_the_table_names_each_option_once() -> None:
    for verb in ("commit", "push", "merge", "rebase", "log", "config"):
        found = programs.of(f"git.{verb}")
        assert found is not None
        assert len(set(found.spec.longs)) == len(found.spec.longs)
        assert set(found.spec.valued + found.spec.glued) <= set(found.spec.shorts)

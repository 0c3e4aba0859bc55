from __future__ import annotations

import pytest

from ahp.shell import git
from ahp.shell.gitoptions import SPECS


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
    assert git.read(line.split()).flags == flags


def test_options_before_the_command_are_not_the_commands() -> None:
    line = "-C a -C b -c Core.HooksPath=/x -c y --git-dir=z --work-tree w --exec-path=q commit -C HEAD x"
    call = git.read(line.split(" "))
    assert (call.command, call.folder, call.git_dir, call.work_tree) == ("commit", "a/b", "z", "w")
    assert call.config == [("core.hookspath", "/x"), ("y", "true")]
    assert call.values == [("--reuse-message", "HEAD")]
    assert call.operands == ["x"]
    assert git.read(["-C", "a", "-C", "/b", "x"]).folder == "/b"


def test_a_setting_may_come_by_another_way() -> None:
    assert git.read(["--config-env=core.hooksPath=X", "commit"]).config == [("core.hookspath", "X")]
    clone = git.read(["clone", "-c", "core.hooksPath=x", "--config", "a.b=c", "url"])
    assert clone.config == [("core.hookspath", "x"), ("a.b", "c")]


@pytest.mark.parametrize("line", ["", "-c", "-C", "--version", "-"])
def test_a_line_without_a_command_has_none(line: str) -> None:
    assert git.read(line.split()).command in ("", "-")


def test_an_alias_of_the_line_is_known() -> None:
    assert git.read(["-c", "alias.CI=commit -n", "ci"]).alias == "commit -n"
    assert git.read(["ci"]).alias == ""


def test_the_table_names_each_option_once() -> None:
    for spec in SPECS.values():
        assert len(set(spec.longs)) == len(spec.longs)
        assert set(spec.valued + spec.glued) <= set(spec.shorts)

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from ahp.cli.main import run
from tests.conftest import Repo

AHP = str(Path(sys.executable).with_name("ahp"))


@pytest.fixture(autouse=True)
def inside(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)


def test_init_says_what_it_found_and_what_the_past_would_have_heard(
    repo: Repo, capsys: pytest.CaptureFixture[str], person: list[str]
) -> None:
    repo.write("pyproject.toml", "[tool.ruff]\n")
    repo.commit("root", **{"pyproject.toml": "[tool.ruff]\n"})
    repo.commit("Change (#1)", **{f"src/{number}.txt": "x\n" for number in range(60)})
    assert run(["init"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ".ahp/hooks.yaml: packs core, python; found python, ruff"
    assert lines[1] == "the last 2 commits: 0 blocked, 1 warned"
    assert lines[2].startswith("  protect-main  starts as prompt: The project has fewer than 10 commits")
    assert lines[3].startswith("  change-size   1 warned, last ")
    assert re.fullmatch(r"  1\d rules matched nothing, \d rules cannot be tried on commits", lines[4])
    assert lines[-3:-1] == [
        "its commands may run in this clone: ruff",
        "next: ahp policy test; ahp install; git add .ahp && git commit -m 'chore: add ahp'",
    ]
    assert lines[-1] == (
        "everybody else runs once, in each clone: ahp install; `ahp init --hint` has the project tell them"
    )


def test_the_next_step_can_be_pasted_in_a_folder_below(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("src/a.txt", "")
    monkeypatch.chdir(repo.root / "src")
    assert run(["init"]) == 0
    assert "; git add :/.ahp && git commit -m" in capsys.readouterr().out
    repo.git("-C", "src", "add", ":/.ahp")
    assert ".ahp/hooks.yaml" in repo.git("diff", "--cached", "--name-only")


def test_init_on_a_new_repository_is_a_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "--pack", "tickets"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [".ahp/hooks.yaml: packs core, tickets", "no commit yet to try it on"]
    assert len(lines) <= 7
    assert run(["init"]) == 2
    assert "stays" in capsys.readouterr().err
    assert run(["init", "--force"]) == 0


def test_an_agent_is_told_that_commands_wait_for_a_person(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    repo.write("mypy.ini", "")
    assert run(["init"]) == 0
    assert "its commands wait until a person runs `ahp trust`: mypy\n" in capsys.readouterr().out


def test_a_rule_that_starts_as_shadow_is_named_with_the_reason(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    repo.commit("root", **{"a.py": "breakpoint()\n", "b.py": "", "c.py": ""})
    repo.commit("straight")
    assert run(["init"]) == 0
    out = capsys.readouterr().out
    assert "python-debugger  1 blocked, last " in out and "(a.py:1); starts as shadow\n" in out
    assert "protect-main     starts as prompt: The project has fewer than 10 commits" in out


def test_many_rules_that_spoke_are_cut_short(repo: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    files = {
        "a.py": "breakpoint()\n<<<<<<< x\nAKIA" + "ABCDEFGHIJ234567\n",
        "b.pyc": "",
        "c.bin": b"\0",
        "pyproject.toml": "",
    }
    repo.commit("root", **files, **{f"{number}.txt": "x\n" for number in range(60)})  # type: ignore[arg-type]
    repo.git("rm", "-q", "b.pyc", "c.bin")  # else they are meant
    repo.git("commit", "-q", "-m", "later")
    assert run(["init"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  and 2 more: ahp try" in lines and len(lines) <= 12


def test_a_person_at_a_terminal_sees_how_far_it_is(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.commit("root")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("ahp.system.terminal._UNSEEN", 0.0)  # nothing is drawn of what takes less
    assert run(["init"]) == 0
    drawn = capsys.readouterr().err
    assert "looking at past commits" in drawn and "1/1" in drawn


@pytest.mark.slow
def test_after_init_and_install_an_ordinary_commit_prints_nothing(repo: Repo) -> None:
    repo.commit("root", **{"a.py": "x = 1\n"})
    for argv in (("init",), ("install", "git")):
        done = repo.run(AHP, *argv)
        assert done.returncode == 0, done.stderr
    repo.add()
    repo.commit("Let ahp judge")
    repo.write("a.py", "x = 2\n")
    repo.add()
    done = repo.run("git", "commit", "--quiet", "--message", "Change it")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_in_a_bare_repository_nobody_is_told_to_make_another(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.git("init", "-q", "--bare", str(repo.root / "bare.git"))
    monkeypatch.chdir(repo.root / "bare.git")
    for command in (["init"], ["init", "--ci", "github"], ["check", "--all"]):
        assert run(command) == 2
        said = capsys.readouterr()
        assert "this repository is bare" in said.out + said.err and "git init" not in said.err, command

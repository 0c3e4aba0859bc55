from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from ahp.cli.main import cli, run
from tests.conftest import Repo

AHP = str(Path(sys.executable).with_name("ahp"))


@pytest.mark.parametrize(("shell", "mark"), [("bash", "complete -o"), ("zsh", "#compdef ahp"), ("fish", "complete --")])
def test_the_script_of_each_shell_is_printed(shell: str, mark: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert mark in out and "_AHP_COMPLETE" in out


def test_an_unknown_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "tcsh"]) == 2
    assert "bash" in capsys.readouterr().err


def test_triggers_and_rules_are_completed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)
    repo.write(".ahp/hooks.yaml", "rules: {big: {at: pre-commit, block: files.changed_count > 3}}")

    def completed(*typed: str) -> list[str]:
        *before, last = typed
        found = ShellComplete(cli, {}, "ahp", "_AHP_COMPLETE").get_completions(before, last)
        return [one.value for one in found]

    assert completed("check", "pre-c") == completed("explain", "pre-c") == ["pre-commit"]
    assert completed("skip", "b") == completed("try", "") == ["big"]
    repo.write(".ahp/hooks.yaml", "rules: {big: }")
    assert completed("try", "") == []


def test_commands_are_told_in_whole_sentences() -> None:
    def told(*before: str) -> dict[str, str | None]:
        found = ShellComplete(cli, {}, "ahp", "_AHP_COMPLETE").get_completions(list(before), "")
        return {one.value: one.help for one in found}

    assert told()["doctor"] == "is the gate really reached, and can it do its work"
    assert told("policy")["test"] == (
        "Run the policy's tests: FILEs, or all of .ahp/tests/*.yaml, against the project's policy or --policy."
    )


def test_fish_shows_a_sentence_past_its_comma(tmp_path: Path) -> None:
    fish = shutil.which("fish")
    if fish is None:
        pytest.skip("there is no fish here")
    script = f"""{AHP} completion fish | source
    function ahp; {AHP} $argv; end
    complete -C 'ahp do'; complete -C 'ahp log --sin'"""
    env = {"PATH": f"{Path(AHP).parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run([fish, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path, env=env)
    assert done.stdout.splitlines() == [
        "doctor\tis the gate really reached, and can it do its work",
        "--since\tA day, a time stamp, or an age like 2h or 14d.",
    ], done.stderr


def test_bash_completes_commands_subcommands_and_options(tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    script = f"""
source <({AHP} completion bash)
for words in "ahp ex" "ahp policy te" "ahp try --ran"; do
  COMP_WORDS=($words); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
  COMPREPLY=()
  _ahp_completion {AHP}
  echo "${{COMPREPLY[@]}}"
done
"""
    done = subprocess.run([bash, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout.splitlines()[-3:] == ["explain exec", "test", "--range"], done.stderr

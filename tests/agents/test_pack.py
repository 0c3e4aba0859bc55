"""Where an agent's hooks are put, rules judge what it does; and where none do, `ahp doctor` says so."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from ahp.agents import pack
from ahp.cli.main import run as ahp
from tests.agents.conftest import Ask, Call, found
from tests.conftest import Repo

UNBOXED = "\nrules:\n  in-a-box: {enabled: false}\n"  # as where no box can start
CORE = "# ours\nextends: [core]  # the usual\n"
TAKES_THE_GATE_AWAY = (
    "echo {} > .claude/settings.json",
    "git config core.hooksPath /dev/null",
    "rm .git/hooks/pre-commit",
    "ahp uninstall git",
)


def policy(project: Repo) -> str:
    return (project.root / ".ahp/hooks.yaml").read_text()


def told(project: Repo) -> tuple[str, str]:
    (check,) = pack.examine(found(project))
    return check.status, check.detail


@pytest.mark.slow
@pytest.mark.parametrize("order", [("init", "install"), ("install", "init")])
def test_an_agent_cannot_take_its_gate_away_after_init_and_install(
    project: Repo, ask: Ask, call: Call, order: tuple[str, str]
) -> None:
    words = {"init": ["init"], "install": ["install", "git", "claude"]}
    assert [ahp(words[step]) for step in order] == [0, 0]
    for number, command in enumerate(TAKES_THE_GATE_AWAY):
        said = ask(call("Bash", call=f"c{number}", command=command))
        # In a box it reaches none of that (tests/box); outside of one it is refused, or told.
        assert said.code == 2 or "ahp/box/start.py" in str(said.shown), command
    project.write(".ahp/hooks.yaml", policy(project).replace("\nrules:\n", UNBOXED, 1))
    for number, command in enumerate(TAKES_THE_GATE_AWAY):
        said = ask(call("Bash", call=f"u{number}", command=command))
        assert said.code == 2 or "outside-of-a-box" in said.text, command
    assert ask(call("Bash", call="c9", command="ls")).code == 0


def test_init_knows_an_agent_by_any_file_of_its_own(project: Repo) -> None:
    (project.root / ".claude").mkdir()
    assert ahp(["init"]) == 0 and "extends: [core, agents]" in policy(project)


def test_install_extends_the_policy_once_and_says_so(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    project.write(".ahp/hooks.yaml", CORE)
    assert ahp(["install", "claude", "codex"]) == 0
    assert capsys.readouterr().out.count("policy: .ahp/hooks.yaml now extends the pack agents") == 1
    assert policy(project) == CORE.replace("[core]", "[core, agents]")
    assert ahp(["install", "claude"]) == 0 and "policy:" not in capsys.readouterr().out
    assert policy(project) == CORE.replace("[core]", "[core, agents]")


def test_rules_of_ones_own_are_enough(project: Repo) -> None:
    own = "rules: {r: {at: pre-tool-use, block: tool.command == 'x', message: y}}\n"
    project.write(".ahp/hooks.yaml", own)
    assert pack.bring(found(project), "", user=False) == "" and policy(project) == own


def test_without_a_policy_init_is_named_and_head_s_counts(project: Repo) -> None:
    assert "ahp init" in pack.bring(found(project), "", user=False)
    assert not (project.root / ".ahp").exists()
    project.write(".ahp/hooks.yaml", "extends: [agents]\n")
    project.git("add", ".ahp")
    project.git("commit", "-qm", "policy")
    (project.root / ".ahp/hooks.yaml").unlink()
    assert pack.bring(found(project), "", user=False) == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{extends: [core], rules: {}, version: 1, x: 2}\n", "x"),
        ("a: b: c\n", "hooks.yaml:1"),
        (
            "limits: {plumbing: 3}\nrules: {r: {at: pre-commit, block: files.changed_count > limits.plumbing}}\n",
            "by hand",
        ),
    ],
)
def test_what_cannot_be_extended_stays_and_says_why(project: Repo, text: str, why: str) -> None:
    project.write(".ahp/hooks.yaml", text)
    said = pack.bring(found(project), "", user=False)
    assert "by hand" in said and why in said and policy(project) == text


def test_the_user_s_own_hooks_bring_it_into_the_user_s_own_policy(project: Repo, tmp_path: Path) -> None:
    project.write(".ahp/hooks.yaml", CORE)
    mine = tmp_path / "me/.ahp/hooks.yaml"
    assert f"{mine} now extends" in pack.bring(found(project), str(mine), user=True)
    assert mine.read_text() == "extends: [agents]\n" and policy(project) == CORE
    assert pack.bring(found(project), str(mine), user=True) == ""


def test_doctor_goes_by_the_committed_policy(project: Repo, home: Path) -> None:
    assert pack.examine(found(project)) == []
    project.write(".ahp/hooks.yaml", CORE)
    project.git("add", ".ahp")
    project.git("commit", "-qm", "policy")
    assert ahp(["install", "claude"]) == 0
    assert told(project) == ("note", "not committed yet, so they hold in this work tree alone")
    project.write(".ahp/hooks.yaml", CORE)
    status, detail = told(project)
    assert status == "note" and "no rule of the committed policy reads `tool` or `actor`" in detail
    (home / ".ahp").mkdir()
    (home / ".ahp/hooks.yaml").write_text("extends: [agents]\n")
    assert told(project) == ("ok", "in your own policy alone")
    (home / ".ahp/hooks.yaml").unlink()
    project.write(".ahp/hooks.yaml", CORE.replace("core", "agents"))
    project.git("commit", "-qam", "agents")
    assert told(project) == ("ok", "in the committed policy")


@pytest.mark.slow
def test_doctor_prints_it(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    project.write(".ahp/hooks.yaml", CORE)
    ahp(["install", "git", "claude"])
    project.write(".ahp/hooks.yaml", CORE)
    capsys.readouterr()
    ahp(["doctor", "--format", "json"])
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["agent rules"]["status"] == "note" and "ahp install" in checks["agent rules"]["mend"]


def test_a_session_that_read_a_secret_has_no_registries_in_its_box(
    project: Repo, ask: Ask, call: Call, home: Path
) -> None:
    project.write(".ahp/hooks.yaml", "extends: [agents]\n")
    (home / ".ssh").mkdir()
    (home / ".ssh/id").write_text("KEY\n")
    boxes = []
    for number, path in enumerate((str(project.root / "README"), str(home / ".ssh/id"))):
        assert ask(call("Read", call=f"r{number}", file_path=path)).code == 0
        asked = ask(call("Bash", call=f"b{number}", command="ls"))
        boxes.append(str(asked.shown))
    if "ahp/box/start.py" in boxes[0]:  # where a box can start
        assert "pypi.org" in boxes[0] and "ahp/box/start.py" in boxes[1] and "pypi.org" not in boxes[1]


def test_a_commit_is_told_what_wrote_its_files_unseen_and_that_a_hook_is_silent(
    project: Repo, ask: Ask, call: Call
) -> None:
    project.write(".ahp/hooks.yaml", "extends: [agents]\n")
    assert ahp(["install", "git", "claude"]) == 0
    project.add()
    project.git("commit", "-qm", "policy")
    agent = {"CLAUDECODE": "1"}
    told = project.run("git", "commit", "-q", "--allow-empty", "-m", "one", env=agent)
    assert told.returncode == 0 and "silent-hook" in told.stderr.decode()
    assert ask({**call("x"), "hook_event_name": "UserPromptSubmit", "prompt": "x"}).code == 0
    time.sleep(0.05)  # the clock of a file system may be behind
    project.write("unseen.txt", "x\n")
    time.sleep(0.05)
    assert ask(call("Bash", command="git commit -m two")).code == 0
    project.write("seen.txt", "x\n")
    project.add()
    told = project.run("git", "commit", "-q", "-m", "two", env=agent)
    assert told.returncode == 0 and "silent-hook" not in told.stderr.decode()
    assert "written-by-nobody-known" in told.stderr.decode() and "unseen.txt" in told.stderr.decode()
    assert " seen.txt" not in told.stderr.decode()

from __future__ import annotations

import json
import shlex

import pytest

from ahp.cli.main import run
from tests.conftest import Repo
from tests.tickets.memory import draft, place

POLICY = """\
version: 1
rules:
  open-boxes: {at: pre-issue-submit, block: checklist.incomplete_count > 0, fix: ["finish {checklist.incomplete}"]}
  small: {at: pre-issue-start, prompt: issue.type == 'feature', message: start small}
  told: {at: post-issue-submit, aid: issue.id != '', message: reviewers are told}
"""
PATH = place("FEAT-0001")
# Stands in for Monoco: says what it was called with, and ends as it is told.
MONOCO = '#!/bin/sh\necho "monoco $*"\nexit "${MONOCO_EXITS:-0}"\n'
UV = '#!/bin/sh\nshift\nexec "$@"\n'


@pytest.fixture
def lab(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    text = draft("FEAT-0001").replace("stage: draft", "stage: doing")
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, PATH: text})
    repo.git("checkout", "-q", "-b", "FEAT-0001-a-thing")
    repo.write("bin/monoco", MONOCO, 0o755)
    repo.write("bin/uv", UV, 0o755)
    monkeypatch.setenv("PATH", f"{repo.root}/bin:/usr/bin:/bin")
    monkeypatch.chdir(repo.root)
    return repo


def mend(lab: Repo) -> None:
    path = lab.root / PATH
    path.write_text(path.read_text().replace("[ ]", "[x]"))


SUBMITS = [
    "monoco issue submit FEAT-0001",
    "monoco issue submit --no-hooks feat-0001 --force",
    "monoco --root . issue submit FEAT-0001",
    "monoco issue submit",
    "monoco issue update FEAT-0001 --stage review",
    "monoco issue update FEAT-0001 --status closed",
    "uv run monoco issue submit FEAT-0001",
    "env A=b monoco issue submit FEAT-0001",
    "sh -c 'cd src && monoco --root .. issue submit FEAT-0001'",
    "sh -c 'A=b; monoco issue submit FEAT-0001; true'",
]


@pytest.mark.wings
@pytest.mark.parametrize("line", SUBMITS)
def test_a_submit_is_refused_however_it_is_wrapped(line: str, lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    (lab.root / "src").mkdir()
    assert run(["exec", "--", *shlex.split(line)]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert "refused by open-boxes" in err


@pytest.mark.slow
@pytest.mark.wings
@pytest.mark.parametrize("line", SUBMITS)
def test_what_is_allowed_runs_with_its_own_words_and_code(
    line: str, lab: Repo, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (lab.root / "src").mkdir()
    mend(lab)
    assert run(["exec", "--", *shlex.split(line)]) == 0
    out, err = capfd.readouterr()
    assert out.startswith("monoco ")
    assert "reviewers are told" in err
    monkeypatch.setenv("MONOCO_EXITS", "7")
    assert run(["exec", "--", "monoco", "issue", "submit", "FEAT-0001"]) == 7
    assert "reviewers are told" not in capfd.readouterr().err


@pytest.mark.parametrize("by", ["flag", "variable"])
def test_a_refusal_is_json_where_that_was_asked_for(
    by: str, lab: Repo, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if by == "variable":
        monkeypatch.setenv("AGENT_FLAG", "true")
    flag = ["--json"] if by == "flag" else []
    assert run(["exec", "--", "monoco", "issue", "submit", "FEAT-0001", *flag]) == 1
    told = json.loads(capfd.readouterr().out)
    assert (told["decision"], told["suggestions"]) == ("deny", ["finish 'It works'"])
    assert told["error"].startswith("pre-issue-submit refused by ahp: [open-boxes")


def test_a_warning_is_said_and_the_command_runs(lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["exec", "monoco", "issue", "start", "FEAT-0001"]) == 0
    out, err = capfd.readouterr()
    assert (out, "start small" in err) == ("monoco issue start FEAT-0001\n", True)


def test_every_gate_on_the_way_is_asked(lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    path = lab.root / PATH
    path.write_text(path.read_text().replace("stage: doing", "stage: draft"))
    assert run(["exec", "monoco", "issue", "update", "FEAT-0001", "--stage", "review"]) == 1
    err = capfd.readouterr().err
    assert "start small" in err
    assert "refused by open-boxes" in err


def test_a_command_that_moves_nothing_just_runs(lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["exec", "monoco", "issue", "list", "--json"]) == 0
    assert run(["exec", "--", "sh", "-c", "exit 3"]) == 3
    assert run(["exec", "--", "sh", "-c", "kill -9 $$"]) == 137
    assert capfd.readouterr().out == "monoco issue list --json\n"


@pytest.mark.wings
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("sh -c 'monoco issue submit $ID'", "write the id out"),
        ("monoco issue submit login", "is no issue id"),
        ("monoco issue submit FEAT-0404", "no ticket FEAT-0404"),
        ("monoco --root nowhere issue submit FEAT-0001", "there is no folder ./nowhere"),
        ("nothing-like-it x", "cannot start nothing-like-it"),
    ],
)
def test_what_cannot_be_judged_or_started_is_an_error(
    line: str, said: str, lab: Repo, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["exec", "--", *shlex.split(line)]) == 2
    out, err = capfd.readouterr()
    assert (out, said in err) == ("", True)


def test_a_branch_that_names_no_issue_is_an_error(lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    lab.git("checkout", "-q", "main")
    assert run(["exec", "monoco", "issue", "submit"]) == 2
    assert "names no issue" in capfd.readouterr().err


def test_outside_a_repository_an_update_is_an_error(
    lab: Repo, capfd: pytest.CaptureFixture[str], tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    assert run(["exec", "monoco", "issue", "update", "FEAT-0001", "--stage", "review"]) == 2
    assert "issues live in a git repository" in capfd.readouterr().err


def test_a_close_from_main_is_judged_by_the_branch_it_merges(lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    policy = "version: 1\nrules: {open-boxes: {at: pre-issue-close, block: checklist.incomplete_count > 0}}\n"
    lab.write(".ahp/hooks.yaml", policy)
    lab.git("commit", "-qam", "policy")
    lab.git("branch", "-f", "main")
    mend(lab)
    lab.git("commit", "-qam", "done")
    close = ["exec", "monoco", "issue", "close", "FEAT-0001", "-s", "implemented"]
    assert run(close) == 0
    lab.git("checkout", "-q", "main")
    assert run(close) == 0
    lab.git("branch", "-m", "FEAT-0001-a-thing", "other")
    assert run(close) == 1
    assert "refused by open-boxes" in capfd.readouterr().err

from __future__ import annotations

import json

import pytest

from ahp.cli.main import run
from tests.conftest import Repo
from tests.tickets.memory import draft, place

POLICY = """\
version: 1
rules:
  open-boxes: {at: pre-issue-submit, block: checklist.incomplete_count > 0, message: boxes are open}
  told: {at: post-issue-submit, aid: issue.stage == 'review', message: reviewers are told}
"""
PATH = place("FEAT-0001")


@pytest.fixture
def lab(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, PATH: draft("FEAT-0001")})
    monkeypatch.chdir(repo.root)
    return repo


def test_an_issue_is_made_told_and_taken_to_review(lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["issue", "new", "fix", "Crash on empty name", "--needs", "FEAT-0001", "-c", "high"]) == 0
    path = "Issues/Fixes/open/FIX-0001-crash-on-empty-name.md"
    assert capfd.readouterr().out == path + "\n"
    assert "- FEAT-0001\n" in (lab.root / path).read_text()

    assert run(["issue", "start", "FEAT-0001"]) == 0
    assert capfd.readouterr() == ("", "")
    assert run(["issue", "submit", "FEAT-0001"]) == 1
    assert "boxes are open" in capfd.readouterr().err
    text = (lab.root / PATH).read_text()
    (lab.root / PATH).write_text(text.replace("[ ]", "[x]"))
    assert run(["issue", "submit", "FEAT-0001"]) == 0
    out, err = capfd.readouterr()
    assert (out, "reviewers are told" in err) == ("", True)
    assert run(["issue", "close", "FEAT-0001", "--solution", "implemented"]) == 0
    assert (lab.root / place("FEAT-0001", "closed")).exists()


def test_an_agent_reads_the_short_words(
    lab: Repo, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["issue", "start", "FEAT-0001"])
    monkeypatch.setenv("CLAUDECODE", "1")
    assert run(["issue", "submit", "FEAT-0001"]) == 1
    assert capfd.readouterr().err.startswith("ahp blocked: open-boxes")


def test_json_tells_the_verdicts(lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["issue", "start", "FEAT-0001", "--format", "json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["decision"], told["branch"], told["path"]) == ("allow", "FEAT-0001-a-thing", PATH)
    assert run(["issue", "submit", "FEAT-0001", "--format", "json"]) == 1
    told = json.loads(capfd.readouterr().out)
    assert (told["decision"], told["path"], told["after"]) == ("deny", None, None)
    assert told["before"]["signals"][0]["header"]["source"] == "open-boxes"


def test_a_person_at_a_terminal_is_told_what_was_done(
    lab: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert run(["issue", "start", "FEAT-0001"]) == 0
    assert capsys.readouterr().out == "FEAT-0001 is in doing, on branch FEAT-0001-a-thing\n"


def test_what_follows_but_fails_is_said(
    lab: Repo, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ahp.hosts.issue._follow", lambda moved: moved.notes.append("no journal"))
    assert run(["issue", "start", "FEAT-0001"]) == 0
    assert capfd.readouterr().err == "ahp: no journal\n"


def test_the_list_is_a_table_or_json(lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    lab.write(place("FEAT-0010"), draft("FEAT-0010").replace("stage: draft", "stage: doing") + "- [x] b\n")
    closed = draft("FEAT-0002").replace("status: open", "status: closed").replace("stage: draft", "stage: done")
    lab.write(place("FEAT-0002", "closed"), closed)
    assert run(["issue", "list"]) == 0
    assert capfd.readouterr().out == "FEAT-0001  draft  0/1  A thing\nFEAT-0010  doing  1/2  A thing\n"
    assert run(["issue", "list", "--all", "--stage", "closed"]) == 0
    assert capfd.readouterr().out == "FEAT-0002  closed  0/1  A thing\n"
    assert run(["issue", "list", "--stage", "DOING", "--format", "json"]) == 0
    assert [row["id"] for row in json.loads(capfd.readouterr().out)] == ["FEAT-0010"]
    assert run(["issue", "list", "--stage", "nowhere"]) == 0
    assert capfd.readouterr().out == ""


def test_a_ticket_that_cannot_be_read_fails_the_list(lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    lab.write(place("FEAT-0002"), "no front matter")
    assert run(["issue", "list"]) == 2
    out, err = capfd.readouterr()
    assert out.startswith("FEAT-0001")
    assert err.startswith(f"ahp: {place('FEAT-0002')}:1: has no front matter")


def test_one_ticket_is_shown_whole(lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    lab.write(PATH, draft("FEAT-0001", "FEAT-0404") + "- [~] given up\x1b[31m\n")
    assert run(["issue", "show", "feat-0001"]) == 0
    out = capfd.readouterr().out
    assert "unmet dependencies: FEAT-0404\n" in out
    assert "  [ ] acceptance-1: It works\n  [~] acceptance-2: given up" in out
    assert "\x1b" not in out
    assert run(["issue", "show", "FEAT-0001", "--format", "json"]) == 0
    assert json.loads(capfd.readouterr().out)["dependencies"] == ["FEAT-0404"]


def test_lint_says_what_is_wrong(lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["issue", "lint"]) == 0
    assert capfd.readouterr().out == ""
    lab.write(PATH, draft("FEAT-0001", "FEAT-0404"))
    assert run(["issue", "lint"]) == 1
    assert capfd.readouterr().out == f"{PATH}:7: it depends on FEAT-0404, and there is no such ticket\n"
    assert run(["issue", "lint", "--format", "json"]) == 1
    assert json.loads(capfd.readouterr().out)[0]["line"] == 7


def test_errors_have_the_exit_code_of_errors(lab: Repo, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["issue", "submit", "FEAT-0001"]) == 2
    assert capfd.readouterr().err == f"ahp: {PATH}: cannot submit FEAT-0001, which is in `draft`: start it first\n"

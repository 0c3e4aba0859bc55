"""`ahp report` as a person types it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ahp.cli.main import run
from ahp.insight.page import writing
from ahp.system import clock, environ
from tests.conftest import Repo
from tests.insight import example


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with the log of twelve weeks and a waiver; charts are not drawn."""
    monkeypatch.chdir(repo.root)
    monkeypatch.setattr(clock, "now", lambda: example.END)
    monkeypatch.setattr(writing, "draw", lambda spec: "")
    example.write(repo.root / ".git" / "ahp")
    line = "- {rule: size, subject: '*', reason: a move, approver: mei, expires: 2026-04-01}\n"
    repo.commit("first", **{".ahp/waivers.yaml": line})
    return repo


def page(project: Repo, *arguments: str) -> str:
    assert run(["report", "--html", "out.html", *arguments]) == 0
    return (project.root / "out.html").read_text("utf-8")


def test_a_page_in_the_language_of_the_terminal(
    project: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = page(project)
    assert capsys.readouterr().out == "wrote out.html\n"
    assert '<html lang="en">' in text and "1,062 times and refused 152" in text and "2026-04-01" in text
    assert "2 days" in text and "mei" in text
    monkeypatch.setattr(environ, "current", lambda: {**os.environ, "LC_ALL": "", "LANG": "zh_CN.UTF-8"})
    assert '<html lang="zh-Hans">' in page(project)
    assert '<html lang="en">' in page(project, "--language", "en")
    capsys.readouterr()
    assert run(["report", "--html", "-", "--language", "en"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>") and not (project.root / "-").exists()


def test_of_the_last_days(project: Repo) -> None:
    one = page(project, "--since", "14d")
    assert "16 March 2026" in one  # where the fortnight begins


def test_waivers_are_those_of_the_committed_policy(project: Repo) -> None:
    project.write(".ahp/waivers.yaml", "[]\n")
    assert "a move" in page(project)
    project.commit("with its rule", **{".ahp/hooks.yaml": example.POLICY})
    assert "2 days" in page(project) and "does not hold" not in page(project)
    gone = "version: 1\nrules: {other: {at: pre-commit, prompt: files.changed_count > 5}}\n"
    project.commit("without it", **{".ahp/hooks.yaml": gone})
    assert "2 days" not in (text := page(project)) and "does not hold" in text
    project.commit("second", **{".ahp/waivers.yaml": "- {rule: x}\n"})
    assert "The waivers cannot be read: .ahp/waivers.yaml:1" in page(project)


def test_outside_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bare").mkdir()
    monkeypatch.chdir(tmp_path / "bare")
    assert run(["report", "--html", "out.html"]) == 0
    text = Path("out.html").read_text("utf-8")
    assert "there is no git repository here" in text and "nothing for this time yet" in text


def test_no_log_is_written_over(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    log = project.root / ".git" / "ahp" / "signals.jsonl"
    before = log.read_bytes()
    copy = project.root / "copy.jsonl"
    copy.write_bytes(before)
    assert run(["report", "--html", str(log)]) == 2
    assert "would be among the files of the log itself; name another folder" in capsys.readouterr().err
    assert run(["report", "--html", "copy.jsonl", "--from", "./copy.jsonl"]) == 2
    assert "copy.jsonl is what is read; name another file" in capsys.readouterr().err
    assert log.read_bytes() == copy.read_bytes() == before


def test_what_cannot_be_written_is_said(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--html", "no/such/out.html"]) == 2
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--html", "x", "--audit"],
        ["--html", "x", "HEAD"],
        ["--html", "x", "--format", "json"],
        ["--audit", "--since", "14d"],
    ],
)
def test_options_that_do_not_go_together(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", *arguments]) == 2
    assert "ahp report" in capsys.readouterr().err or arguments


def test_the_audit_in_two_forms(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    project.git("commit", "-q", "--allow-empty", "-m", "=1+1\n\nAhp-Override: what I like")
    assert run(["report", "--audit", "HEAD~1..HEAD"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "HEAD~1..HEAD: 1 commit, 0 judged here, 1 not; 1 exemption"
    assert "the log of this clone begins on 2026-01-05; it is evidence, not proof: ahp log verify" in out
    assert "\n  not judged here\n" in out and max(map(len, out.splitlines())) <= 100
    assert run(["report", "--audit", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["subject"] for one in told["commits"]] == ["=1+1", "first"] and told["range"] is None
    assert told["commits"][0]["exemptions"][0]["kind"] == "override" and not told["commits"][0]["judged_here"]


def test_a_range_that_git_does_not_know(project: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--audit", "HEAD..HEAD"]) == 0
    assert capsys.readouterr().out == "there is no commit in HEAD..HEAD\n"
    assert run(["report", "--audit", "no..such"]) == 2
    assert "ahp: " in capsys.readouterr().err

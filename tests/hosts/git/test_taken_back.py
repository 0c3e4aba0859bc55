"""What a merge takes back of what others did is judged at the commit, at the push, in CI and on a server."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ahp.cli import main
from tests.conftest import Repo
from tests.hosts.git.gated import SILENT, Gated

POLICY = """\
version: 1
rules:
  secret:
    at: pre-commit
    each: l in diff.added
    block: contains(l.text, 'SECRET')
    finding: {file: l.path, line: l.line}
    message: a secret
  closed: {at: pre-commit, block: "any(glob(f, 'auth/') for f in files.changed)"}
  wide: {at: pre-commit, prompt: files.changed_count > 9, message: "{files.changed_count} files"}
"""
CI = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "JENKINS_URL", "BUILDKITE", "TF_BUILD", "GITHUB_STEP_SUMMARY")


@pytest.fixture
def work(gated: Gated) -> Gated:
    """On `topic`, begun before `origin` took a secret out and closed a check."""
    gated.git("init", "-q", "--bare", "../remote.git")
    gated.git("remote", "add", "origin", "../remote.git")
    gated.git(*SILENT, "commit", "-q", "--allow-empty", "-m", "begin")
    gated.write("cfg", "SECRET\n")
    gated.write("auth/check", "none\n")
    gated.add()
    gated.git(*SILENT, "commit", "-q", "-m", "old")
    gated.git("branch", "topic")
    gated.commit_policy(POLICY)
    gated.git("rm", "-q", "cfg")
    gated.write("auth/check", "strict\n")
    gated.add()
    gated.git(*SILENT, "commit", "-q", "-m", "fix")
    gated.git("push", "-q", "--no-verify", "origin", "main")
    gated.git("remote", "set-head", "origin", "main")
    gated.git("checkout", "-q", "topic")
    gated.write("own", "w\n")
    gated.add("own")
    gated.git(*SILENT, "commit", "-q", "-m", "work")
    return gated


def keep_ours(work: Gated) -> None:
    work.git(*SILENT, "merge", "-q", "-s", "ours", "-m", "merge", "main")


def an_ancestor(work: Gated) -> None:
    old = work.git("rev-parse", "topic~1")
    made = work.git("commit-tree", "-p", "main", "-p", old, "-m", "merge", f"{old}^{{tree}}")
    work.git("reset", "-q", "--hard", made)


def an_ancestor_first(work: Gated) -> None:
    old = work.git("rev-parse", "topic~1")
    made = work.git("commit-tree", "-p", old, "-p", "main", "-m", "merge", f"{old}^{{tree}}")
    work.git("reset", "-q", "--hard", made)


WAYS = pytest.mark.parametrize("way", [keep_ours, an_ancestor, an_ancestor_first])


@WAYS
def test_a_push_of_what_a_merge_takes_back_is_refused(work: Gated, way: Callable[[Gated], None]) -> None:
    way(work)
    merge = work.head()
    said = work.say("push", "-q", "origin", "topic")
    assert said.code == 1 and f"  {merge[:10]} cfg:1" in said.text and "refused by closed" in said.text
    assert f"merge {merge[:10]} is not what git itself makes of its parents" in said.text


@WAYS
def test_ci_refuses_what_a_merge_takes_back(
    work: Gated, way: Callable[[Gated], None], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in CI:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(work.root)
    way(work)
    merge = work.head()
    assert main.run(["ci", "--to", "topic", "--target", "main"]) == 1
    said = capsys.readouterr().out
    assert f"  cfg:1: commit {merge[:10]}" in said and "refused by closed" in said
    assert f"merge {merge[:10]} is not what git itself makes of its parents" in said


@pytest.mark.slow
@WAYS
def test_a_server_refuses_what_a_merge_takes_back(work: Gated, way: Callable[[Gated], None], tmp_path: Path) -> None:
    way(work)
    command = f"exec {Path(sys.executable).parent / 'ahp'} hook pre-receive --limit 600"
    server = Repo(work.root.parent / "remote.git")
    server.write("hooks/pre-receive", f"#!/bin/sh\n{command}\n", 0o755)
    before = server.git("count-objects")
    done = work.run("git", "push", "--no-verify", "-q", "origin", "topic:main")
    assert done.returncode == 1 and b"refused by secret" in done.stderr and b"refused by closed" in done.stderr
    assert server.git("count-objects") == before, "what git made of the parents stayed on the server"
    work.git("reset", "-q", "--hard", "topic@{1}")
    work.git(*SILENT, "merge", "-q", "--no-edit", "main")
    done = work.run("git", "push", "--no-verify", "-q", "origin", "topic:main")
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_merge_that_git_makes_passes_everywhere_in_silence(
    work: Gated, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in CI:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(work.root)
    said = work.say("merge", "-q", "--no-edit", "main")
    assert (said.code, said.text) == (0, "")
    said = work.say("push", "-q", "origin", "topic")
    assert (said.code, said.text) == (0, "")
    assert main.run(["ci", "--to", "topic", "--target", "main"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_merge_commit_that_takes_back_is_refused_where_it_is_made(work: Gated) -> None:
    before = work.head()
    said = work.say("merge", "-q", "-s", "ours", "-m", "merge", "origin/main")
    assert said.code != 0 and "refused by secret" in said.text and "cfg:1" in said.text, said.text
    assert "this merge is not what git itself makes of its parents" in said.text
    assert work.head() == before
    work.run("git", "merge", "--abort")
    work.run("git", "reset", "-q", "--hard")
    work.git("merge", "-q", "-s", "ours", "--no-commit", "origin/main")
    said = work.say("commit", "-q", "-m", "merge")
    assert said.code == 1 and "refused by closed" in said.text
    assert list(Path(tempfile.gettempdir()).glob("ahp-merge-*")) == []


def test_a_conflict_that_is_resolved_with_both_sides_is_told_once(work: Gated) -> None:
    work.git("reset", "-q", "--hard", "HEAD~1")
    work.write("cfg", "SECRET\nmore\n")
    work.add("cfg")
    work.git(*SILENT, "commit", "-q", "-m", "own cfg")
    assert work.run("git", "merge", "-q", "main").returncode
    work.write("cfg", "more\n")
    work.add("cfg")
    said = work.say("commit", "-q", "-m", "merge")
    assert (said.code, said.text) == (0, "")
    said = work.say("push", "-q", "origin", "topic")
    assert (said.code, said.text) == (0, "")


def test_what_an_earlier_merge_took_back_is_told_of_that_merge_once(work: Gated) -> None:
    keep_ours(work)
    first = work.head()
    said = work.say("commit", "-q", "--allow-empty", "-m", "later")
    work.git(*SILENT, "checkout", "-q", "main")
    work.write("fresh", "m\n")
    work.add("fresh")
    work.git(*SILENT, "commit", "-q", "-m", "main goes on")
    work.git("checkout", "-q", "topic")
    said = work.say("merge", "-q", "--no-edit", "main")
    assert (said.code, said.text) == (0, ""), "git makes this merge; the first one is told of at the push"
    said = work.say("push", "-q", "origin", "topic")
    assert said.code == 1 and said.text.count("cfg:1") == 1 and f"{first[:10]} cfg:1" in said.text


def test_a_check_amid_a_conflict_is_told_what_is_staged(
    work: Gated, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(work.root)
    work.write("auth/check", "own\n")
    work.add("auth/check")
    work.git(*SILENT, "commit", "-q", "-m", "own check")
    assert work.run("git", "merge", "-q", "main").returncode
    assert main.run(["check", "pre-commit"]) in (0, 1), capsys.readouterr()
    assert list(Path(tempfile.gettempdir()).glob("ahp-merge-*")) == []

"""The real Monoco 0.4.2 through the gate. `make test-tools`; AHP_TEST_MONOCO names a `monoco` that is there already."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Repo

pytestmark = pytest.mark.tools

AHP = str(Path(sys.executable).with_name("ahp"))
POLICY = """\
version: 1
rules:
  open-boxes: {at: pre-issue-submit, block: checklist.incomplete_count > 0, fix: ["finish {checklist.incomplete}"]}
  unreviewed: {at: pre-issue-close, block: checklist.acceptance.incomplete_count > 0}
  told: {at: post-issue-submit, aid: issue.stage == 'review', message: reviewers are told}
"""
ID = "FEAT-0001"


@pytest.fixture(scope="session")
def monoco(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of the real command, in an environment of its own."""
    given = os.environ.get("AHP_TEST_MONOCO")
    if given:
        return str(Path(given).parent)
    place = tmp_path_factory.mktemp("monoco")
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    subprocess.run([str(place / "bin/pip"), "install", "-q", "monoco-toolkit==0.4.2"], check=True)
    return str(place / "bin")


@pytest.fixture
def lab(repo: Repo, home: Path, monoco: str, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A Monoco project with one issue, all tasks done and an acceptance criterion open.

    Open tasks Monoco refuses by itself, so that a dead gate would look alive.
    """
    monkeypatch.setenv("PATH", f"{monoco}:{os.environ['PATH']}")
    (home / ".monoco").mkdir()
    (home / ".monoco/config.yaml").write_text("core:\n  author: lab\ntelemetry:\n  enabled: false\n")
    done(repo, "monoco", "init", "--project", "--name", "Lab", "--key", "LAB")
    repo.commit("bootstrap", **{".gitignore": ".references/\n", ".ahp/hooks.yaml": POLICY})
    repo.add()
    repo.commit("tools")
    done(repo, "monoco", "issue", "create", "feature", "-t", "Add login page")
    repo.add()
    repo.commit("issue")
    done(repo, AHP, "exec", "--", "monoco", "issue", "start", ID)
    assert repo.git("symbolic-ref", "--short", "HEAD").startswith(ID)
    edit(repo, "- [ ] Criteria 1", "- [ ] A user can sign in")
    edit(repo, "- [ ] Task 1", "- [x] Write the form")
    edit(repo, "<!-- Required for Review/Done stage. Record review feedback here. -->", "- none yet")
    repo.write("src/app.py")
    repo.add()
    repo.commit("work")
    return repo


def done(repo: Repo, *argv: str) -> str:
    ended = repo.run(*argv)
    assert ended.returncode == 0, os.fsdecode(ended.stdout + ended.stderr)
    return os.fsdecode(ended.stdout + ended.stderr)


def ticket(repo: Repo) -> Path:
    [path] = repo.root.glob(f"Issues/Features/*/{ID}-*.md")
    return path


def edit(repo: Repo, old: str, new: str) -> None:
    text = ticket(repo).read_text()
    assert old in text
    ticket(repo).write_text(text.replace(old, new))


def stage(repo: Repo) -> str:
    return next(line for line in ticket(repo).read_text().splitlines() if line.startswith("stage: "))


def test_an_issue_passes_the_gate_by_the_wrapper(lab: Repo) -> None:
    head = lab.head()
    for line in (
        ["monoco", "issue", "submit", ID],
        ["monoco", "issue", "submit", ID, "--no-hooks"],
        ["monoco", "--root", ".", "issue", "submit", ID],
        ["monoco", "issue", "update", ID, "--stage", "review"],
        ["sh", "-c", f"A=b monoco issue submit {ID}"],
    ):
        refused = lab.run(AHP, "exec", "--", *line)
        assert (refused.returncode, refused.stdout) == (1, b"")
        assert b"refused by open-boxes" in refused.stderr
        assert (stage(lab), lab.head(), lab.git("status", "--porcelain")) == ("stage: doing", head, "")
    told = json.loads(lab.run(AHP, "exec", "--", "monoco", "issue", "submit", ID, "--json").stdout)
    assert (told["decision"], told["suggestions"]) == ("deny", ["finish 'A user can sign in'"])

    edit(lab, "- [ ] A user can sign in", "- [x] A user can sign in")
    lab.git("commit", "-qam", "mended")
    assert "reviewers are told" in done(lab, AHP, "exec", "--", "monoco", "issue", "submit", ID)
    assert stage(lab) == "stage: review"
    lab.add()
    lab.commit("delivered")
    lab.git("checkout", "-q", "main")
    done(lab, AHP, "exec", "--", "monoco", "issue", "close", ID, "-s", "implemented")
    assert (stage(lab), ticket(lab).parent.name) == ("stage: done", "closed")


def test_a_submit_that_went_round_the_gate_is_refused_at_the_push(lab: Repo, tmp_path: Path) -> None:
    lab.git("init", "-q", "--bare", str(tmp_path / "remote"))
    lab.git("remote", "add", "origin", str(tmp_path / "remote"))
    lab.git("push", "-q", "origin", "main")
    done(lab, AHP, "install", "git")
    done(lab, "monoco", "issue", "submit", ID, "--no-hooks")
    assert stage(lab) == "stage: review"
    lab.git("add", "-A")
    lab.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "sneaked")
    refused = lab.run("git", "push", "-q", "origin", "HEAD")
    assert refused.returncode == 1
    assert b"refused by open-boxes" in refused.stderr
    edit(lab, "- [ ] A user can sign in", "- [x] A user can sign in")
    lab.git("commit", "-qam", "mended")
    done(lab, "git", "push", "-q", "origin", "HEAD")

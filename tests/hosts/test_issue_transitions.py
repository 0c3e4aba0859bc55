from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.cli.main import run
from ahp.facts.gather import gather
from ahp.hosts.issue_transitions import gates_of
from ahp.protocol.event import Actor, Event, Workspace
from ahp.system import clock
from ahp.system.git import discover
from ahp.system.history import RangeView
from ahp.tickets.frontmatter import TicketError
from tests.conftest import Repo
from tests.tickets.memory import draft, place

PATH = place("FEAT-0001")
POLICY = """\
version: 1
rules:
  open-boxes: {at: pre-issue-submit, block: checklist.incomplete_count > 0, message: boxes are open}
"""


def at(stage: str, issue: str = "FEAT-0001", status: str = "open") -> str:
    return draft(issue).replace("stage: draft", f"stage: {stage}").replace("status: open", f"status: {status}")


def gates(repo: Repo, old: str, new: str = "HEAD") -> list[tuple[str, str | None]]:
    found = discover(str(repo.root), dict(os.environ))
    view = RangeView(found, repo.git("rev-parse", old), repo.git("rev-parse", new))
    event = Event("pre-push", "git", Actor("human"), Workspace(found.root, "", {}, found), clock.monotonic() + 60)
    event.view = view
    events = gates_of(event)
    assert all(gate.subject == gate.issue for gate in events)
    assert all(gate.view is view or gate.trigger == "pre-issue-close" for gate in events)
    return [(gate.trigger.removeprefix("pre-issue-"), gate.issue) for gate in events]


def test_every_gate_between_the_old_and_the_new_stage_is_asked_on_the_tip(repo: Repo) -> None:
    first = repo.commit("first", **{PATH: at("draft")})
    repo.commit("on", **{PATH: at("doing")})
    repo.commit("on", **{PATH: at("review"), place("FEAT-0010"): at("doing", "FEAT-0010")})
    (repo.root / "Issues/login.md").write_text(at("doing", "FEAT-0002"))
    repo.add()
    repo.commit("another", **{"Issues/README.md": "# Tickets\n", "src/FEAT-0009.md": at("review", "FEAT-0009")})
    assert gates(repo, first) == [
        ("start", "FEAT-0001"),
        ("submit", "FEAT-0001"),
        ("start", "FEAT-0002"),
        ("start", "FEAT-0010"),
    ]
    assert gates(repo, "HEAD") == []
    tree = repo.git("hash-object", "-t", "tree", "--stdin")
    assert gates(repo, tree)[:2] == [("start", "FEAT-0001"), ("submit", "FEAT-0001")]


def test_a_ticket_that_is_moved_is_known_by_its_id(repo: Repo) -> None:
    first = repo.commit("first", **{PATH: at("review")})
    repo.git("rm", "-q", PATH)
    repo.commit("closed", **{place("FEAT-0001", "closed"): at("done", status="closed")})
    assert gates(repo, first) == [("close", "FEAT-0001")]


def test_going_back_needs_no_gate(repo: Repo) -> None:
    first = repo.commit("first", **{PATH: at("review")})
    repo.commit("back", **{PATH: at("doing")})
    assert gates(repo, first) == []


def test_a_ticket_that_is_deleted_or_moved_out_is_closed_as_it_last_was(repo: Repo) -> None:
    names = ("FEAT-0001", "FEAT-0002", "FEAT-0003", "FEAT-0004")
    stages = ("doing", "draft", "done", "doing")
    first = repo.commit("first", **{place(n): at(s, n) for n, s in zip(names, stages, strict=True)})
    repo.git("rm", "-q", PATH, place("FEAT-0003"))
    repo.git("mv", place("FEAT-0002"), "notes.md")
    repo.write("shop/.monoco/project.yaml", "")
    repo.write(f"shop/{place('FEAT-0004')}", at("doing", "FEAT-0004"))
    repo.git("rm", "-q", place("FEAT-0004"))
    repo.add()
    repo.commit("away")
    assert [gate for gate in gates(repo, first) if gate[0] == "close"] == [
        ("close", "FEAT-0001"),
        ("close", "FEAT-0002"),
    ]


def test_a_ticket_that_is_given_up_passes_the_last_gate_alone(repo: Repo) -> None:
    first = repo.commit("first", **{PATH: at("doing")})
    closed = at("done", status="closed").replace("files:", "solution: wontfix\nfiles:")
    repo.commit("given up", **{PATH: closed})
    assert gates(repo, first) == [("close", "FEAT-0001")]
    repo.commit("not so", **{PATH: closed.replace("wontfix", "implemented")})
    assert gates(repo, first) == [("submit", "FEAT-0001"), ("close", "FEAT-0001")]


def test_a_ticket_that_could_not_be_read_stood_nowhere_and_may_not_stay_so(repo: Repo) -> None:
    first = repo.commit("first", **{PATH: "broken"})
    second = repo.commit("mended", **{PATH: at("doing")})
    assert gates(repo, first) == [("start", "FEAT-0001")]
    repo.commit("broken again", **{PATH: "broken"})
    with pytest.raises(TicketError, match="has no front matter"):
        gates(repo, second)


def test_a_push_that_moves_an_issue_past_its_gate_is_refused(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.git("init", "-q", "--bare", str(tmp_path / "remote"))
    repo.git("remote", "add", "origin", str(tmp_path / "remote"))
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, PATH: at("doing")})
    repo.git("push", "-q", "origin", "main")
    monkeypatch.chdir(repo.root)
    assert run(["install", "git"]) == 0
    repo.commit("sneak", "--no-verify", **{PATH: at("review")})
    refused = repo.run("git", "push", "-q", "origin", "main")
    assert refused.returncode == 1
    assert b"boxes are open" in refused.stderr
    repo.commit("mended", **{PATH: at("review").replace("[ ]", "[x]")})
    assert repo.run("git", "push", "-q", "origin", "main").returncode == 0


def test_a_project_in_a_folder_has_gates_of_its_own(repo: Repo) -> None:
    first = repo.commit("first", **{PATH: at("doing"), "shop/.monoco/project.yaml": "", f"shop/{PATH}": at("draft")})
    repo.commit("on", **{f"shop/{PATH}": at("doing")})
    assert gates(repo, first) == [("start", "FEAT-0001")]


def test_the_gate_of_a_ticket_that_is_gone_reads_what_it_was(repo: Repo) -> None:
    policy = POLICY.replace("pre-issue-submit", "pre-issue-close")
    first = repo.commit("first", **{".ahp/hooks.yaml": policy, PATH: at("doing")})
    repo.git("rm", "-q", PATH)
    repo.commit("away")
    found = discover(str(repo.root), dict(os.environ))
    event = Event("pre-push", "git", Actor("human"), Workspace(found.root, "", {}, found), clock.monotonic() + 60)
    event.view = RangeView(found, first, "HEAD")
    (gate,) = gates_of(event)
    facts, missing = gather({"checklist": ["incomplete_count", "removed"], "issue": ["solution"]}, gate, {})
    assert missing == {}
    assert facts == {"checklist.incomplete_count": 1, "checklist.removed": [], "issue.solution": "implemented"}

"""A push that is asked about is judged as git's own: its range, its commits and its tickets, as one verdict."""

from __future__ import annotations

from ahp.hosts.api import Gate
from tests.hosts.git.gated import SILENT, Gated
from tests.tickets.memory import draft, place

POLICY = """\
version: 1
rules:
  look: {at: pre-push, prompt: push.commit_count > 0, message: "{push.commit_count} new"}
  secret: {at: pre-commit, each: l in diff.added, block: l.text == 'SECRET', message: a secret}
  open: {at: pre-issue-submit, block: checklist.incomplete_count > 0, message: boxes are open}
"""
TICKET = place("FEAT-0001")


def told(gate: Gate) -> tuple[str, list[tuple[str, str]]]:
    verdict = gate.judge("pre-push", dry=True)
    return verdict.decision, [(str(one.context["rule"]), one.intensity) for one in verdict.signals]


def test_range_commits_and_tickets_give_one_verdict(gated: Gated) -> None:
    gated.git("init", "-q", "--bare", "../remote.git")
    gated.git("remote", "add", "origin", "../remote.git")
    gated.commit_policy(POLICY)
    gated.write(TICKET, draft("FEAT-0001"))
    gated.add()
    gated.git(*SILENT, "commit", "-q", "-m", "a ticket")
    gated.git("push", "-q", "--no-verify", "-u", "origin", "main")
    gate = Gate(gated.root)
    before = gated.log()
    assert told(gate) == ("allow", [])
    gated.write("a", "SECRET\n")
    gated.add()
    gated.git(*SILENT, "commit", "-q", "-m", "a key")
    assert told(gate) == ("deny", [("look", "prompt"), ("secret", "block")])
    gated.git("reset", "-q", "--hard", "HEAD~1")
    gated.write(TICKET, draft("FEAT-0001").replace("stage: draft", "stage: review"))
    gated.add()
    gated.git(*SILENT, "commit", "-q", "-m", "to be looked at")
    assert told(gate) == ("deny", [("look", "prompt"), ("open", "block")])
    assert gated.log() == before
    assert gate.judge("pre-push").denied
    assert {one["rule"] for one in gated.log("signal")} == {"look", "open"}
    assert gated.say("push", "-q", "origin", "main").code == 1

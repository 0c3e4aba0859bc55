"""A change of nothing but the policy is stopped only by what guards the policy (authority §2.5)."""

from __future__ import annotations

import os

import pytest

from ahp.gate.decide import decide
from ahp.protocol.event import Actor, Event, PushRef, Workspace
from ahp.protocol.signals import reason_of
from ahp.protocol.verdict import Verdict
from ahp.system import clock, git
from ahp.system.history import RangeView
from ahp.system.view import IndexView
from tests.conftest import Repo
from tests.gate.conftest import signals

WRONG = "files.changed_count > 0"
POLICY = """\
version: 1
extends: [more.yaml]
escalation: {ladder: [prompt, block], after: 1}
limits: {word: SECRET}
rules:
  wrong: {at: [pre-commit, pre-push, pre-issue-submit], block: files.changed_count > 0, message: wrong, fix: [do this]}
  broken: {at: pre-commit, control: files.changed_count > 0, action: {type: run, command: ["false"]}, message: broken}
  nags: {at: pre-commit, prompt: files.changed_count > 0, message: nags}
  locked: {at: pre-commit, block: "'locked.txt' in files.added or files.changed_count > 9", locked: true}
  secrets: {at: pre-commit, each: l in diff.added, block: "matches(l.text, limits.word)", severity: high}
  weaker: {at: pre-commit, block: policy.weakened}
  whose: {at: pre-commit, block: "branch.name == 'main'", severity: high}
"""


@pytest.fixture
def governed(repo: Repo) -> Repo:
    """A repository whose policy is committed."""
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, ".ahp/more.yaml": "version: 1\n"})
    return repo


def event(repo: Repo, trigger: str = "pre-commit", kind: str = "human") -> Event:
    found = git.discover(str(repo.root), dict(os.environ))
    where = Workspace(str(repo.root), str(repo.root / ".git" / "ahp"), dict(os.environ), found)
    os.makedirs(where.journal, exist_ok=True)
    made = Event(trigger, "git", Actor(kind, "ann"), where, clock.monotonic() + 60, subject="main")
    return made.but(view=IndexView(found), attempt=os.urandom(4).hex())


def judge(repo: Repo, trigger: str = "pre-commit", **more: object) -> Verdict:
    return decide(event(repo, trigger).but(**more))


def test_only_guards_stop_a_change_of_the_policy_alone(governed: Repo) -> None:
    governed.write(".ahp/tests/t.yaml", "- {name: SECRET, trigger: pre-push, expect: {}}\n")
    governed.write(".ahp/more.yaml", "version: 1\nlimits: {unused: 3}\n")
    governed.add()
    verdict = judge(governed)
    assert dict(signals(verdict)) == {
        "wrong": "prompt",
        "broken": "prompt",
        "nags": "prompt",
        "secrets": "block",
        "whose": "prompt",
    }
    (wrong,) = [one for one in verdict.signals if one.context["rule"] == "wrong"]
    assert reason_of(wrong.payload) == "wrong; this changes only the policy, so it may go on"


def test_a_file_beside_the_policy_makes_it_an_ordinary_change(governed: Repo) -> None:
    governed.write(".ahp/more.yaml", "version: 1\nlimits: {unused: 3}\n")
    governed.add()
    assert judge(governed).decision == "warn"
    for name in ("a.txt", ".ahp/notes.md", ".ahp/not-extended.yaml"):
        governed.write(name)
        governed.add()
        assert judge(governed).denied, name
        governed.git("rm", "-q", "-f", name)
    governed.git("mv", ".ahp/more.yaml", "more.yaml")
    governed.write(".ahp/hooks.yaml", POLICY.replace("extends: [more.yaml]\n", ""))
    governed.add()
    assert judge(governed).denied


def test_a_weaker_policy_and_a_broken_lock_stop_it(governed: Repo) -> None:
    governed.write(".ahp/hooks.yaml", POLICY.replace("files.changed_count > 9", "files.changed_count > 20"))
    governed.add()
    assert ("weaker", "block") in signals(judge(governed))
    governed.git("reset", "-q", "--hard")
    for number in range(10):
        governed.write(f".ahp/tests/{number}.yaml", "[]\n")
    governed.add()
    assert [key for key, level in signals(judge(governed)) if level == "block"] == ["locked"]


def test_a_warning_does_not_climb_to_a_block(governed: Repo) -> None:
    for number in range(3):
        governed.write(".ahp/more.yaml", f"version: 1\nlimits: {{unused: {number}}}\n")
        governed.add()
        verdict = judge(governed)
        assert ("nags", "prompt") in signals(verdict)
        governed.git("commit", "-qm", "x")


def test_nothing_and_another_trigger_are_not_policy_only(governed: Repo) -> None:
    governed.write("a.txt")
    governed.commit("second", **{"b.txt": "1\n"})
    rule = "version: 1\nrules: {always: {at: [pre-commit, pre-issue-submit], block: 'true'}}\n"
    governed.commit("third", **{".ahp/hooks.yaml": rule})
    assert judge(governed).denied  # an empty commit
    governed.write(".ahp/more.yaml", "version: 1\n# a comment\n")
    governed.write(".ahp/agent.yaml", "{}\n")
    governed.add(".ahp/agent.yaml")
    assert judge(governed).decision == "warn"
    assert judge(governed, "pre-issue-submit").denied
    assert judge(governed, view=None).denied


def test_a_push_that_takes_commits_away_is_not_policy_only(governed: Repo) -> None:
    first = governed.head()
    mend = governed.commit("mend", **{".ahp/agent.yaml": "{}\n"})
    found = git.discover(str(governed.root), dict(os.environ))

    def pushed(old: str, new: str, base: str) -> Verdict:
        ref = PushRef("refs/heads/main", new, "refs/heads/main", old)
        return judge(governed, "pre-push", push=ref, remote="origin", view=RangeView(found, base, new))

    assert pushed(first, mend, first).decision == "warn"
    governed.git("checkout", "-q", "--detach", first)
    other = governed.commit("other", **{"a.txt": "1\n"})
    assert pushed(other, mend, first).denied

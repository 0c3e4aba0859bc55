"""Seed 002 §5.1 and §5.2 on a real repository: the ladder of a submit, and intensity by environment."""

from __future__ import annotations

import pytest

from ahp.hosts.issue import Moved, move
from tests.conftest import Repo
from tests.tickets.memory import draft, place

PATH = place("FEAT-0001")
LADDER = """\
version: 1
escalation: {ladder: [prompt, control, block], after: 1}
hooks:
  pre-issue-submit:
    oracles:
      - name: change-size-limiter
        rules:
          - {id: size, condition: files.changed_count > 2, intensity: prompt, message: large,
             action: {type: split_suggestion, max_batch: 2}}
"""
PLACES = """\
version: 1
environment: {production: branch.name.endswith('-prod')}
hooks:
  pre-issue-submit:
    oracles:
      - name: change-size
        rules:
          - {id: production, condition: files.changed_count > 10, intensity: {production: block, default: allow}}
          - {id: elsewhere, condition: files.changed_count > 30, intensity: prompt}
"""


@pytest.fixture
def lab(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.chdir(repo.root)
    return repo


def begin(repo: Repo, policy: str, branch: str = "FEAT-0001-a-thing") -> None:
    text = draft("FEAT-0001").replace("stage: draft", "stage: doing")
    repo.commit("first", **{".ahp/hooks.yaml": policy, PATH: text})
    repo.git("checkout", "-q", "-b", branch)


def submit_again(repo: Repo) -> Moved:
    """A submit after the review sent the issue back."""
    path = repo.root / PATH
    path.write_text(path.read_text().replace("stage: review", "stage: doing"))
    return move("submit", "FEAT-0001")


def test_the_same_violation_climbs_from_prompt_to_block_and_falls_back_when_mended(lab: Repo) -> None:
    begin(lab, LADDER)
    seen = []
    for attempt in range(3):
        for name in "abc":
            lab.write(f"{name}.txt", f"{attempt}\n")
        moved = submit_again(lab)
        seen.append((moved.before.decision, [signal.intensity for signal in moved.before.signals]))
    assert seen == [
        ("warn", ["prompt"]),
        ("allow_with_modification", ["control"]),
        ("deny", ["block"]),
    ]
    for name in "bc":
        (lab.root / f"{name}.txt").unlink()
    assert submit_again(lab).before.decision == "allow"
    for name in "bc":
        lab.write(f"{name}.txt", "again\n")
    assert submit_again(lab).before.decision == "warn"


@pytest.mark.parametrize(
    ("branch", "files", "decision"),
    [
        ("FEAT-0001-x", 29, "allow"),
        ("FEAT-0001-x", 30, "warn"),
        ("FEAT-0001-prod", 9, "allow"),
        ("FEAT-0001-prod", 10, "deny"),
    ],
)
def test_the_same_change_weighs_more_in_production(branch: str, files: int, decision: str, lab: Repo) -> None:
    begin(lab, PLACES, branch)
    (lab.root / PATH).write_text((lab.root / PATH).read_text() + "one more file\n")
    for number in range(files):
        lab.write(f"{number}.txt")
    assert move("submit", "FEAT-0001").before.decision == decision

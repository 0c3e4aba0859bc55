"""Every sentence of design §8 that is a function of an episode."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.gate.escalation import Ladder, Standing, repeats_commits, resets, standing
from ahp.journal.episodes import Act, Episode
from ahp.policy.program import Escalation

FULL = Ladder(("prompt", "control", "block"), 1, 14 * 86400.0)


def act(n: int, **more: Any) -> Act:
    return Act(float(n), "git", "pre-commit", f"t{n}", "change1:c", "sha256:e")._replace(**more)


def climb(own: str, attempts: int, ladder: Ladder | None = FULL, **how: Any) -> list[Standing]:
    """Where each of `attempts` stands when every one that is not refused goes past."""
    episode: Episode | None = None
    stood = []
    for n in range(attempts):
        where = standing(episode, act(n), own, ladder=ladder, **how)
        stood.append(where)
        episode = episode or Episode("commit|r|s|agent", "id", 0.0)
        episode.take(act(n), where.intensity != "block")
    return stood


def intensities(own: str, attempts: int, ladder: Ladder | None = FULL, **how: Any) -> list[str]:
    return [where.intensity for where in climb(own, attempts, ladder, **how)]


def test_an_ignored_prompt_becomes_a_control_and_then_a_block() -> None:
    assert intensities("prompt", 5, can_control=True) == ["prompt", "control", "block", "block", "block"]


def test_a_rung_that_a_rule_without_action_cannot_take_leaves_the_former_in_force() -> None:
    assert intensities("prompt", 4) == ["prompt", "prompt", "block", "block"]


def test_a_rung_lasts_after_attempts() -> None:
    two = FULL._replace(after=2)
    assert intensities("prompt", 6, two, can_control=True) == ["prompt"] * 2 + ["control"] * 2 + ["block"] * 2
    assert intensities("prompt", 6, two) == ["prompt"] * 4 + ["block"] * 2


def test_the_ladder_starts_at_the_first_rung_not_below_the_rules_own() -> None:
    assert intensities("control", 3, can_control=True) == ["control", "block", "block"]
    assert intensities("prompt", 3, Ladder(("block",), 1, 1.0)) == ["block", "block", "block"]
    assert intensities("prompt", 3, Ladder(("control", "block"), 1, 1.0)) == ["prompt", "block", "block"]


def test_the_effective_intensity_is_never_below_the_rules_own() -> None:
    assert intensities("block", 3) == ["block"] * 3
    assert intensities("control", 4, Ladder(("prompt",), 1, 1.0), can_control=True) == ["control"] * 4


@pytest.mark.parametrize("own", ["block", "aid", "allow"])
def test_only_prompts_and_controls_take_part(own: str) -> None:
    assert [(where.intensity, where.text) for where in climb(own, 3)] == [(own, "")] * 3


def test_without_escalation_or_by_the_rules_word_nothing_climbs() -> None:
    assert intensities("prompt", 4, None) == ["prompt"] * 4
    assert intensities("prompt", 4, escalates=False) == ["prompt"] * 4
    assert {where.text for where in climb("prompt", 4, None)} == {""}


def test_the_message_says_where_it_stands() -> None:
    assert [where.text for where in climb("prompt", 3, can_control=True)] == [
        "warning 1 of 2; the next one is changed",
        "change 2 of 2; the next one is refused",
        "refused after 2 warnings",
    ]
    assert [where.text for where in climb("prompt", 3)][:2] == [
        "warning 1 of 2; then it is refused",
        "warning 2 of 2; the next one is refused",
    ]
    assert [where.text for where in climb("prompt", 2, Ladder(("prompt",), 1, 1.0))] == ["warning 1", "warning 2"]
    assert [(where.nth, where.of) for where in climb("prompt", 3)] == [(1, 2), (2, 2), (3, 0)]


def test_the_same_attempt_is_told_the_same_again() -> None:
    episode = Episode("commit|r|s|agent", "id", 0.0)
    episode.take(act(0), past=True)
    for told in (act(0, hook="commit-msg", evidence="other"), act(5, host="claude")):
        assert standing(episode, told, "prompt", ladder=FULL).text == "warning 1 of 2; then it is refused"
    assert standing(episode, act(1), "prompt", ladder=FULL).correlation_id == "id"
    assert standing(None, act(1), "prompt", ladder=FULL).correlation_id == ""


def test_acknowledged_evidence_does_not_climb() -> None:
    episode = Episode("commit|r|s|agent", "id", 0.0)
    episode.take(act(0), past=True)
    episode.acknowledge("sha256:e", 0, once=True)
    where = standing(episode, act(1), "prompt", ladder=FULL, can_control=True)
    assert (where.intensity, where.text) == ("prompt", "warning 1 of 2; acknowledged")
    assert standing(episode, act(1, evidence="other"), "prompt", ladder=FULL, can_control=True).intensity == "control"


def test_a_rejected_modification_makes_the_control_a_block() -> None:
    episode = Episode("commit|r|s|agent", "id", 0.0)
    episode.take(act(0), past=True)
    episode.rejected = True
    for ladder in (FULL, None):
        where = standing(episode, act(1), "control", ladder=ladder, escalates=False, can_control=True)
        assert (where.intensity, where.text) == ("block", "its modification was rejected")
    assert standing(episode, act(1), "prompt", ladder=None).intensity == "prompt"


@pytest.mark.parametrize(
    ("key", "issue", "paths", "reset"),
    [
        ("commit|r|s|agent", None, ["a.py", "b.py"], True),
        ("commit|r|s|agent", None, ["b.py"], False),
        ("commit|r|s|agent", "FEAT-1", [], False),  # commit --allow-empty on the issue's branch
        ("push|r|s|agent", "FEAT-1", [], False),
        ("issue-submit|r|FEAT-1|agent", "FEAT-1", [], True),
        ("issue-submit|r|FEAT-1|agent", "FEAT-2", [], False),
        ("issue-submit|r|FEAT-1|agent", None, ["a.py"], True),
        ("tool-use|r|s|agent|write a.py", "FEAT-1", ["a.py"], False),
    ],
)
def test_only_a_clean_evaluation_about_the_same_thing_resets(
    key: str, issue: str | None, paths: list[str], reset: bool
) -> None:
    episode = Episode(key, "id", 0.0)
    episode.issue, episode.paths = "FEAT-1", {"a.py"}
    assert resets(episode, issue=issue, paths=paths) is reset


@pytest.mark.parametrize(("covered", "reset"), [("ab", True), ("a", False), ("abcd", True), ("", False)])
def test_a_clean_change_of_half_of_the_signalled_files_resets(covered: str, reset: bool) -> None:
    episode = Episode("commit|rule|main|human", "id", 0.0)
    episode.paths = {"a", "b", "c", "d"}
    assert resets(episode, issue=None, paths=[*covered, "other"]) is reset


def test_a_push_of_what_signalled_at_its_commits_does_not_count_again() -> None:
    assert repeats_commits(["a", "b"], {"a", "b", "c"})
    assert not repeats_commits(["a", "d"], {"a"})
    assert not repeats_commits([], {"a"})


def test_a_ladder_comes_from_the_compiled_policy() -> None:
    assert Ladder.of(None) is None
    given = Escalation(ladder=["prompt", "block"], after=2, forget_after=60.0)
    assert Ladder.of(given) == Ladder(("prompt", "block"), 2, 60.0)

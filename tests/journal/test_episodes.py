from __future__ import annotations

import os
from typing import Any

import pytest

from ahp.journal.episodes import Act, new_id, opened_at

from .story import AGENT, KEY, PERSON, START, Story


def test_the_hooks_of_one_git_command_are_one_attempt(story: Story) -> None:
    story.signal(attempt="git:1")
    story.signal(attempt="git:1", hook="commit-msg", evidence="sha256:other")
    assert story.count() == 1
    story.signal(attempt="git:2")
    assert story.count() == 2


def test_without_tokens_another_hook_about_the_same_change_is_the_same_attempt(story: Story) -> None:
    for hook in ("pre-commit", "commit-msg"):
        story.signal(attempt="", hook=hook, evidence=hook)
        story.now += 1
    assert story.count() == 1
    story.signal(attempt="")
    assert story.count() == 2


@pytest.mark.parametrize(
    ("second", "attempts"),
    [
        ({"host": "claude"}, 1),
        ({"host": "claude", "attempt": ""}, 1),
        ({"host": "claude", "evidence": "sha256:f"}, 2),
        ({"host": "claude", "change": "change1:d"}, 2),
        ({}, 2),
    ],
)
def test_the_same_evidence_on_the_same_change_from_another_host_is_one_attempt(
    story: Story, second: dict[str, Any], attempts: int
) -> None:
    story.signal()
    story.now += 590
    story.signal(**second)
    assert story.count() == attempts


def test_after_ten_minutes_another_host_begins_another_attempt(story: Story) -> None:
    story.signal()
    story.now += 601
    story.signal(host="claude")
    assert story.count() == 2


def test_an_attempt_first_refused_and_then_let_past_by_another_hook_counts_once(story: Story) -> None:
    story.signal(attempt="t", decision="deny")
    story.signal(attempt="t", hook="commit-msg")
    assert story.count() == 1


def test_an_agents_acknowledgement_keeps_the_same_evidence_from_climbing_once(story: Story) -> None:
    story.respond(story.signal(), "acknowledge")
    again = story.signal()
    assert (story.count(), story.seen(again).nth) == (1, 0)
    story.respond(again, "acknowledge")
    assert story.seen(story.signal()).nth == 1
    assert story.count() == 2


def test_an_agents_acknowledgement_says_nothing_about_other_evidence(story: Story) -> None:
    story.respond(story.signal(), "acknowledge")
    story.signal(evidence="sha256:f")
    assert story.count() == 2


def test_a_persons_acknowledgement_holds_until_the_facts_change(story: Story) -> None:
    story.respond(story.signal(), "acknowledge", PERSON)
    for _ in range(5):
        story.signal()
    assert story.count() == 1
    story.signal(evidence="sha256:f")
    story.signal()
    assert story.count() == 3


def test_an_id_of_an_episode_tells_when_it_was_opened() -> None:
    assert opened_at(new_id(START)) == pytest.approx(START)
    assert new_id(START) != new_id(START)
    assert opened_at("11111111-0000-4000-8000-000000000000") is None
    assert opened_at("no id") is None


def test_an_attempt_counts_when_a_later_one_starts_from_another_commit(story: Story) -> None:
    for _ in range(3):  # another rule, another hook or the editor stopped them: nothing was committed
        story.signal(head="aaa")
    assert story.count() == 0
    assert nth(story, head="bbb") == 1
    story.signal(head="bbb")
    assert story.count() == 1
    story.signal(head="ccc", decision="deny")
    assert story.count() == 2
    story.signal(head="ddd")
    assert story.count() == 2


def test_a_warning_counts_nothing_when_another_rule_refuses_its_commit(story: Story) -> None:
    story.signal(head="aaa", attempt="git:1")
    story.signal(rule="subject", hook="commit-msg", intensity="block", decision="deny", head="aaa", attempt="git:1")
    assert nth(story, head="bbb") == 0
    story.signal(head="bbb", attempt="git:2")
    assert story.count() == 0
    assert nth(story, head="ccc") == 1


def test_the_first_commit_of_all_starts_from_none(story: Story) -> None:
    story.signal(head="")
    assert (story.count(), nth(story, head=""), nth(story, head="aaa")) == (0, 0, 1)


def test_an_attempt_without_a_commit_to_start_from_counts_at_once(story: Story) -> None:
    story.signal()
    assert story.count() == 1


def test_an_agents_acknowledgement_holds_until_the_commit_came_about(story: Story) -> None:
    id = story.signal(head="aaa", evidence="sha256:e")
    story.respond(id, "acknowledge", AGENT)
    for _ in range(2):
        assert nth(story, head="bbb", evidence="sha256:e") == 0  # the first one counted before it was acknowledged
        story.signal(head="bbb", evidence="sha256:e")
    assert nth(story, head="ccc", evidence="sha256:e") == 1


def test_an_attempt_that_waits_to_count_outlives_many_that_were_refused(story: Story) -> None:
    story.signal(head="aaa")
    for _ in range(20):
        story.signal(head="aaa", decision="deny")
        assert story.count() == 0
    os.unlink(story.journal.folder + "/state.db")
    assert story.count() == 0
    assert nth(story, head="bbb") == 1


def nth(story: Story, **act: str) -> int:
    """How many attempts the ladder would count for one that begins like this."""
    asked = Act(story.now, "git", "pre-commit", "another", "", act.get("evidence", "sha256:new"), act.get("head"))
    with story.state() as state:
        episode = state.episode(KEY)
    return episode.place(asked).nth if episode else 0

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ahp.journal.append import Journal
from ahp.journal.verify import verify
from ahp.system import clock

from .story import AGENT, DAY, KEY, PERSON, Story


def test_each_attempt_that_goes_past_counts_once(story: Story) -> None:
    assert story.count() is None
    for n in range(1, 4):
        story.signal()
        assert story.count() == n


@pytest.mark.parametrize(
    ("intensity", "more"),
    [
        ("block", {}),
        ("prompt", {"decision": "deny"}),
        ("prompt", {"undecidable": True}),
        ("prompt", {"counted": False}),
    ],
)
def test_what_was_refused_undecided_or_repeated_does_not_count(
    story: Story, intensity: str, more: dict[str, Any]
) -> None:
    story.signal(intensity, **more)
    assert story.count() == 0


@pytest.mark.parametrize("more", [{"shadow": True}, {"waived": "w"}])
def test_what_is_not_enforced_opens_no_episode_and_gets_no_answer(story: Story, more: dict[str, Any]) -> None:
    id = story.signal(**more)
    story.clean(ends=False)
    assert story.count() is None
    assert story.seen(id).action == ""


def test_people_and_agents_and_rules_and_subjects_have_ladders_of_their_own(story: Story) -> None:
    story.signal()
    story.signal(actor="human:ann")
    story.signal(rule="other/1")
    story.signal(subject="FEAT-1")
    story.signal(hook="pre-push")
    assert story.count() == 1
    assert story.count("commit|size/1|main|human") == 1
    assert story.count("push|size/1|main|agent") == 1


def test_a_clean_evaluation_ends_the_episode_and_answers_what_was_mended(story: Story) -> None:
    block = story.signal("block", rule="size/1")
    prompt = story.signal()
    story.clean()
    assert story.count() is None
    assert {story.seen(id).action for id in (block, prompt)} == {"retry_after_fix"}
    assert not story.journal.index().has_open("commit", "main", "agent")
    story.signal()
    assert story.count() == 1


def test_what_nobody_typed(story: Story) -> None:
    prompt, aid = story.signal(attempt="a"), story.signal("aid", hook="post-commit", attempt="a")
    modified = story.signal("control", rule="other/1", attempt="a")
    refused = story.signal(rule="third/1", decision="deny", attempt="a")
    assert [story.seen(id).action for id in (prompt, aid, modified, refused)] == ["", "", "accept_modification", ""]
    story.now += 60
    story.signal("aid", hook="post-commit")
    assert story.seen(prompt).action == ""
    story.clean(ends=False, actor="human:ann")
    assert story.seen(prompt).action == ""
    story.clean(ends=False)
    assert [story.seen(id).action for id in (prompt, aid, refused)] == ["dismiss", "suggestion_deferred", ""]
    story.now += 14 * DAY
    with story.state() as state:
        state.settle()
    assert story.seen(refused).action == "abort"


def test_another_hook_of_the_same_command_is_not_the_next_attempt(story: Story) -> None:
    prompt = story.signal(attempt="", rule="a/1")
    story.signal(attempt="", rule="b/1")
    story.now += 1
    story.clean(ends=False, hook="commit-msg", change="change1:c", attempt="")
    assert story.seen(prompt).action == ""
    story.clean(ends=False, attempt="")
    assert story.seen(prompt).action == "dismiss"


def test_an_explicit_answer_replaces_an_automatic_one(story: Story) -> None:
    prompt = story.signal()
    story.signal()
    assert story.seen(prompt).action == "dismiss"
    story.respond(prompt, "acknowledge")
    with story.state() as state:
        state.settle()
    assert (story.seen(prompt).action, story.seen(prompt).by) == ("acknowledge", "agent:claude")


def test_a_rejected_modification_is_remembered_until_it_is_accepted(story: Story) -> None:
    id = story.signal("control")
    story.respond(id, "reject_modification")
    with story.state() as state:
        episode = state.episode(KEY)
        assert episode and episode.rejected
    story.respond(id, "accept_modification")
    with story.state() as state:
        episode = state.episode(KEY)
        assert episode and not episode.rejected


def test_on_tool_triggers_only_a_person_or_time_resets(story: Story) -> None:
    call = {"hook": "pre-tool-use", "target": "shell git push", "host": "claude"}
    key = "tool-use|size/1|main|agent|shell git push"
    id = story.signal(**call)
    story.respond(id, "apply_suggestion", AGENT)
    assert story.count(key) == 1
    story.respond(id, "apply_suggestion", PERSON)
    assert story.count(key) is None
    story.signal(**call)
    story.now += 14 * DAY
    assert story.count(key) is None


def test_forgotten_after_forget_after_and_not_before(story: Story) -> None:
    id = story.signal()
    story.now += 14 * DAY - 1
    assert story.count() == 1
    story.now += 1
    assert story.count() is None
    assert story.journal.index().has_open("commit", "main", "agent")
    with story.state() as state:
        assert state.settle() == 1
    assert not story.journal.index().has_open("commit", "main", "agent")
    assert story.seen(id).action == "abort"
    with story.state() as state:
        assert state.settle() == 1
        assert state.settle() == 0


def test_what_was_forgotten_is_not_dismissed_by_the_next_attempt_whichever_rule_it_was(story: Story) -> None:
    told = [story.signal(rule=rule, attempt="git:1", forget_after=3 * DAY) for rule in ("size/1", "shell/1", "other/1")]
    story.now += 9 * DAY
    story.signal()
    assert [story.seen(id).action for id in told] == ["abort"] * 3


def test_an_older_version_s_word_that_a_signal_waits_to_be_shown_changes_nothing(story: Story) -> None:
    id = story.signal(pending=True, session="s1")
    aid = story.signal("aid", pending=True)
    story.journal.append([{"kind": "delivery", "ids": [id, aid], "timestamp": clock.iso(story.now), "host": "git"}])
    assert story.count() == 1
    assert [story.seen(one).action for one in (id, aid)] == ["dismiss", ""]
    story.clean()
    assert [story.seen(one).action for one in (id, aid)] == ["dismiss", "suggestion_deferred"]
    os.unlink(story.journal.index_path)
    assert Journal(story.journal.folder).index().keys == set()
    assert not verify(story.journal).problems


def test_copied_lines_responses_to_nothing_and_unknown_kinds_change_nothing(story: Story) -> None:
    story.signal()
    line = Path(story.journal.log_path).read_bytes().splitlines()[-1]
    with open(story.journal.log_path, "ab") as log:
        log.write(line + b'\n[1]\n{"kind": "signal"}\n{"kind": "later"}\n{"kind": "response", "id": "none"}\n')
        log.write(b'{"kind": "episode-end", "hook": "pre-commit", "rule": "none"}\n')
    assert story.count() == 1
    story.clean()
    with open(story.journal.log_path, "ab") as log:
        log.write(line + b"\n")
    assert story.count() is None  # it opens no episode again


def test_a_clock_that_a_person_sets_right_makes_nothing_older_than_that(story: Story) -> None:
    right = story.now
    story.now += 70 * 365 * DAY
    story.signal()
    story.now = right
    story.signal()
    story.journal.append([{"timestamp": clock.iso(right), "kind": "clock", "by": "human:ann"}])
    assert story.count() == 2
    story.now += 13 * DAY
    assert story.count() == 2
    story.now += 1 * DAY
    assert story.count() is None


def test_what_was_derived_under_a_clock_that_ran_ahead_does_not_take_time_there_again(story: Story) -> None:
    right = story.now
    story.now += 70 * 365 * DAY
    ignored = story.signal()
    story.signal()
    story.now = right
    story.journal.append([{"timestamp": clock.iso(right), "kind": "clock", "by": "human:ann"}])
    with story.state() as state:
        assert state.settle()
    assert story.seen(ignored).action == "dismiss"
    assert story.journal.index().last == clock.iso(right)
    with story.state() as state:
        (episode, _) = state.open_episodes()[0]
    assert (episode.opened, episode.last) == (right, right)


def test_what_ended_by_a_clock_that_ran_ahead_does_not_come_back(story: Story) -> None:
    right = story.now
    story.signal()
    story.now += 70 * 365 * DAY
    story.signal(rule="other/1")
    story.now = right
    story.journal.append([{"timestamp": clock.iso(right), "kind": "clock", "by": "human:ann"}])
    assert story.count() is None


def test_what_was_told_later_is_no_word_of_an_earlier_attempt(story: Story) -> None:
    right = story.now
    story.now += DAY
    story.signal(attempt="", hook="pre-commit")
    story.now = right
    story.journal.append([{"timestamp": clock.iso(right), "kind": "clock", "by": "human:ann"}])
    story.signal(attempt="", hook="commit-msg")
    assert story.count() == 2


def test_the_files_of_findings_and_the_paths_of_a_change_are_kept_apart(story: Story) -> None:
    story.signal(paths=["a", "b"])
    story.signal(paths=["c", "d", "e"])
    story.signal(paths=["f"], findings=[{"file": "f", "line": 1}])
    story.signal(paths=["g"], findings=[{"line": 1}])
    with story.state() as state:
        episode = state.episode(KEY)
    assert episode is not None
    assert (episode.found, episode.paths) == ({"f"}, {"g"})


@pytest.mark.parametrize("advises", [True, False])
def test_advice_that_changed_nothing_is_not_accepted_by_going_on(story: Story, advises: bool) -> None:
    id = story.signal("control", advises=advises)
    assert story.seen(id).action == ("" if advises else "accept_modification")
    story.signal("control", advises=advises)
    assert story.seen(id).action == ("" if advises else "accept_modification")

"""The state is what the log says, whatever happens to `state.db` (issue 4; design §7, §8)."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ahp.journal import counts, reading
from ahp.journal.append import Journal, JournalUnwritable
from ahp.journal.episodes import new_id, opened_at
from ahp.journal.state import State, delivery
from ahp.journal.tables import SqlStore
from ahp.journal.tables import _boot as tables_boot
from ahp.system import clock

from .story import AGENT, DAY, KEY, PERSON, START, Story


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(Journal(str(tmp_path / "ahp")))


def kinds(story: Story) -> list[str]:
    from ahp.journal import lines

    return [str((line.record() or {}).get("kind")) for line in lines.backward(story.journal.folder)][::-1]


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
        ("prompt", {"pending": True}),
    ],
)
def test_what_was_refused_undecided_repeated_or_not_delivered_does_not_count(
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


def test_a_ladder_that_went_on_is_not_forgotten_with_its_first_rung(story: Story) -> None:
    first = None
    for _ in range(5):
        with story.state() as state:
            episode = state.episode(KEY)
        first = episode.id if episode else new_id(story.now)
        story.signal(correlation_id=first)
        story.now += 10 * DAY
    assert story.count() == 5
    os.unlink(story.journal.folder + "/state.db")
    assert story.count() == 5


def test_a_clock_set_forward_for_one_reading_forgets_nothing(story: Story) -> None:
    story.signal()
    before = story.now
    story.now += 100 * DAY
    assert story.count() is None
    story.now = before
    assert story.count() == 1


def test_a_clock_that_jumps_back_does_not_move_time_back(story: Story) -> None:
    story.signal()
    story.now -= 5 * DAY
    story.signal()
    with story.state() as state:
        assert state.now == pytest.approx(START, abs=0.01)
    assert story.count() == 2


@pytest.mark.parametrize(
    "damage", ["deleted", "garbage", "older version", "other tables", "other log", "directory", "link"]
)
def test_state_is_made_anew_from_the_log(story: Story, damage: str, tmp_path: Path) -> None:
    story.signal()
    story.signal()
    assert story.count() == 2
    path = Path(story.journal.folder, "state.db")
    if damage == "older version":
        db = sqlite3.connect(path)
        db.execute("PRAGMA user_version = 99")
        db.commit()
        db.close()
    elif damage == "other tables":
        db = sqlite3.connect(path)
        db.execute("DROP TABLE signals")
        db.commit()
        db.close()
    elif damage == "other log":
        log = Path(story.journal.log_path)
        log.write_bytes(log.read_bytes().replace(b"size/1", b"size/2"))
    else:
        path.unlink()
        if damage == "garbage":
            path.write_bytes(b"no database" * 1000)
        elif damage == "directory":
            path.mkdir()
        elif damage == "link":
            path.symlink_to(tmp_path / "elsewhere")
    assert story.count("commit|size/2|main|agent" if damage == "other log" else KEY) == 2
    story.signal(rule="size/2" if damage == "other log" else "size/1")
    assert story.count("commit|size/2|main|agent" if damage == "other log" else KEY) == 3
    assert not (tmp_path / "elsewhere").exists()


def test_a_locked_state_is_gone_round(story: Story) -> None:
    story.signal()
    assert story.count() == 1
    db = sqlite3.connect(story.journal.folder + "/state.db", isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    story.signal()
    try:
        assert story.count() == 2
        with story.state() as state:
            id = state.find("")[0]
            assert state.signal(id) is not None
            assert state.record(state.signal(id))["id"] == id  # type: ignore[arg-type]
            assert state.signalled_paths("commit", "size/1", "main", "agent") == {"a.py"}
            assert state.waived_as("w") is None
            assert state.risks_taken(None) == []
            assert state.pending_aids("main", None) == []
            assert state.settle() == 1
    finally:
        db.close()


def test_another_forget_after_reads_the_log_again(story: Story) -> None:
    story.signal()
    story.now += 2 * DAY
    assert story.count() == 1
    with State.open(story.journal, DAY, story.now) as state:
        assert state.episode(KEY) is None
    assert story.count() == 1


@pytest.mark.parametrize("boot", ["another", ""])
def test_after_a_start_of_the_machine_state_is_made_anew(
    story: Story, monkeypatch: pytest.MonkeyPatch, boot: str
) -> None:
    story.signal()
    assert story.count() == 1
    monkeypatch.setattr("ahp.journal.tables._boot", lambda: boot)
    resets: list[int] = []
    reset = SqlStore.reset
    monkeypatch.setattr(SqlStore, "reset", lambda store: resets.append(1) or reset(store))
    assert story.count() == 1
    assert story.count() == 1
    assert resets == [1]


def test_a_system_that_does_not_name_its_start_is_one_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr("builtins.open", nothing)
    assert tables_boot() == ""


def test_a_rebuild_reads_back_forget_after_only(story: Story) -> None:
    for _ in range(50):
        story.signal(rule="old/1")
    story.now += 30 * DAY
    story.signal()
    os.unlink(story.journal.folder + "/index")
    with story.state() as state:
        assert len(state.find("")) == 1
    assert reading.window(story.journal.folder, 14 * DAY)[1] > 1000


def test_a_torn_last_line_waits_and_a_whole_one_counts(story: Story) -> None:
    story.signal()
    story.signal()
    path = story.journal.log_path
    whole = Path(path).read_bytes()
    os.truncate(path, len(whole) - 1)
    assert story.count() == 2
    os.truncate(path, len(whole) - 20)
    assert story.count() == 1
    story.signal()
    assert story.count() == 2
    assert story.count() == 2


def test_a_newline_that_comes_later_is_no_line(story: Story) -> None:
    story.signal()
    whole = Path(story.journal.log_path).read_bytes()
    os.truncate(story.journal.log_path, len(whole) - 1)
    assert story.count() == 1
    story.signal()
    assert story.count() == 2
    with story.state() as state:
        assert len(state.find("")) == 2


def test_state_follows_a_log_over_rotations(tmp_path: Path) -> None:
    story = Story(Journal(str(tmp_path / "ahp"), rotate_at=3000))
    for n in range(1, 15):
        story.signal()
        assert story.count() == n
    os.unlink(story.journal.folder + "/state.db")
    assert story.count() == 14
    with story.state() as state:
        id = state.find("")[0]
        signal = state.signal(id)
        assert signal and state.record(signal)["id"] == id
    os.unlink(story.journal.folder + "/signals.1.jsonl")
    with story.state() as state:
        assert any(not state.record(s) for i in state.find("") if (s := state.signal(i)))


def test_reading_again_when_the_log_is_rotated_meanwhile() -> None:
    calls: list[int] = []

    def attempt() -> int:
        calls.append(1)
        if len(calls) < 3:
            raise reading.Moved("rotated")
        return 7

    assert reading.steadily(attempt) == 7
    calls[:] = [-1] * -99

    def never() -> int:
        raise reading.Moved("rotated")

    with pytest.raises(reading.Moved):
        reading.steadily(never)


def test_waiting_aids_are_delivered_once_to_their_session_or_subject(story: Story) -> None:
    mine = story.signal("aid", hook="post-tool-use", pending=True, session="s1")
    other = story.signal("aid", hook="post-commit", pending=True)
    assert story.journal.index().has_pending("s1", "elsewhere")
    with story.state() as state:
        assert [record["id"] for record in state.pending_aids("elsewhere", "s1")] == [mine]
        assert [record["id"] for record in state.pending_aids("main", "s2")] == [other]
    story.clean(ends=False)
    assert story.seen(mine).action == ""
    story.journal.append([delivery([mine, "unknown"], story.now, host="claude", attempt="x")])
    story.clean(ends=False, host="claude", attempt="x")
    with story.state() as state:
        assert state.pending_aids("elsewhere", "s1") == []
    assert (story.seen(mine).action, story.seen(mine).pending) == ("", False)
    story.clean(ends=False)
    assert story.seen(mine).action == "suggestion_deferred"
    assert not story.journal.index().has_pending("s1", "elsewhere")
    story.journal.append([delivery([mine], story.now), {"kind": "delivery", "ids": "no list"}])
    assert not story.seen(mine).pending


def test_a_prompt_delivered_later_counts_from_then(story: Story) -> None:
    id = story.signal(pending=True)
    assert story.count() == 0
    story.journal.append([delivery([id], story.now)])
    assert story.count() == 1


def test_ids_are_found_by_any_unique_beginning(story: Story) -> None:
    ids = sorted(story.signal() for _ in range(20))
    with story.state() as state:
        for id in ids:
            assert state.find(id) == [id]
        assert state.find("") == ids[:5]
        assert state.find("zzz") == []
        assert state.find("é") == []


def test_a_taken_risk_is_kept_until_it_is_spent(story: Story) -> None:
    block = story.signal("block")
    story.respond(block, "proceed_with_risk", PERSON, reason="hotfix")
    with story.state() as state:
        (taken,) = state.risks_taken("size/1")
        assert (taken.spent, taken.details) == (None, {"reason": "hotfix"})
        assert state.risks_taken("other/1") == []
    story.signal("block", decision="deny", overrides=block)
    assert story.seen(block).spent is None
    story.signal("block", decision="warn", overrides=block, attempt="spender")
    spent = story.seen(block).spent
    assert spent is not None and spent.token == "spender"
    story.signal("block", decision="warn", overrides=block, attempt="other")
    assert story.seen(block).spent == spent


def test_the_first_use_of_a_waiver_is_remembered(story: Story) -> None:
    story.signal("block", waived="size/1 main 2026-03-01", digest="sha256:first")
    story.signal("block", waived="size/1 main 2026-03-01", digest="sha256:second")
    with story.state() as state:
        assert state.waived_as("size/1 main 2026-03-01") == "sha256:first"
        assert state.waived_as("") is None


def test_hostile_names_survive_the_database(story: Story) -> None:
    for name in ("a|b%\n", "\udcff", "\ud800é", "日本", "'; DROP TABLE signals; --"):
        story.signal(subject=name, rule=name)
        with story.state() as state:
            from ahp.journal.index import episode_key

            episode = state.episode(episode_key("commit", name, name, "agent"))
            assert episode and episode.count == 1
    story.now += 15 * DAY
    with story.state() as state:
        assert state.settle() == 5
    assert story.journal.index().keys == set()
    with story.state() as state:
        assert state.store.open_keys() == set()


def test_copied_lines_responses_to_nothing_and_unknown_kinds_change_nothing(story: Story) -> None:
    story.signal()
    line = Path(story.journal.log_path).read_bytes().splitlines()[-1]
    with open(story.journal.log_path, "ab") as log:
        log.write(line + b'\n[1]\n{"kind": "signal"}\n{"kind": "later"}\n{"kind": "response", "id": "none"}\n')
        log.write(b'{"kind": "episode-end", "hook": "pre-commit", "rule": "none"}\n')
    assert story.count() == 1


def test_settling_appends_each_answer_once_and_only_on_what_was_read(story: Story) -> None:
    story.signal()
    story.signal()
    with story.state() as state:
        story.signal()
        assert state.settle() == 0
    with story.state() as state:
        assert state.settle() == 2
    with story.state() as state:
        assert state.settle() == 0
    assert kinds(story).count("response") == 2


def test_settling_tells_when_somebody_was_quicker(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.signal()
    story.signal()
    with story.state() as state:
        monkeypatch.setattr(Journal, "append", lambda *a, **k: False)
        assert state.settle() == 0


def test_tool_calls_are_folded_into_one_record(story: Story) -> None:
    for session in ("s1", "s1", "s2"):
        story.journal.count("pre-tool-use", "agent", session)
    Path(story.journal.counts_path).write_bytes(Path(story.journal.counts_path).read_bytes() + b"torn")
    assert [entry[1:] for entry in counts.read(story.journal.folder)] == [
        ("pre-tool-use", "agent", counts.mark(session)) for session in ("s1", "s1", "s2")
    ]
    with story.state() as state:
        assert state.settle() == 1
        assert state.settle() == 0
    from ahp.journal import lines

    record = next(lines.backward(story.journal.folder)).record()
    assert record is not None
    calls = record["calls"]
    assert isinstance(calls, list)
    assert [(c["session"], c["calls"]) for c in calls] == [(counts.mark("s1"), 2), (counts.mark("s2"), 1)]


def test_a_fold_that_was_killed_counts_nothing_twice(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.journal.count("pre-tool-use", "agent")
    monkeypatch.setattr("ahp.journal.counts.os.unlink", lambda path: (_ for _ in ()).throw(OSError(5, "killed")))
    with pytest.raises(JournalUnwritable, match="killed"):
        counts.fold(story.journal)
    monkeypatch.undo()
    story.journal.count("pre-tool-use", "agent")
    assert counts.fold(story.journal) == 1
    assert counts.fold(story.journal) == 0
    assert kinds(story).count("count") == 2


def test_only_one_run_folds_at_a_time(story: Story) -> None:
    from ahp.system.files import Lock

    story.journal.count("pre-tool-use", "agent")
    with Lock(story.journal.folder + "/counts.lock"):
        assert counts.fold(story.journal) == 0
    assert counts.fold(story.journal) == 1


def test_many_countings_make_the_look_back_short(story: Story) -> None:
    for _ in range(250):
        story.clean(ends=False)
    story.journal.count("pre-tool-use", "agent")
    assert counts.fold(story.journal) == 1


def test_an_id_of_an_episode_tells_when_it_was_opened() -> None:
    assert opened_at(new_id(START)) == pytest.approx(START)
    assert new_id(START) != new_id(START)
    assert opened_at("11111111-0000-4000-8000-000000000000") is None
    assert opened_at("no id") is None


def test_the_clock_is_used_when_no_time_is_given(story: Story) -> None:
    story.now = clock.now() - 1000
    story.signal()
    with State.open(story.journal) as state:
        assert state.now == pytest.approx(clock.now(), abs=60)

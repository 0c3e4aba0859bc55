"""`ahp log`: filtered, folded, followed (design §7; seed 002 §6)."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ahp.journal import query
from ahp.journal.append import Journal
from ahp.system import clock
from tests.examples import examples
from tests.insight import attempts, random_log

from .story import AGENT, DAY, PERSON, START, Story


def listed(
    folded: tuple[Iterator[dict[str, object]], bool],
) -> tuple[list[Any], bool]:
    return list(folded[0]), folded[1]


def ids(story: Story, **wanted: Any) -> list[object]:
    found = list(query.folded(story.journal.folder, query.Filter(**wanted), now=story.now)[0])
    return [record.get("id") for record in found]


def test_the_story_of_the_seed_gives_its_three_lines(story: Story) -> None:
    told = {"subject": "FEAT-0123", "host": "monoco"}
    submit = {"hook": "pre-issue-submit", **told}
    story.signal("block", rule="checklist-validator/1", **submit)
    story.now += 900
    end = {"kind": "episode-end", "rule": "checklist-validator/1", "actor": "agent:claude", **submit}
    story.journal.append([end])
    prompt = story.signal("prompt", rule="change-size-limiter/1", **submit)
    story.respond(prompt, "acknowledge")
    story.now += 1
    aid = story.signal("aid", rule="notification/1", hook="post-issue-submit", **told)
    story.respond(aid, "suggestion_applied")
    found, more = listed(query.folded(story.journal.folder, now=story.now))
    keys = ("hook", "intensity", "source", "consumed", "action")
    assert not more
    assert [tuple(record[key] for key in keys) for record in found] == [
        ("pre-issue-submit", "block", "checklist-validator", True, "retry_after_fix"),
        ("pre-issue-submit", "prompt", "change-size-limiter", True, "acknowledge"),
        ("post-issue-submit", "aid", "notification", True, "suggestion_applied"),
    ]
    assert all(list(record)[:6] == ["timestamp", *keys] for record in found)
    assert all("prev" not in record and "n" not in record for record in found)


def test_filters(story: Story) -> None:
    a = story.signal(rule="size/1")
    story.now += DAY
    b = story.signal("block", rule="size/files", subject="FEAT-1", actor="human:ann", hook="pre-push")
    c = story.signal("aid", rule="other/1", hook="post-commit")
    assert ids(story, rule="size/1") == [a]
    assert ids(story, rule="size") == ids(story, rule="size/*") == [a, b]
    assert ids(story, subject="FEAT-1") == ids(story, intensity="block") == ids(story, hook="pre-push") == [b]
    assert ids(story, actor="human") == ids(story, actor="human:ann") == [b]
    assert ids(story, since=START + 1) == [b, c]
    assert ids(story, until=START + 1) == [a]
    assert ids(story, since=START + 2 * DAY) == []
    assert ids(story, kinds=("genesis",), until=START) != []
    assert ids(story) == [a, b, c]


def test_what_is_newer_than_the_log_is_not_looked_for_in_it(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.signal()
    begun: list[tuple[int, int]] = []
    answers = query._answers
    monkeypatch.setattr(query, "_answers", lambda folder, at, *more: begun.append(at) or answers(folder, at, *more))
    assert ids(story, since=START + 2 * DAY) == []
    assert begun == [query.end(story.journal.folder)]


def test_an_answer_shows_who_gave_it_and_when(story: Story) -> None:
    id = story.signal()
    story.now += 5
    story.respond(id, "dismiss", AGENT, feedback="noise")
    (record,), _ = listed(query.folded(story.journal.folder, now=story.now))
    assert (record["by"], record["consumed_at"], record["details"]) == (
        "agent:claude",
        "2100-04-02T14:00:05.000Z",
        {"feedback": "noise"},
    )


def test_an_answer_nobody_typed_shows_before_it_is_appended(story: Story) -> None:
    story.signal()
    assert listed(query.folded(story.journal.folder, now=story.now))[0][0]["consumed"] is False
    found, _ = listed(query.folded(story.journal.folder, now=story.now + 15 * DAY))
    assert (found[0]["action"], found[0]["by"]) == ("abort", "ahp")
    assert listed(query.folded(story.journal.folder))[0][0]["consumed"] is False


def test_answers_are_the_fold_s_whatever_order_they_came_in(story: Story) -> None:
    call = {"hook": "pre-tool-use", "subject": "s1", "target": "shell:rm"}
    first = story.signal(**call)
    story.signal("aid", hook="post-tool-use", subject="s1")
    story.signal("prompt", shadow=True, subject="s1")
    story.signal(**call)
    story.respond(first, "apply_suggestion", PERSON)
    story.signal(**call)
    story.now += 15 * DAY
    found = [record["action"] for record in query.folded(story.journal.folder, now=story.now)[0]]
    with story.state() as state:
        ids = [line["id"] for line in query.folded(story.journal.folder, now=story.now)[0]]
        state._fold.expire(story.now)
        known = [seen.action or None if (seen := state.signal(str(id))) else "?" for id in ids]
    assert found == known == ["apply_suggestion", "suggestion_deferred", None, "retry_after_fix", "abort"]


def test_a_signal_that_is_answered_is_not_kept_in_memory(story: Story) -> None:
    for n in range(200):
        story.signal(subject=f"s{n % 3}")
        story.signal("block", subject="x", shadow=True)
    answers = query._answers(story.journal.folder, (1, 0), query.Filter(), story.now)
    assert len(answers.signals) == 3
    assert len(list(query.folded(story.journal.folder, now=story.now)[0])) == 400


def test_episodes_that_are_forgotten_are_not_kept_in_memory(story: Story) -> None:
    ids = []
    for n in range(60):
        ids.append(story.signal("block", subject=f"s{n}"))
        story.now += 0.5 * DAY
    answers = query._answers(story.journal.folder, (1, 0), query.Filter(), story.now - 0.5 * DAY)
    assert len(answers.signals) == len(answers.episodes) == 28
    shown = {record["id"]: record["action"] for record in query.folded(story.journal.folder, now=story.now)[0]}
    assert [shown[id] for id in ids] == ["abort"] * 33 + [None] * 27


def test_the_log_is_shown_whole_when_it_is_rotated_meanwhile(tmp_path: Path) -> None:
    story = Story(Journal(str(tmp_path / "ahp"), rotate_at=3000))
    written = [story.signal(subject=f"s{n}") for n in range(5)]
    shown, _ = query.folded(story.journal.folder, now=story.now)
    first = [next(shown)["id"]]
    story.journal.rotate_at = 1
    story.signal(subject="later")
    assert first + [record["id"] for record in shown][:4] == written


@pytest.mark.no_cover
@pytest.mark.slow
def test_the_last_n_are_read_without_the_rest(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    written = [story.signal(subject=f"s{n}") for n in range(3000)]
    decoded = []
    decode = query.segments.Line.record
    monkeypatch.setattr(query.segments.Line, "record", lambda line: decoded.append(1) or decode(line))
    found, more = listed(query.folded(story.journal.folder, limit=3, now=story.now))
    assert [record["id"] for record in found] == written[-3:]
    assert more
    assert len(decoded) < 20
    monkeypatch.undo()
    found, more = listed(query.folded(story.journal.folder, limit=3000, now=story.now))
    assert (len(found), more) == (3000, False)


def test_no_log_shows_nothing(tmp_path: Path) -> None:
    assert listed(query.folded(str(tmp_path))) == ([], False)
    assert query.end(str(tmp_path)) == (1, 0)


def test_records_without_time_are_shown_unless_time_is_asked_for(story: Story) -> None:
    story.signal()
    with open(story.journal.log_path, "a") as file:
        file.write(json.dumps({"kind": "signal", "hook": "x", "rule": "r", "intensity": "prompt"}) + "\n")
    assert len(ids(story)) == 2
    assert len(ids(story, since=0.0)) == 1


def test_what_is_appended_while_the_rest_is_shown_is_followed_and_not_shown_twice(story: Story) -> None:
    first = story.signal()
    begin = query.end(story.journal.folder)
    second = story.signal()
    shown, _ = query.folded(story.journal.folder, limit=5, now=story.now, until=begin)
    assert [record["id"] for record in shown] == [first]
    assert next(query.follow(story.journal.folder, query.Filter(), begin))["id"] == second


def test_following_gives_what_is_appended_over_rotations_and_torn_lines(tmp_path: Path) -> None:
    story = Story(Journal(str(tmp_path / "ahp"), rotate_at=2500))
    story.signal()
    begin = query.end(story.journal.folder)
    with open(story.journal.log_path, "ab") as file:
        file.write(b'{"torn')
    assert query.end(story.journal.folder) == begin
    seen: list[object] = []
    written: list[object] = []

    def read() -> None:
        for record in query.follow(story.journal.folder, query.Filter(), begin):
            seen.append((record["kind"], record["id"]))
            if len(seen) == 9:
                return

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(8):
        written.append(("signal", story.signal()))
    written.append(("response", written[0][1]))  # type: ignore[index]
    story.respond(str(written[0][1]), "dismiss", PERSON)  # type: ignore[index]
    reader.join(timeout=30)
    assert seen == written


def test_a_log_that_is_begun_anew_or_cut_is_followed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(Journal(str(tmp_path / "ahp")))
    folder, log = story.journal.folder, Path(story.journal.log_path)
    done = [story.signal() for _ in range(3)]
    steps: list[Callable[[], object]] = [
        lambda: log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:2])),
        lambda: done.append(story.signal()),
        lambda: shutil.rmtree(folder),
        lambda: done.append(story.signal()),
        lambda: done.append(story.signal()),
    ]
    monkeypatch.setattr(time, "sleep", lambda _: steps.pop(0)())
    following = query.follow(folder, query.Filter(), query.end(folder))
    seen = [next(following)["id"] for _ in range(3)]
    assert (seen, steps) == (done[3:], [])


def test_what_is_open_is_told_with_how_often_it_was_gone_past(story: Story) -> None:
    story.signal(subject="old", head="a")
    story.signal(subject="old", head="b")
    story.now += 60
    id = story.signal(rule="other/1", subject="new", message="too many", actor="human:ann")
    story.signal("aid", hook="post-commit", subject="aided")
    story.signal(subject="mended")
    story.clean(subject="mended")
    found = query.open_now(story.journal, query.Filter())
    assert [(one.rule, one.subject, one.went_past) for one in found] == [("other/1", "new", 1), ("size/1", "old", 2)]
    assert (found[0].id, found[0].message, found[0].actor) == (id, "too many", "human:ann")
    assert found[0].ends == clock.iso(story.now + 14 * DAY)
    assert [one.subject for one in query.open_now(story.journal, query.Filter(actor="agent"))] == ["old"]


def test_a_kind_that_is_written_with_escapes_is_found_too(story: Story) -> None:
    id = story.signal()
    path = Path(story.journal.log_path)
    path.write_text(path.read_text().replace('"kind": "signal"', '"kind": "\\u0073ignal"'))
    assert [record["id"] for record in query.folded(story.journal.folder)[0]] == [id]


@examples(60, *HealthCheck)
@given(random_log.steps, st.sampled_from([0.0, 5 * DAY, 90 * DAY]))
def test_what_is_asked_of_one_rule_or_subject_is_what_all_of_the_log_tells(
    steps: list[dict[str, Any]], later: float
) -> None:
    _asks_of_some(random_log.records_of(steps), steps, later)


@examples(60, *HealthCheck)
@given(attempts.attempts, st.sampled_from([0.0, 5 * DAY, 90 * DAY]))
def test_the_same_of_attempts_in_their_order(told: list[dict[str, Any]], later: float) -> None:
    _asks_of_some(attempts.records_of(told), [], later)


def _asks_of_some(records: list[dict[str, Any]], steps: list[dict[str, Any]], later: float) -> None:
    now = max(clock.parse_iso(record["timestamp"]) for record in records) + later
    kinds = ("signal", "bypass", "feedback", "episode-end")
    with tempfile.TemporaryDirectory() as folder:
        random_log.write(Path(folder) / "ahp", records, steps)
        every = list(query.folded(folder + "/ahp", query.Filter(kinds), now=now)[0])
        for wanted in (
            *(query.Filter(kinds, rule=rule) for rule in ("size", "size/1", "s*", "nothing", "*")),
            *(query.Filter(kinds, subject=subject) for subject in ("main", "FEAT-1", "")),
            query.Filter(kinds, rule="size", subject="main", intensity="prompt"),
        ):
            found = list(query.folded(folder + "/ahp", wanted, now=now)[0])
            assert found == [record for record in every if wanted.takes(record)]


def test_times_that_are_none_do_not_hold_up_the_others(tmp_path: Path) -> None:
    stamps = (clock.iso(START), "yesterday", "3000-99-99T99:99:99.999Z", clock.iso(START + 60), clock.iso(START + 30))
    signal = {"kind": "signal", "timestamp": clock.iso(START), "hook": "pre-commit", "subject": "main", "rule": "size"}
    signal |= {"actor": "agent:a", "intensity": "prompt", "decision": "warn", "id": "s", "attempt": "1"}
    verdicts = [{"kind": "verdict", "timestamp": stamp, "hook": "pre-commit", "subject": "other"} for stamp in stamps]
    end = {**signal, "kind": "verdict", "timestamp": "no time", "attempt": "2"}
    random_log.write(tmp_path / "ahp", [signal, *verdicts, end], [])
    for wanted in (query.Filter(), query.Filter(rule="size"), query.Filter(subject="main")):
        (told,), _ = listed(query.folded(str(tmp_path / "ahp"), wanted, now=START + 90))
        assert (told["action"], told["consumed_at"]) == ("dismiss", clock.iso(START + 60))


def test_a_copied_line_has_the_answer_of_its_signal(tmp_path: Path) -> None:
    signal = {"kind": "signal", "timestamp": clock.iso(START), "hook": "pre-commit", "subject": "main", "rule": "size"}
    signal |= {"actor": "agent:a", "intensity": "prompt", "decision": "warn", "id": "s", "attempt": "1"}
    later = [{**signal, "kind": "verdict", "timestamp": clock.iso(START + n), "attempt": f"later {n}"} for n in (1, 2)]
    random_log.write(tmp_path / "ahp", [signal, later[0], signal, later[1]], [])
    for wanted in (query.Filter(), query.Filter(rule="size")):
        told, _ = listed(query.folded(str(tmp_path / "ahp"), wanted, now=START + 9))
        assert [one.get("action") for one in told] == ["dismiss", "dismiss"]

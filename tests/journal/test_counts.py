from __future__ import annotations

import os
from pathlib import Path

import pytest

from ahp.journal import counts, segments
from ahp.journal.index import JournalUnwritable

from .story import Story, kinds


def test_tool_calls_are_folded_into_one_record(story: Story) -> None:
    for session in ("s1", "s1", "s2"):
        story.journal.count("pre-tool-use", "agent:claude", session, "sha256:p")
    Path(story.journal.counts_path).write_bytes(Path(story.journal.counts_path).read_bytes() + b"torn")
    with story.state() as state:
        assert state.settle() == 1
        assert state.settle() == 0
    record = next(segments.backward(story.journal.folder)).record()
    assert record is not None
    calls = record["calls"]
    assert isinstance(calls, list)
    assert [(c["session"], c["calls"]) for c in calls] == [("s1", 2), ("s2", 1)]
    assert {(c["actor"], c["policy"], c["first"] <= c["last"]) for c in calls} == {("agent:claude", "sha256:p", True)}


def test_however_many_calls_were_counted_they_are_folded(story: Story) -> None:
    """More than a file that is read whole may have: 64 MiB, after which nothing could be recorded any more."""
    story.journal.count("pre-tool-use", "agent")
    counted = Path(story.journal.counts_path)
    with counted.open("r+b") as file:
        file.seek(65 << 20)  # a hole reads as one torn entry
        file.write(b"\n" + counted.read_bytes()[:200])
    assert counts.fold(story.journal) == 1
    assert sorted(os.listdir(story.journal.folder)) == ["counts.lock", "index", "signals.jsonl", "signals.lock"]
    record = next(segments.backward(story.journal.folder)).record()
    assert record is not None and [one["calls"] for one in record["calls"]] == [2]  # type: ignore[attr-defined]


def test_what_is_no_file_is_no_counting(story: Story) -> None:
    Path(story.journal.folder).mkdir(exist_ok=True)
    os.mkfifo(story.journal.counts_path)
    with pytest.raises(JournalUnwritable, match="is not a regular file"):
        counts.fold(story.journal)


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

"""A fold makes the same of a log wherever it keeps what it finds: in memory, in SQLite, in the answers of `ahp log`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ahp.journal import query, tables
from ahp.journal.fold import Fold, MemoryStore
from ahp.journal.state import Filling
from ahp.system import clock
from tests.examples import examples

from .reading import DAY
from .test_reading import _RECORD, _STEPS, _story

Records = list[dict[str, Any]]

_STORIES = st.lists(st.tuples(_STEPS, _RECORD), min_size=10, max_size=40).map(_story)


@given(_STORIES, st.sampled_from([0.0, 10 * DAY]), st.sets(st.integers(0, 40), max_size=6))
@examples(25)
def test_a_fold_is_the_same_in_every_store(records: Records, later: float, ends: set[int]) -> None:
    _compare(records, later, ends)


@pytest.mark.slow
@given(_STORIES, st.sampled_from([0.0, 10 * DAY]), st.sets(st.integers(0, 40), max_size=6))
@examples(1500)
def test_many_folds_are_the_same_in_every_store(records: Records, later: float, ends: set[int]) -> None:
    _compare(records, later, ends)


def _compare(records: Records, later: float, ends: set[int]) -> None:
    """`ends` are the records after which one process ends and another one goes on."""
    meant = _of_memory(records, later)
    assert _of_database(records, later, ends) == meant
    assert _filled(records, later, most=1 + len(ends)) == meant
    answers = query._Answers()
    fold = query._Telling(answers, query.Filter())
    for record in records:
        fold.apply(record)
    fold.expire(_end(records) + later)
    for id, told in meant[1].items():
        answer = answers.answers.get(id)
        assert (answer[:3] if answer else ("", "", 0.0)) == told[:3], id


def _of_memory(records: Records, later: float) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    store = MemoryStore()
    fold = Fold(store)
    for record in records:
        fold.apply(record)
    return _found(fold, lambda: {*store.episodes}, records, later)


def _of_database(records: Records, later: float, ends: set[int]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        store, at = tables.SqlStore(folder + "/state.db"), 0.0
        with store.transaction():
            store.reset()
        for part in _parts(records, ends):
            with store.transaction():
                fold = Fold(store, at)
                for record in part:
                    fold.apply(record)
                at = fold.at
            store.close()
            store = tables.SqlStore(folder + "/state.db")
        with store.transaction():
            found = _found(Fold(store, at), store.open_keys, records, later)
        store.close()
    return found


def _filled(records: Records, later: float, most: int) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """By a store in memory that lets its signals go to the database whenever there are `most`."""
    store = tables.SqlStore(tables.MEMORY)
    with store.transaction():
        store.reset()
        filling = Filling(store, most)
        fold = Fold(filling)
        for record in records:
            fold.apply(record)
        filling.write()
    with store.transaction():
        found = _found(Fold(store, fold.at), store.open_keys, records, later)
    store.close()
    return found


def _parts(records: Records, ends: set[int]) -> Iterable[Records]:
    begin = 0
    for end in sorted({end + 1 for end in ends if end + 1 < len(records)} | {len(records)}):
        yield records[begin:end]
        begin = end


def _found(
    fold: Fold, open_keys: Callable[[], set[str]], records: Records, later: float
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """By key what the store has of open episodes, by id what it has of signals."""
    fold.expire(_end(records) + later)
    episodes, signals = {}, {}
    for key in open_keys():
        e = fold.store.episode(key)
        assert e is not None
        episodes[key] = (e.count, e.went_past, e.rejected, e.opened, e.last, e.id, e.issue, e.paths, e.found)
    for record in records:
        if record["kind"] == "signal":
            s = fold.store.signal(record["id"])
            assert s is not None
            signals[s.id] = (s.action, s.by, s.answered, s.logged, s.nth, s.act, s.episode)
    return episodes, signals


def _end(records: Records) -> float:
    return clock.parse_iso(records[-1]["timestamp"])

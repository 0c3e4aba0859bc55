"""Two that are at the log at once: one is stopped at one of its calls to the system, the other runs whole, the first
goes on. Nothing is lost, told twice or told wrongly, whoever it is and wherever the first one stood.

A write that is stopped is half done. The short form takes some of the calls, `make test-slow` all pairs, and
AHP_TEST_FAULTS=all each call of each pair.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ahp.insight import reading, shipping
from ahp.journal import counts, query, repair, segments, skips, tables
from ahp.journal.append import Journal
from ahp.journal.repair import prune
from ahp.journal.state import State
from ahp.journal.verify import anchor, verify
from ahp.protocol import event
from ahp.system import clock, terminal
from ahp.system.errors import AhpError

from . import work
from .calls import ALL, Stopped, taking
from .story import DAY

LONG = 1 if ALL else 5
"""Of how many calls the long form stops at one."""
PERSON = event.Actor("human", "ann")
FACT = "tests.failed_count"
VERDICT: dict[str, object] = {
    "hook": "pre-commit",
    "kind": "verdict",
    "subject": "main",
    "actor": "human:ann",
    "facts": {FACT: 0},
}
SKIP = skips.Skip("s", "size/1", "main", "h", "m", "human:ann", "why", 0.0)


Actor = Callable[..., str | None]


class Log:
    """A log that several are at, and the ids of the signals whose append has returned."""

    def __init__(self, folder: str, genesis: str) -> None:
        self.folder, self.genesis = folder, genesis
        self.promised: list[str] = []

    def journal(self, rotate_at: int = 1 << 20) -> Journal:
        journal = Journal(self.folder, self.genesis, rotate_at=rotate_at)
        journal.lock.timeout = 0.0  # the one that is stopped holds it for as long as anybody could wait
        return journal

    def append(self, *more: dict[str, object], rotate_at: int = 1 << 20, durable: bool = False) -> None:
        record = work.signal("size/1")
        self.journal(rotate_at).append([record, *more], durable=durable)
        self.promised.append(str(record["id"]))


# ---- who is at the log


def appends(log: Log) -> None:
    log.append(VERDICT, durable=True)


def rotates(log: Log) -> None:
    log.append(rotate_at=1)


def rotates_twice(log: Log) -> None:
    rotates(log)
    rotates(log)


def mends(log: Log) -> None:
    log.journal().append([{**work.signal("size/1"), "kind": "episode-end", "reason": "mended"}])


def begins(log: Log) -> None:
    log.journal().begin()


def counts_a_call(log: Log) -> None:
    log.journal().count("pre-tool-use", "agent", "s1")


def folds_the_counts(log: Log) -> None:
    counts.fold(log.journal())


def settles(log: Log) -> None:
    with State.open(log.journal()) as state:
        state.settle()


def skips_in_advance(log: Log) -> None:
    skips.give(log.journal(), SKIP._replace(at=clock.now()))


def prunes(log: Log) -> None:
    prune(log.journal(), clock.now() - 100 * DAY, PERSON)


def removes_the_index(log: Log) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(log.folder + "/index")


def removes_the_state(log: Log) -> None:
    repair.rebuild(log.journal())


WRITERS: list[Actor]
WRITERS = [rotates, prunes, rotates_twice, appends, mends, begins, counts_a_call, folds_the_counts, settles]
WRITERS += [skips_in_advance, removes_the_index, removes_the_state]

# ---- who looks at it, and what was wrong with what they saw


class Before(NamedTuple):
    """The ids of the signals that were there before, all and those that no pruning removes."""

    all: list[str]
    kept: list[str]

    def wrong(self, seen: list[str]) -> str:
        if missing := set(self.kept) - set(seen):
            return f"{len(missing)} signals are missing"
        if max(Counter(seen).values()) > 1:
            return "a signal is told twice"
        old = [id for id in seen if id in set(self.all)]
        return "" if old == [id for id in self.all if id in set(old)] and seen[: len(old)] == old else "out of order"


def ids(records: Any) -> list[str]:
    return [str(record["id"]) for record in records if record.get("kind") == "signal"]


def reads_forward(log: Log, before: Before) -> str:
    return before.wrong(ids(reading.records(log.folder)))


def reads_backward(log: Log, before: Before) -> str:
    return before.wrong(ids(record for line in segments.backward(log.folder) if (record := line.record()))[::-1])


def shows(log: Log, before: Before) -> str:
    return before.wrong(ids(query.folded(log.folder)[0]))


def shows_the_last_three(log: Log, before: Before) -> str:
    seen = ids(query.folded(log.folder, limit=3)[0])
    return "" if len(seen) == 3 and (seen[-1] == before.all[-1] or seen[-1] not in before.all) else f"saw {len(seen)}"


def shows_answers(log: Log, before: Before) -> str:
    told = {str(r["id"]): r.get("action") for r in query.folded(log.folder)[0] if r.get("kind") == "signal"}
    wrong = [id for id in before.kept[:-1] if told.get(id) not in ("dismiss", "abort", "retry_after_fix")]
    return f"{len(wrong)} answers are wrong" if wrong else ""


def shows_what_is_open(log: Log, before: Before) -> str:
    seen = {one.rule for one in query.open_now(log.journal(), query.Filter())}
    return "" if seen >= {"r/0", "r/1"} else f"saw {seen}"


def looks_for_a_fact(log: Log, before: Before) -> str:
    return "" if segments.had_fact(log.folder, "main", FACT) else "the fact is missing"


def looks_for_skips(log: Log, before: Before) -> str:
    return "" if skips.given(log.folder, clock.now()) else "the skip is missing"


def looks_at_the_index(log: Log, before: Before) -> str:
    journal = log.journal()
    index = journal.index()
    if journal.tampered(index):
        return "it is called another log"
    return "" if index.count >= len(before.kept) and len(index.keys) >= 2 else "it has lost lines"


def looks_at_the_state(log: Log, before: Before) -> str:
    with State.open(log.journal()) as state:
        seen = state.store.find("", 1 << 30)
        lost = [id for id in seen if (signal := state.signal(id)) and state.record(signal).get("id") not in (id, None)]
        return before._replace(all=[]).wrong(seen) if not lost else "a signal has another's record"


def compares_the_state(log: Log, before: Before) -> str:
    return "; ".join(repair.differences(log.journal()))


def verifies(log: Log, before: Before) -> str:
    return "; ".join(verify(log.journal()).problems)


def makes_an_anchor(log: Log, before: Before) -> str:
    made = anchor(log.journal())
    return "; ".join(verify(log.journal(), [made]).problems)


def ships(log: Log, before: Before) -> str:
    sent: list[Any] = []

    def send(name: str, batch: Any) -> str:
        sent.extend(batch)
        return ""

    shipping.ship(log.folder, "http://collector", send)
    return before.wrong(ids(json.loads(told.body) for told in sent))


READERS: list[Actor]
READERS = [reads_forward, reads_backward, shows, shows_the_last_three, shows_answers, shows_what_is_open]
READERS += [looks_for_a_fact, looks_for_skips, looks_at_the_index, looks_at_the_state, compares_the_state, verifies]
READERS += [makes_an_anchor, ships]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, Before]:
    """A log of several files, written over a year: with a state, counted calls, an aid and a skip in advance."""
    folder = tmp_path_factory.mktemp("interleavings") / "ahp"
    journal, real = Journal(str(folder), rotate_at=2000), clock.now
    old: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for days in (400, 300, 200):
            patch.setattr(clock, "now", lambda days=days: real() - days * DAY)
            for _ in range(4):
                old.append(str((record := work.signal("old"))["id"]))
                journal.append([record])
    journal.append([SKIP._replace(at=clock.now()).record(), VERDICT])
    records = [work.signal(f"r/{nth % 2}") for nth in range(6)] + [work.signal("aid", intensity="aid")]
    journal.rotate_at = 1 << 20
    for record in records:
        journal.append([record, VERDICT])
    journal.count("pre-tool-use", "agent", "s1")
    with State.open(journal) as state:
        state.settle()
    journal.count("pre-tool-use", "agent", "s1")
    journal.close()
    names = [str(record["id"]) for record in records]
    assert len(segments.listed(str(folder))) >= 4
    return folder, journal.index().genesis, Before(old + names, names)


def tried(act: Callable[..., str | None], *given: Any) -> str:
    """What was wrong with it; being refused since somebody else holds the lock is not."""
    try:
        return act(*given) or ""
    except AhpError as error:
        return "" if "is held by" in str(error) else str(error)
    except Exception as error:  # noqa: BLE001  # the other one may be in a place that takes it for its own
        return repr(error)


def wrong_with(log: Log, before: Before) -> list[str]:
    """What is wrong with a log that several were at, once they are gone."""
    log.append()
    kept = ids(
        record
        for part in segments.listed(log.folder)
        for line in segments.forward_in(part)
        if (record := line.record())
    )
    found = [before.wrong(kept), f"{len(lost)} lost" if (lost := set(log.promised) - set(kept)) else ""]
    report = verify(log.journal())
    found += report.problems + [note for note in report.notes if "torn" in note]
    found += repair.differences(log.journal())
    index = log.journal().index()
    removes_the_index(log)
    anew = log.journal().index()
    same = [(one.keys, one.count, one.head, one.genesis) for one in (index, anew)]
    found += [] if same[0] == same[1] else ["the index does not say what the log says"]
    found += [f"{name} is left" for name in os.listdir(log.folder) if name.endswith((".tmp", ".folding"))]
    return [*filter(None, found)]


class Pairs:
    """Has one be stopped by another, each time at a copy of the same log."""

    def __init__(self, written: tuple[Path, str, Before], folder: Path) -> None:
        self._from, self._genesis, self.before = written
        self._folder = str(folder)

    def calls(self, one: Actor) -> int:
        """How many calls to the system `one` makes when nobody else is there."""
        stopped = Stopped(0, lambda: None)
        log = self._copy()
        with taking(stopped):
            assert tried(one, *self._given(one, log)) == ""
        return stopped.made

    def meet(self, one: Actor, at: int, other: Actor) -> None:
        """`one` is stopped at its call `at` to the system until `other` has come to its end."""
        log, said = self._copy(), []
        stopped = Stopped(at, lambda: said.append(tried(other, *self._given(other, log))))
        with taking(stopped):
            said.append(tried(one, *self._given(one, log)))
        found = [*filter(None, said), *wrong_with(log, self.before)]
        assert not found, f"{one.__name__} stopped at its call {at}, {stopped.name}, by {other.__name__}: {found}"

    def _copy(self) -> Log:
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.copytree(self._from, self._folder)
        log = Log(self._folder, self._genesis)
        log.journal().index()  # a copy has other inodes
        return log

    def _given(self, one: Actor, log: Log) -> tuple[Any, ...]:
        return (log, self.before) if one in READERS else (log,)


@pytest.fixture
def pairs(written: tuple[Path, str, Before], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pairs:
    monkeypatch.setattr(tables, "_BUSY", 0.0)
    monkeypatch.setattr(terminal, "confirm", lambda *given: True)
    return Pairs(written, tmp_path / "ahp")


def others(one: Actor) -> list[Actor]:
    """Those whom it matters to meet, those that move files first: two readers are nothing to each other."""
    return [*WRITERS, *READERS] if one in WRITERS else WRITERS


@pytest.mark.slow
@pytest.mark.no_cover
def test_who_is_stopped_at_a_call_and_who_comes_meanwhile_find_the_log_whole(pairs: Pairs) -> None:
    for nth, one in enumerate([*WRITERS, *READERS]):
        calls = pairs.calls(one)
        assert calls
        for turn in range(3):
            met = others(one)
            other = met[turn % 2] if one in READERS else met[(3 * nth + turn) % len(met)]
            pairs.meet(one, 1 + (calls * (2 * turn + 1) // 6 + nth) % calls, other)


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("one", [*WRITERS, *READERS], ids=lambda one: one.__name__)
def test_every_two_at_the_log_find_it_whole(pairs: Pairs, one: Actor) -> None:
    calls = pairs.calls(one)
    for nth, other in enumerate(others(one)):
        for at in range(1 + nth % LONG, calls + 1, LONG):
            pairs.meet(one, at, other)

"""The tallies of a long log by DuckDB (extra `insight`), in a third of the time that the journal's fold takes.

SQL tells of the ordinary: attempts that have a name and come one after the other. People and agents whose signals are
not like that are left to the fold, and so is a log that is odd as a whole. The figures are the same.
"""

from __future__ import annotations

import logging
import os
import tempfile
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ahp.gate.match import COUNTED
from ahp.insight import columns, reading, tallies
from ahp.insight.chronicle import NUMBER_OF, Chronicle
from ahp.insight.database import connect, quoted
from ahp.insight.groups import PEOPLE, UNTOLD, Group
from ahp.insight.observed_store import REOPENED_WITHIN
from ahp.insight.tallies import Tallies
from ahp.journal import segments
from ahp.journal.answers import RISK
from ahp.journal.fold import PERSON_RESETS
from ahp.journal.segments import Segment
from ahp.protocol.signals import LEVEL_OF, strength
from ahp.protocol.text import one_line
from ahp.protocol.triggers import FORGET_AFTER, TRIGGERS
from ahp.system.terminal import Seen

if TYPE_CHECKING:
    import duckdb

LONG = 24 << 20
"""Bytes of a log from which on it pays to load DuckDB."""
_MEMORY = 192 << 20
_READERS = 4
_PLACES = 32
_FETCHED = 1024  # rows at once
_BLANK = b" \t\r\n"
_CONSTANTS = (
    *("ATTEMPT", "SHADOW", "WAIVED", "UNDECIDED", "CLIMBED", "OVERRIDDEN"),
    *("DISMISSED", "RISKED", "PASSED", "REOPENED", "RAISED", "OPEN", "MENDED", "RESET", "FORGOTTEN"),
)
_FOLDER = os.path.dirname(os.path.abspath(__file__)) + "/sql/"


class _Unclear(Exception):
    """The log as a whole has something of which only the fold can tell."""


def of(chronicle: Chronicle, folder: str, now: float, seen: Seen) -> Tallies | None:
    """Those of the log in `folder`, for the group and the rules of `chronicle`, which is fed what SQL does not cover.

    None where the log is short, where DuckDB is missing, and where the fold has to read it all, with another chronicle;
    where DuckDB fails, that is logged. Raises AhpError when the log cannot be read or is of a newer format.
    """
    files = reading.files(folder, chronicle.since)
    if sum(map(reading.size_of, files)) < LONG:
        return None
    try:
        import duckdb
    except ImportError:
        return None
    with tempfile.TemporaryDirectory(prefix="ahp-") as scratch, closing(connect()) as database:
        try:
            return _Reading(database, scratch, chronicle).tallies(files, now, seen)
        except _Unclear:
            return None
        except duckdb.Error as error:  # the fold reads any log, and says what cannot be read
            why = one_line(str(error).partition("\n")[0], 200)
            logging.getLogger(__name__).warning("ahp: the log is read without DuckDB, which takes longer: %s", why)
            return None


class _Times(NamedTuple):
    """Of a file: its lines, refusals, times (ms since the epoch; `first` of what counts), if these are out of order."""

    lines: int
    first: int | None
    earliest: int | None
    latest: int | None
    denied: int
    is_out_of_order: bool


class _Reading:
    """One reading of a log. The number of a line is its place in its file, beyond 32 bits the place of the file."""

    def __init__(self, database: duckdb.DuckDBPyConnection, scratch: str, chronicle: Chronicle) -> None:
        self.database, self.chronicle = database, chronicle
        self._first = self._last = 0.0  # seconds
        self._denied = 0
        database.execute(f"SET temp_directory = {quoted(scratch)}")
        for macro in _macros(chronicle.group, chronicle.since or 0.0):
            database.execute(f"CREATE MACRO {macro}")
        _run(database, "tables")

    def tallies(self, files: Sequence[Segment], now: float, seen: Seen) -> Tallies:
        """Raises _Unclear, AhpError, and what DuckDB raises."""
        memory = max(_MEMORY, sum(map(reading.size_of, files)) // 4)
        self.database.execute(f"SET memory_limit = '{memory >> 20}MiB'")
        self._read(files, seen)
        now = max(now, self._last)
        self.database.execute(f"CREATE MACRO is_past(moment) AS moment / 1000.0 <= {now!r}")
        rules = [rule for (rule,) in self._rows("SELECT rule FROM signals UNION SELECT rule FROM skips")]
        wanted = [*filter(self.chronicle.wants, rules)]
        self.database.execute("CREATE TABLE wanted AS SELECT unnest(?::VARCHAR[]) AS rule", [wanted])
        _run(self.database, "answers")
        if any(self._rows("FROM unclear")):
            raise _Unclear
        self._fold(files)
        self.chronicle.expire(now)
        return self._told()

    def _read(self, files: Sequence[Segment], seen: Seen) -> None:
        sizes = [reading.size_of(segment) for segment in files]
        done, latest = 0, 0
        self.database.execute("SET threads = 1")  # where DuckDB reads a file by several, the order of its lines is lost
        pool = ThreadPoolExecutor(min(_READERS, os.cpu_count() or 1))
        try:
            for times, size in zip(pool.map(self._take, files, count()), sizes, strict=True):
                if times.is_out_of_order or (times.earliest or latest) < latest:
                    raise _Unclear
                self._first, latest = self._first or (times.first or 0) / 1000, times.latest or latest
                self._denied += times.denied
                done += size
                seen(done, sum(sizes))
        finally:
            pool.shutdown(cancel_futures=True)
        self._last = latest / 1000
        self.database.execute("RESET threads")

    def _take(self, segment: Segment, place: int) -> _Times:
        """Reads a file, by its descriptor: another process may rotate the log meanwhile."""
        with segments.Reader(segment) as file, closing(self.database.cursor()) as cursor:
            if file.fd < 0:
                reading.tell_short(segment)
                return _Times(0, None, None, None, 0, False)
            cursor.execute("SET VARIABLE path = ?", [f"/dev/fd/{file.fd}"])
            cursor.execute("SET VARIABLE first = ?::BIGINT", [place << _PLACES])
            _run(cursor, "file")
            (times,) = cursor.execute("FROM times").fetchall()
            return _Times(*times)

    def _fold(self, files: Sequence[Segment]) -> None:
        """Feeds the chronicle the lines of which SQL does not tell."""
        self.chronicle.counts_verdicts = False
        wanted, at = [*self._rows("SELECT line, kind FROM folded ORDER BY line")], 0
        for place, segment in enumerate(files):
            upto = bisect_left(wanted, place + 1 << _PLACES, at, key=lambda one: one[0])
            if at < upto:
                self._feed(segment, [(line - (place << _PLACES), kind) for line, kind in wanted[at:upto]])
            at = upto

    def _feed(self, segment: Segment, wanted: Sequence[tuple[int, str | None]]) -> None:
        """The lines of a file at some places, with the kind of each; None where SQL read nothing."""
        lines = (line for _, block, _ in segments.blocks_in(segment) for line in block if line.strip(_BLANK))
        at = 0
        for place, kind in wanted:
            record = reading.decode(next(islice(lines, place - at, None), b""))
            at = place + 1
            if (record or {}).get("kind") != kind:
                raise _Unclear
            if record is not None:
                self.chronicle.apply(record)

    def _told(self) -> Tallies:
        """What the chronicle has noted and what the tables tell."""
        told = tallies.of(self.chronicle)
        told.denied += self._denied  # the chronicle has those of its tool calls
        told.first, told.last = self._first, self._last if self._first else 0.0
        for name, level, marks, action, is_given, many in self._rows(
            "SELECT name, level, marks, answer, given IS NOT NULL, count(*) FROM counted GROUP BY ALL"
        ):
            told.signals[name, NUMBER_OF.get(level, 0), marks, action, is_given] += many
        for name, tenths, many in self._rows(
            "SELECT name, tenths, count(*) FROM counted WHERE tenths >= 0 GROUP BY ALL"
        ):
            told.spoken[name][tenths] += many
        for name, state, flags, many in self._rows("SELECT name, state, flags, count(*) FROM standing GROUP BY ALL"):
            told.episodes[name, state, flags] += many
        for name, seconds, tries in self._rows("FROM mended"):
            told.seconds[name].update(seconds)
            told.tries[name].update(tries)
        for name, rule, subject in self._rows(
            "SELECT DISTINCT name, rule, waived_for FROM counted WHERE waived_for IS NOT NULL"
        ):
            told.waived.add((name, self.chronicle.waiver(rule, subject)))
        self._evaluations(told)
        return told

    def _evaluations(self, told: Tallies) -> None:
        digests = ["", *self.chronicle.policies]
        query = "SELECT hash(digest), digest FROM (SELECT unnest(?::VARCHAR[]) AS digest)"
        named = dict(self._rows(query, digests))
        for name, hook, policy, working, tenths, many in self._rows("FROM spent"):
            told.evaluated((name, hook, named.get(policy, UNTOLD), named.get(working, UNTOLD)), tenths, many)
        for name, hook, policy, denied, many in self._rows(
            "SELECT name, hook, policy, count(*) FILTER (is_denied), count(*) FROM calls GROUP BY ALL"
        ):
            told.evaluated((name, hook, policy, ""), (-1,), (many,))
            told.denied += denied
        for name, many in self._rows("SELECT name, count(*) FROM skips SEMI JOIN wanted USING (rule) GROUP BY ALL"):
            told.skipped[name] += many

    def _rows(self, query: str, *parameters: object) -> Iterator[tuple[Any, ...]]:
        found = self.database.execute(query, parameters)
        while rows := found.fetchmany(_FETCHED):
            yield from rows


def _run(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """The statements of a file."""
    with open(f"{_FOLDER}{name}.sql", encoding="utf-8") as file:
        connection.execute(file.read())


def _macros(group: Group, since: float) -> Iterator[str]:
    """What the files of SQL call: the protocol's tables, and what the names of groups are made of."""
    triggers = TRIGGERS.values()
    yield f"is_before(hook) AS hook IN {_listed(one.name for one in triggers if not one.post)}"
    yield f"is_call(hook) AS hook IN {_listed(one.name for one in triggers if one.family in COUNTED)}"
    yield f"family_of(hook) AS {_case('hook', {one.name: quoted(one.family) for one in triggers}, 'hook')}"
    yield f"strength_of(level) AS {_case('level', {level: str(strength(level)) for level in LEVEL_OF}, 'NULL')}"
    kinds = " ".join(f"WHEN starts_with(actor, '{kind}:') THEN '{kind}'" for kind in ("human", "agent"))
    yield f"kind_of(actor) AS CASE {kinds} ELSE split_part(coalesce(actor, ''), ':', 1) END"  # which takes long
    false = ("", "false", "0", "0.0", "[]", "{}")
    yield f"is_true(told) AS told IS NOT NULL{''.join(f' AND told <> {quoted(one)}' for one in false)}"
    yield "tenths_of(ms) AS CASE WHEN ms >= 0 AND ms < 1 << 30 THEN round_even(ms * 10, 0)::BIGINT ELSE -1 END"
    about = "CASE WHEN family_of(hook) = 'tool-use' THEN nullif(target, '') END"
    yield f"key_of(hook, rule, who, target) AS hash(family_of(hook), rule, who, {about})"
    yield f"counts(moment) AS moment / 1000.0 >= {since!r}"
    for constant in _CONSTANTS:
        yield f"{constant}() AS {getattr(columns, constant)}"
    yield f"remembered() AS {int(FORGET_AFTER * 1000)}"
    yield f"reopened_within() AS {int(REOPENED_WITHIN * 1000)}"
    yield f"is_risk(action) AS action = {quoted(RISK)}"
    yield f"is_reset_by_a_person(action) AS action IN {_listed(PERSON_RESETS)}"
    untold = quoted(UNTOLD)
    yield f"untold() AS {untold}"
    people = {"agent": "coalesce(nullif(substr(actor, 7), ''), 'agent')", "human": quoted(PEOPLE)}
    named = {
        "agent": _case("kind_of(actor)", people, f"coalesce(nullif(kind_of(actor), ''), {untold})"),
        "week": "strftime(make_timestamp_ms(moment), '%G-W%V')",
    }
    name = named.get(group.by, f"coalesce(nullif({group.by}, ''), {untold})")
    # An evaluation is no rule's own.
    told = "NULL::VARCHAR" if group.by == "rule" else name
    yield f"told_by(hook, subject, actor, environment, moment) AS {told}"
    yield f"placed_as(name) AS {untold if group.by == 'rule' else 'name'}"
    # Only verdicts tell the environment.
    is_environment = group.by == "environment"
    yield f"environment_of(name) AS {'name' if is_environment else 'NULL::VARCHAR'}"
    yield f"judged_as(name, environment) AS {'environment' if is_environment else 'name'}"
    yield f"stands_as(opened_as, known_as) AS {f'coalesce(known_as, {untold})' if is_environment else 'opened_as'}"


def _listed(names: Iterable[str]) -> str:
    return f"({', '.join(map(quoted, names))})"


def _case(word: str, values: dict[str, str], otherwise: str) -> str:
    whens = " ".join(f"WHEN {quoted(name)} THEN {value}" for name, value in values.items())
    return f"CASE {word} {whens} ELSE {otherwise} END"

"""Whether the log is as it was written: every line names the digest of the one before it (design §7).

The chain finds accidents and edits. That the end was cut off, or that all was written anew, it can only find against
an anchor: the head of the log, kept elsewhere. What an index or a state remembered of a cut end, the log itself tells.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from ahp.journal import recovery, segments, tables
from ahp.journal.append import Journal
from ahp.journal.decoding import decode
from ahp.journal.recovery import genesis_told
from ahp.protocol.text import one_line
from ahp.system import clock
from ahp.system.errors import AhpError

PREFIX = "ahp1"
"""What an anchor begins with."""
_TOLD = 1000  # problems of the chain; of torn lines as many
_DAY = 86400.0


class Report(NamedTuple):
    """What was found: how many lines, the head, what is wrong (each with its line), and what cannot be known."""

    lines: int
    head: str
    genesis: str
    problems: list[str]
    notes: list[str]


def anchor(journal: Journal) -> str:
    """The head of the log, to be kept elsewhere: `ahp1:<genesis>:<lines>:<sha256>`. Raises AhpError."""
    index = journal.index()
    if not index.count:
        raise AhpError(f"there is no log at {journal.log_path} yet")
    return f"{PREFIX}:{index.genesis}:{index.count}:{index.head}"


def verify(journal: Journal, kept: Collection[str] = ()) -> Report:
    """Checks the whole log, and that it still holds the lines that anchors `kept` elsewhere name.

    Reads it once; where the chain is broken, once more to say how. Raises AhpError.
    """
    segments.check_format(journal.folder)
    anchors = sorted({_parse(one) for one in kept}, key=lambda one: one.line)
    while True:
        index, state = journal.remembered(), tables.remembered(journal.folder + tables.NAME)
        found = segments.listed(journal.folder)
        first = segments.opening(found[0]) if found else {}
        chain = _Chain({one.head for one in anchors} | ({index.head} if index else set()))
        for segment in found:
            chain.read(segment)
        if [part.serial for part in segments.listed(journal.folder)[:1]] == [part.serial for part in found[:1]]:
            break  # else a person pruned it meanwhile
    genesis = genesis_told(first)
    problems = [*_beginning(journal, found, first, chain), *chain.told, *chain.problems()]
    lost = {"index": index.count} if index and index.inode and index.head not in chain.seen else {}
    if not lost and state and recovery.is_gone(journal.folder, state):
        lost = {"state": state.lines}
    for name, lines in lost.items():
        told = f"its {name} remembers {lines} lines, and the last one is gone"
        problems.append(f"the log was cut or its end edited: {told}")
    notes = list(chain.notes)
    if anchors:
        problems += _against(anchors, chain, genesis)
    else:
        notes.append("no anchor given: whether the end was cut off, or all written anew, cannot be told")
    ahead = (chain.last - clock.now()) / _DAY
    if ahead > 1:
        notes.append(f"the last record is {ahead:.0f} days ahead of the clock; a person fixes it: ahp doctor --fix")
    return Report(chain.count, chain.head, genesis, problems, notes)


class _Anchor(NamedTuple):
    genesis: str
    line: int
    head: str


def _parse(text: str) -> _Anchor:
    fields = text.strip().split(":")
    if len(fields) != 4 or fields[0] != PREFIX or not fields[2].isdecimal():
        raise AhpError(f"not an anchor: {text[:60]!r}; `ahp log anchor` prints one")
    return _Anchor(fields[1], int(fields[2]), fields[3].lower())


def _against(anchors: list[_Anchor], chain: _Chain, genesis: str) -> Iterable[str]:
    """What the log lacks of the lines that anchors name; those before its beginning a person removed."""
    others = {one.genesis for one in anchors} - {genesis}
    for other in sorted(others):
        yield f"the anchor is of the log {_shown(other)}, this one is {_shown(genesis) or 'without a beginning'}"
    lost = [one for one in anchors if one.genesis == genesis and one.head not in chain.seen]
    lost = [one for one in lost if one.line > chain.pruned_lines()]
    if lost:
        more = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
        why = "its end was cut off or written anew, or a copy of this clone kept it"
        yield f"the anchor's line {lost[0].line} is not in the log{more}: {why}"


def _beginning(
    journal: Journal, found: list[segments.Segment], first: Mapping[str, object], chain: _Chain
) -> Iterable[str]:
    genesis = genesis_told(first)
    if journal.genesis is not None and genesis != journal.genesis:
        yield f"this is not the log that was installed here ({journal.genesis}): it vanished or was replaced"
    if not found:
        return
    if first.get("kind") != "genesis" and not chain.is_pruned_before(first):
        yield f"{chain.place(0)}: the log's beginning is missing"
    if isinstance(replaced := first.get("replaces"), str):
        yield f"{chain.place(0)}: this log replaces {_shown(replaced)}, which vanished"
    for before, segment in pairwise(found):
        if segment.serial != before.serial + 1:
            yield f"signals.{before.serial + 1}.jsonl is missing"


class _Chain:
    """The lines in order: how many there are, the digest of the last one.

    `seen` are those of the `wanted` digests that a line has, `told` what records say of losses, `last` is the latest
    time stamp.
    """

    def __init__(self, wanted: set[str]) -> None:
        self.count = 0
        self.head, self.last = "", 0.0
        self.told: list[str] = []
        self.notes: list[str] = []
        self.seen: set[str] = set()
        self._wanted = wanted
        self._whole = True
        self._stamp: object = None
        self._files: list[tuple[int, str]] = []
        self._segments: list[segments.Segment] = []
        self._pruned: list[dict[str, object]] = []

    def read(self, segment: segments.Segment) -> None:
        """Takes up the lines of the next file."""
        self._files.append((self.count, segment.path.rpartition("/")[2]))
        self._segments.append(segment)
        for _, lines, _ in segments.blocks_in(segment):
            for raw in lines:
                self._take(raw)

    def place(self, nth: int) -> str:
        """File and line number of a line of the log."""
        first, name = self._files[bisect_right(self._files, (nth, "\uffff")) - 1]
        return f"{name}:{nth - first + 1}"

    def is_pruned_before(self, first: Mapping[str, object]) -> bool:
        """Whether a person removed all that came before the record `first`; one who was stopped left some of it."""
        n = first.get("n")
        stopped = isinstance(n, int) and 1 < n <= self.pruned_lines()
        return stopped or any(record.get("head") == first.get("prev") for record in self._pruned)

    def pruned_lines(self) -> int:
        """How many lines at the beginning a person removed."""
        told = [record.get("lines") for record in self._pruned]
        return max([lines for lines in told if isinstance(lines, int)], default=0)

    def _take(self, raw: bytes) -> None:
        record, own = decode(raw), sha256(raw).hexdigest()
        self.count += 1
        if own in self._wanted:
            self.seen.add(own)
        if record:
            if self.head and record.get("prev") != f"sha256:{self.head}":
                self._whole = False
            if record.get("kind") in _TELLING:
                self._tell(record)
            stamp = record.get("timestamp")
            if stamp != self._stamp:
                self._stamp, at = stamp, clock.seconds(stamp)
                self.last = self.last if at is None else at
        else:
            self._note("a torn line, as a crash or a full disk leaves it")
        self.head = own

    def _tell(self, record: dict[str, object]) -> None:
        kind = record.get("kind")
        if kind == "rotation" and record.get("missing"):
            self._lost("the file before this one was followed by records that are gone")
        elif kind == "cut":
            had = f"it had {_shown(record.get('had'))} lines"
            self._lost(f"the log was cut before this line: {had}, and the last of them is gone")
        elif kind == "prune":
            self._pruned.append(record)
            self._note(f"{_shown(record.get('by'))} pruned the log up to its line {_shown(record.get('lines'))}")
        elif kind == "clock":
            self._note(f"{_shown(record.get('by'))} set the clock right, which had said {_shown(record.get('was'))}")

    def _lost(self, what: str) -> None:
        if len(self.told) < _TOLD:
            self.told.append(f"{self.place(self.count - 1)}: {what}")

    def _note(self, what: str) -> None:
        if len(self.notes) < _TOLD:
            self.notes.append(f"{self.place(self.count - 1)}: {what}")

    def problems(self) -> list[str]:
        """What is wrong with the chain, one sentence a line that does not belong where it is."""
        if self._whole:
            return []
        told = _Explanation(self._segments, self.place).told()
        shown = [f"{self.place(i)}: {what}" for i, what in sorted(told.items())]
        more = [f"and {len(shown) - _TOLD} more"] if len(shown) > _TOLD else []
        return shown[:_TOLD] + more


_TELLING = ("rotation", "cut", "prune", "clock")


class _Explanation:
    """Why lines of a broken chain do not belong where they are."""

    def __init__(self, found: Iterable[segments.Segment], place: Callable[[int], str]) -> None:
        self.own, self.prev, self.n = array("Q"), array("Q"), array("Q")  # digests by their first 64 bits
        self.torn = bytearray()
        for segment in found:
            for line in segments.forward_in(segment):
                self._take(line.raw)
        self._first: dict[int, int] = {}
        for i, own in enumerate(self.own):
            self._first.setdefault(own, i)
        self._named = frozenset(self.prev)
        self._found: dict[int, str] = {}
        self._place = place

    def _take(self, raw: bytes) -> None:
        record = decode(raw) or {}
        prev, n = record.get("prev"), record.get("n")
        self.own.append(_number(sha256(raw).hexdigest()))
        self.prev.append(_number(prev.removeprefix("sha256:") if isinstance(prev, str) else ""))
        self.n.append(n if isinstance(n, int) and 0 < n < 1 << 63 else 0)
        self.torn.append(not record)

    def told(self) -> dict[int, str]:
        """By line."""
        before: int | None = None
        for i, own in enumerate(self.own):
            first = self._first[own]
            if first != i:
                self._found[i] = f"inserted: a copy of {self._place(first)}"
                continue
            if before is not None and not self.torn[i] and self.prev[i] != self.own[before]:
                follows = i + 1 < len(self.own) and self.prev[i + 1] == self.own[before]
                if own not in self._named and follows:
                    self._found[i] = "inserted"
                    continue
                self._explain(i, before)
            before = i
        return self._found

    def _explain(self, i: int, before: int) -> None:
        """Why line `i` does not name the line before it."""
        where = self._first.get(self.prev[i]) if self.prev[i] else None
        if where is None:
            gap = self.n[i] - self.n[before] - 1
            if self.n[i] and self.n[before] and gap > 0:
                self._found.setdefault(i, f"{gap} missing before this line")
            elif self.prev[i] or self.n[i] == 1:
                self._found.setdefault(before, "edited: the next line was chained to other bytes")
            else:
                self._found.setdefault(i, "inserted or edited: it names no line before it")
        elif where > i:
            self._found.setdefault(i, f"reordered: it was written after {self._place(where)}")
        else:
            for k in range(where + 1, i):
                moved = self.own[k] in self._named
                why = "reordered: lines after it were written before it" if moved else "inserted"
                self._found.setdefault(k, why)


def _shown(told: object) -> str:
    """A word of a log that anybody may have written."""
    return one_line(told, 64)


def _number(sha256: str) -> int:
    try:
        return int(sha256[:16], 16)
    except ValueError:
        return 0

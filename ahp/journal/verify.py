"""Whether the log is as it was written: every line names the digest of the one before it (design §7).

The chain finds accidents and edits. That the end was cut off, or that all was written anew, it can only find against
an anchor: the head of the log, kept elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from ahp.journal import index as indexes
from ahp.journal import segments
from ahp.journal.append import Journal
from ahp.journal.rotation import genesis_of
from ahp.system import digest
from ahp.system.errors import AhpError

_ANCHOR = "ahp1"


class Link(NamedTuple):
    """One line as the chain sees it: where it is, its digest, the one it names, its number (0: it tells none)."""

    place: str
    own: str
    prev: str
    n: int
    kind: str
    torn: bool


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
    if not index.inode:
        raise AhpError(f"there is no log at {journal.log_path} yet")
    return f"{_ANCHOR}:{index.genesis}:{index.count}:{index.head}"


def verify(journal: Journal, kept: str | None = None) -> Report:
    """Checks the whole log, and that it still holds the line an anchor `kept` elsewhere names. Raises AhpError."""
    wanted = _parse(kept) if kept is not None else None
    parts = segments.listed(journal.folder)
    links = list(_links(parts))
    genesis = genesis_of(parts[0]) if parts else ""
    problems = [*_beginning(journal, parts, links, genesis), *_chain(links), *_index(journal, links)]
    notes = [f"{link.place}: a torn line, as a crash or a full disk leaves it" for link in links if link.torn]
    if wanted is None:
        notes.append("no anchor given: whether the end was cut off, or all written anew, cannot be told")
    elif wanted[0] != genesis:
        problems.append(f"the anchor is of the log {wanted[0]}, this one is {genesis or 'without a beginning'}")
    elif wanted[2] not in {link.own for link in links}:
        problems.append(f"the anchor's line {wanted[1]} is not in the log: its end was cut off or written anew")
    return Report(len(links), links[-1].own if links else "", genesis, problems, notes)


def _parse(text: str) -> tuple[str, int, str]:
    fields = text.strip().split(":")
    if len(fields) != 4 or fields[0] != _ANCHOR or not fields[2].isdecimal():
        raise AhpError(f"not an anchor: {text[:60]!r}; `ahp log anchor` prints one")
    return fields[1], int(fields[2]), fields[3].lower()


def _links(parts: Iterable[segments.Segment]) -> Iterable[Link]:
    for part in parts:
        name = part.path.rpartition("/")[2]
        for number, line in enumerate(segments.forward_in(part), 1):
            record = line.record() or {}
            n, prev = record.get("n"), record.get("prev")
            yield Link(
                f"{name}:{number}",
                digest.sha256(line.raw),
                prev.removeprefix("sha256:") if isinstance(prev, str) else "",
                n if isinstance(n, int) else 0,
                str(record.get("kind") or "") + (" missing" if record.get("missing") else ""),
                not record,
            )


def _beginning(journal: Journal, parts: list[segments.Segment], links: list[Link], genesis: str) -> Iterable[str]:
    if journal.genesis is not None and genesis != journal.genesis:
        yield f"this is not the log that was installed here ({journal.genesis}): it vanished or was replaced"
    if not links:
        return
    if links[0].kind != "genesis":
        yield f"{links[0].place}: the log's beginning is missing"
    first = next(segments.forward_in(parts[0])).record() or {}
    if isinstance(replaced := first.get("replaces"), str):
        yield f"{links[0].place}: this log replaces {replaced[:64]}, which vanished"
    for before, part in pairwise(parts):
        if part.serial != before.serial + 1:
            yield f"signals.{before.serial + 1}.jsonl is missing"
    for link in links:
        if link.kind == "rotation missing":
            yield f"{link.place}: the file before this one was followed by records that are gone"


def _chain(links: list[Link]) -> list[str]:
    """What is wrong with the chain, one sentence a line that does not belong where it is."""
    first_of: dict[str, int] = {}
    for i, link in enumerate(links):
        first_of.setdefault(link.own, i)
    named = {link.prev for link in links}
    told: dict[int, str] = {}
    before: int | None = None
    for i, link in enumerate(links):
        if first_of[link.own] != i:
            told[i] = f"inserted: a copy of {links[first_of[link.own]].place}"
            continue
        if before is not None and not link.torn and link.prev != links[before].own:
            if link.own not in named and i + 1 < len(links) and links[i + 1].prev == links[before].own:
                told[i] = "inserted"
                continue
            _explain(links, i, before, first_of.get(link.prev), named, told)
        before = i
    return [f"{links[i].place}: {what}" for i, what in sorted(told.items())]


def _explain(links: list[Link], i: int, before: int, where: int | None, named: set[str], told: dict[int, str]) -> None:
    """Why line `i` does not name the line before it; `where` is the line that it names, None when there is none."""
    link = links[i]
    if where is None:
        gap = link.n - links[before].n - 1
        if link.n and links[before].n and gap > 0:
            told.setdefault(i, f"{gap} missing before this line")
        elif link.prev or link.kind == "genesis":
            told.setdefault(before, "edited: the next line was chained to other bytes")
        else:
            told.setdefault(i, "inserted or edited: it names no line before it")
    elif where > i:
        told.setdefault(i, f"reordered: it was written after {links[where].place}")
    else:
        for k in range(where + 1, i):
            moved = links[k].own in named
            told.setdefault(k, "reordered: lines after it were written before it" if moved else "inserted")


def _index(journal: Journal, links: list[Link]) -> Iterable[str]:
    """The index is no proof, but it may remember a line that the log lacks: also when an editor made a new file."""
    try:
        index = indexes.IndexFile(journal.index_path).load()
    except OSError:
        return
    if index and index.inode and index.head not in {link.own for link in links}:
        yield f"the log was cut or its end edited: its index remembers {index.count} lines, the last of which is gone"

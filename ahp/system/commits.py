"""Commits that exist, many at a time: a few questions to git for each hundred of them, not for each one."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from ahp.system import blobs, clock
from ahp.system import change as changes
from ahp.system.errors import AhpError
from ahp.system.git import Repository, is_signed
from ahp.system.history import RangeView, cut
from ahp.system.view import PATCH, RAW, literally

# Each process of git reads the packs anew, so that few large questions cost half of many small ones.
_FIRST, _MOST = 100, 1000
_ROOM, _SOON = 8 << 20, 1.0  # bytes, and seconds; after a larger or later answer git is asked about fewer commits
_FAILURES = 20  # twice those of one damaged commit among a thousand
_TOLD_AT_ONCE = 2000
_FIELDS = "%H%x00%P%x00%cI%x00%an <%ae>%x00%e%x00%cn <%ce>"
# git takes any offset from whoever makes a commit: `+518:00` stands in the history of requests.
_LOCAL = len("2011-09-08T02:38:50")
_FAR_OFF = re.compile(r"([+-])(2[4-9]|[3-9]\d|\d{3,}):(\d\d)")
# A line of its own in a patch: every other line of one begins with a sign or a word, whatever a file holds.
_NAME = re.compile(rb"^([0-9a-f]{40,64})\n", re.MULTILINE)


class Past(NamedTuple):
    """One commit: its id, its parents, when it was committed (RFC 3339), its author as `Name <email>`, its message, and
    the encoding of both that it names itself, "" for UTF-8; its committer, and whether it
    `is_signed`, by whomever. A tree or a blob that a ref names `is_object`.
    """

    id: str
    parents: tuple[str, ...]
    made: str
    author: str
    message: str
    encoding: str = ""
    committer: str = ""
    is_signed: bool = False
    is_object: bool = False

    @property
    def parent(self) -> str:
        """The first parent, "" of a root."""
        return self.parents[0] if self.parents else ""

    @property
    def time(self) -> datetime:
        """When it was committed, on the committer's clock; in UTC where that is further off than clocks are.

        Raises AhpError for a time that is no date.
        """
        local, offset = self.made[:_LOCAL], self.made[_LOCAL:]
        try:
            if not (far := _FAR_OFF.fullmatch(offset)):
                return datetime.fromisoformat(self.made)
            hours, minutes = (int(far.group(1) + digits) for digits in far.group(2, 3))
            return datetime.fromisoformat(local + "Z") - timedelta(hours=hours, minutes=minutes)
        except (ValueError, OverflowError):
            when = "a time that git cannot read" if self.made.startswith("%") else f"{self.made}, which is no date"
            raise AhpError(
                f"it was committed at {when}; fix: git rebase --no-ff {self.parent[:10] or '--root'}"
            ) from None

    @property
    def is_merge(self) -> bool:
        """Whether it has more than one parent."""
        return len(self.parents) > 1

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.lstrip("\n").partition("\n")[0]


class PastView(RangeView):
    """A commit against its first parent; what was read of it for many at once is not asked again.

    `own` is what the commit itself brings: of a merge, what no parent has (authority §5).
    """

    __slots__ = ("_known", "_text", "_together", "own")
    kind = "commit"

    def __init__(self, repo: Repository, past: Past, old: str, together: "_Together") -> None:
        super().__init__(repo, old, past.id, unknown=None if past.parents else cut(repo, past.id))
        self._known, self._text = together.raw.get(past.id), together.text.get(past.id)
        self._together = together
        self.own: RangeView = self

    def blob_sizes(self, oids: list[str]) -> dict[str, int]:
        return self._together.sizes(oids)

    def blob_lines(self, sizes: dict[str, int]) -> dict[str, int]:
        return self._together.lines(sizes)

    def lacking(self) -> frozenset[str]:
        """The changed paths whose content is not here; none where it is not known what changed."""
        try:
            return self.change().lacking
        except AhpError:
            return frozenset()

    def _verify(self, entries: list[changes.FileChange]) -> None:
        super()._verify(self._together.unverified() or entries)

    def _read_change(self) -> changes.Change:
        if self._known is None or self.unknown is not None:
            return super()._read_change()
        return changes.parse(self._known)

    def _patch(self, *options: str, paths: Sequence[str] = ()) -> bytes:
        if options or paths:
            return super()._patch(*options, paths=paths)
        if self._text is None:
            self._text = super()._patch()
        return self._text


class _Together:
    """What is asked of git once for a hundred commits: `raw`, which `changes.parse` reads, and the patch, by commit. A
    commit that is in neither has to be asked alone.
    """

    def __init__(self, repo: Repository, part: list[Past], with_text: bool) -> None:
        self._repo = repo
        asked = [(one.id, one.parent) for one in part]
        raw = compared(repo, asked, RAW)
        text = compared(repo, asked, PATCH) if with_text else []
        self.length = sum(len(data) for _, data in (*raw, *text))
        self.raw = {name: data for _, told in raw for name, data in split_raw(told)}
        self.text = {name: data for _, told in text for name, data in split_text(told).items()}
        self._sizes: dict[str, int] | None = None
        self._lines: dict[str, int] | None = None
        self._is_verified = False
        self.views: list[PastView] = []

    def sizes(self, oids: list[str]) -> dict[str, int]:
        """The bytes of each blob that is here, those of all commits asked the first time."""
        if self._sizes is None:
            self._sizes = blobs.sizes(
                self._repo, [entry.new_oid for entry in self._entries() if entry.new_mode in _FILES]
            )
        other = [oid for oid in oids if oid not in self._sizes]
        return {**self._sizes, **blobs.sizes(self._repo, other)} if other else self._sizes

    def lines(self, wanted: dict[str, int]) -> dict[str, int]:
        """The lines of each blob of which the size is given, those of all commits counted the first time."""
        if self._lines is None:
            files = [entry for entry in self._entries() if entry.new_mode in _FILES]
            text = [entry.new_oid for entry in files if entry.insertions is not None]
            known = self.sizes(text)
            small = {oid: known[oid] for oid in text if known.get(oid, blobs.LINES_LIMIT + 1) <= blobs.LINES_LIMIT}
            self._lines = blobs.lines(self._repo, small)
        other = {oid: size for oid, size in wanted.items() if oid not in self._lines}
        return {**self._lines, **blobs.lines(self._repo, other)} if other else self._lines

    def unverified(self) -> list[changes.FileChange]:
        """The changed files of all commits, to be hashed together; none the second time."""
        lacking = {path for view in self.views for path in view.lacking()} if not self._is_verified else set()
        found = [] if self._is_verified else [one for one in self._entries() if one.path not in lacking]
        self._is_verified = True
        return found

    def _entries(self) -> Iterator[changes.FileChange]:
        for view in self.views:
            try:
                entries = view.change().entries
            except AhpError:
                continue  # it is asked alone, and says then what is wrong
            yield from entries


_FILES = (changes.FILE, changes.EXECUTABLE, changes.LINK)


def commits(repo: Repository, range_: str | None = None, limit: int | None = 100) -> list[Past]:
    """The last `limit` commits (None for all) of `range_` (`A..B`, default all that HEAD has), newest first.

    An empty list before the first commit. Raises AhpError for a range that git does not know.
    """
    if range_ is None and repo.commit_id("HEAD") is None:
        return []
    if range_ is not None and range_.startswith("-"):
        raise AhpError(f"{range_!r} is no range; write A..B")
    for end in (range_ or "").replace("...", "..").split(".."):
        if end and repo.commit_id(end) is None:
            raise AhpError(f"there is no commit {end!r}; a range is A..B")
    most = [] if limit is None else [f"--max-count={limit}"]
    return listed(repo, repo.run("rev-list", *most, range_ or "HEAD", "--").decode().split())


def listed(repo: Repository, ids: list[str]) -> list[Past]:
    """What git tells of these commits, in order; each is hashed. Raises GitError."""
    found = []
    for (oid, parents, made, author, encoding, committer), text, printed in _told(repo, ids, _FIELDS):
        message = text.rstrip("\n") + "\n" if text.strip() else ""
        signed = is_signed(printed)
        found.append(Past(oid, tuple(parents.split()), made, author, message, encoding, committer, signed))
    return found


def texts(repo: Repository, ids: Sequence[str]) -> dict[str, str]:
    """The whole messages of commits, without NUL, in order; bytes that are not UTF-8 as lone surrogates.

    They are kept as long as answers are. Raises GitError.
    """
    kept = repo.texts if repo.answers is not None else {}
    kept.update({oid: text for (oid,), text, _ in _told(repo, [oid for oid in ids if oid not in kept], "%H")})
    return {oid: kept[oid] for oid in ids}


def _told(repo: Repository, ids: Sequence[str], fields: str) -> Iterator[tuple[list[str], str, bytes]]:
    """Of each commit, in order, the fields of git's format, the message without NUL, and the commit as git prints it.

    git shows of a message what stands before a NUL; the rest of such a one is read from the commit itself.
    """
    count = fields.count("%x00") + 2
    for start in range(0, len(ids), _TOLD_AT_ONCE):
        some = [*ids[start : start + _TOLD_AT_ONCE]]
        asked = "".join([f"{oid}\n" for oid in some]).encode()
        printed = repo.printed(some)
        log = repo.run("log", "--no-walk=unsorted", "--stdin", "-z", f"--format={fields}%x00%B", stdin=asked)
        told = log.decode("utf-8", "surrogateescape").split("\0")
        for at in range(0, len(told) - count + 1, count):
            *found, text = told[at : at + count]
            raw = printed[found[0]]
            if b"\0" in raw:
                whole = raw.partition(b"\n\n")[2].removesuffix(b"\n").replace(b"\0", b"")
                text = whole.decode("utf-8", "surrogateescape")
            yield found, text, raw


def foresee(repo: Repository, ranges: Sequence[RangeView]) -> None:
    """Has git compare the two ends of many ranges together, a hundred at a time and not before one is asked for."""
    plain = [view for view in ranges if view.is_plain]
    for start in range(0, len(plain) if len(plain) > 1 else 0, _FIRST):
        part = plain[start : start + _FIRST]
        compared = _Compared(repo, [(view.new, view.old) for view in part])
        for view in part:
            view.foresee(partial(compared.raw, (view.new, view.old)), *RAW)


class _Compared:
    """What `diff-tree` says of pairs of commits; read once it is asked."""

    def __init__(self, repo: Repository, pairs: list[tuple[str, str]]) -> None:
        self._repo, self._pairs = repo, list(dict.fromkeys(pairs))
        self._read: dict[tuple[str, str], bytes] | None = None

    def raw(self, pair: tuple[str, str]) -> bytes | None:
        """None where this pair has to be asked alone."""
        if self._read is None:
            self._read = {}
            for part, told in compared(self._repo, self._pairs, RAW):
                self._read |= zip(part, (raw for _, raw in split_raw(told)), strict=True)
        return self._read.get(pair)


def views(repo: Repository, past: list[Past], with_text: bool) -> Iterator[PastView]:
    """The view of each commit, in order; `with_text`: its lines will be asked for, too. Raises GitError."""
    empty = repo.empty_tree()
    start, number = 0, _FIRST
    while part := past[start : start + number]:
        begun = clock.monotonic()
        together = _Together(repo, part, with_text)
        is_small = together.length < _ROOM and clock.monotonic() - begun < _SOON
        together.views = [PastView(repo, one, one.parent or empty, together) for one in part]
        _add_own(repo, [(one, view) for one, view in zip(part, together.views, strict=True) if one.is_merge])
        yield from together.views
        start += number
        number = min(2 * number, _MOST) if is_small else max(number // 2, 1)


def _add_own(repo: Repository, merges: list[tuple[Past, PastView]]) -> None:
    """Gives the views of merges what the merge itself brings: what differs from each parent."""
    asked = [(one.id, parent) for one, _ in merges for parent in sorted(one.parents)]
    sides: dict[tuple[str, str], bytes] = {}
    for part, told in compared(repo, asked, (*RAW, "--no-renames")):
        sides |= zip(part, (raw for _, raw in split_raw(told)), strict=True)
    for one, view in merges:
        first, *others = sorted(one.parents)
        view.own = RangeView(repo, first, one.id, tuple(others))
        known = [sides.get((one.id, parent)) for parent in (first, *others)]
        if None not in known:
            view.own.read_already([changes.parse(raw) for raw in known if raw is not None])


def compared(
    repo: Repository, asked: list[tuple[str, str]], options: tuple[str, ...], paths: Sequence[str] = ()
) -> list[tuple[list[tuple[str, str]], bytes]]:
    """git's answers for the (commit, parent), for some of them each, of all or of some `paths`; without those that git
    cannot tell or that are too long. Where it cannot tell of some, each half of them is asked alone, unless that failed
    often: a partial clone may lack something of each.
    """
    found, waiting, failed = [], [asked] if asked else [], 0
    command = (*literally(paths), "diff-tree", "--stdin", "--always", "-r", "--root", *options, "--", *paths)
    while waiting:
        some = waiting.pop()
        stdin = "".join(f"{commit} {parent}".rstrip() + "\n" for commit, parent in some).encode()
        try:
            found.append((some, repo.run(*command, stdin=stdin, objects=True)))
        except AhpError:
            failed += 1
            middle = len(some) // 2
            if middle and failed <= _FAILURES:
                waiting += [some[middle:], some[:middle]]
    return found


def split_raw(data: bytes) -> list[tuple[str, bytes]]:
    """(id, what `change.parse` reads); followed by its grammar, so that no file name can pass for an id."""
    found: list[tuple[str, list[bytes]]] = []
    fields = data.split(b"\0")
    at = 0
    while at < len(fields) - 1:
        head = fields[at]
        if head[:1] == b":":
            step = 3 if head.rpartition(b" ")[2][:1] in b"RC" else 2
        elif b"\t" in head:
            step = 1 if head.split(b"\t", 2)[2] else 3
        else:
            found.append((head.decode(), []))
            at += 1
            continue
        found[-1][1].extend(fields[at : at + step])
        at += step
    return [(name, b"".join(field + b"\0" for field in parts)) for name, parts in found]


def split_text(data: bytes) -> dict[str, bytes]:
    """The patch of each commit, by its id."""
    parts = _NAME.split(data)
    return {name.decode(): text for name, text in zip(parts[1::2], parts[2::2], strict=True)}

"""Commits that exist, many at a time: a question to git for each hundred of them, not for each one."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ahp.system import change as changes
from ahp.system.errors import AhpError
from ahp.system.git import PLAIN_LOG, Repository
from ahp.system.history import RangeView
from ahp.system.view import PATCH, RAW

_AT_ONCE = 100
_FIELDS = "%H%x00%P%x00%aI%x00%an <%ae>%x00%B"
# A line of its own in a patch: every other line of one begins with a sign or a word, whatever a file holds.
_NAME = re.compile(rb"^([0-9a-f]{40,64})\n", re.MULTILINE)


class Past(NamedTuple):
    """One commit: its id, its first parent ("" for a root), when its author made it (RFC 3339), `Name <email>`, and
    its message as git stores it.
    """

    id: str
    parent: str
    is_merge: bool
    made: str
    author: str
    message: str

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.lstrip("\n").partition("\n")[0]


class PastView(RangeView):
    """A commit against its first parent; what was read of it for many at once is not asked again."""

    __slots__ = ("_known", "_text")
    kind = "commit"

    def __init__(self, repo: Repository, old: str, new: str, raw: bytes | None, text: bytes | None) -> None:
        super().__init__(repo, old, new)
        self._known, self._text = raw, text

    def _read_change(self) -> changes.Change:
        return super()._read_change() if self._known is None else changes.parse(self._known)

    def _patch(self, *options: str, paths: "tuple[str, ...] | list[str]" = ()) -> bytes:
        if options or paths:
            return super()._patch(*options, paths=paths)
        if self._text is None:
            self._text = super()._patch()
        return self._text


def commits(repo: Repository, range_: str | None = None, limit: int = 100) -> list[Past]:
    """The last `limit` commits of `range_` (`A..B`, default all that HEAD has), newest first.

    An empty list before the first commit. Raises AhpError for a range that git does not know.
    """
    if range_ is None and repo.commit_id("HEAD") is None:
        return []
    if range_ is not None and range_.startswith("-"):
        raise AhpError(f"{range_!r} is no range; write A..B")
    arguments = [*PLAIN_LOG, f"--max-count={limit}", f"--format={_FIELDS}"]
    log = repo.run("log", "-z", *arguments, range_ or "HEAD", "--").decode("utf-8", "surrogateescape")
    fields = log.split("\0")
    found = []
    for at in range(0, len(fields) - 4, 5):
        parents = fields[at + 1].split()
        message = fields[at + 4].rstrip("\n") + "\n" if fields[at + 4].strip() else ""
        first = parents[0] if parents else ""
        found.append(Past(fields[at], first, len(parents) > 1, fields[at + 2], fields[at + 3], message))
    return found


def views(repo: Repository, past: list[Past], with_text: bool) -> Iterator[PastView]:
    """The view of each commit, in order; `with_text`: its lines will be asked for, too. Raises GitError."""
    empty = repo.empty_tree()
    for start in range(0, len(past), _AT_ONCE):
        part = past[start : start + _AT_ONCE]
        asked = "".join(f"{one.id} {one.parent}".rstrip() + "\n" for one in part).encode()
        raw = _together(repo, asked, RAW)
        text = _together(repo, asked, PATCH) if with_text else None
        known = None if raw is None else _split_raw(raw)
        texts = None if text is None else _split_text(text)
        for one in part:
            yield PastView(
                repo,
                one.parent or empty,
                one.id,
                None if known is None else known.get(one.id, b""),
                None if texts is None else texts.get(one.id, b""),
            )


def _together(repo: Repository, asked: bytes, options: tuple[str, ...]) -> bytes | None:
    """git's answer for all of them; None when one of them is damaged or all are too much: then each is asked alone."""
    try:
        return repo.run("diff-tree", "--stdin", "-r", "--root", *options, stdin=asked)
    except AhpError:
        return None


def _split_raw(data: bytes) -> dict[str, bytes]:
    """Id → what `change.parse` reads; followed by its grammar, so that no file name can pass for an id."""
    found: dict[str, list[bytes]] = {}
    fields = data.split(b"\0")
    at, current = 0, ""
    while at < len(fields) - 1:
        head = fields[at]
        if head[:1] == b":":
            step = 3 if head.rpartition(b" ")[2][:1] in b"RC" else 2
        elif b"\t" in head:
            step = 1 if head.split(b"\t", 2)[2] else 3
        else:
            current, step = head.decode(), 1
            found[current] = []
            at += step
            continue
        found[current] += fields[at : at + step]
        at += step
    return {name: b"".join(field + b"\0" for field in parts) for name, parts in found.items()}


def _split_text(data: bytes) -> dict[str, bytes]:
    parts = _NAME.split(data)
    return {name.decode(): text for name, text in zip(parts[1::2], parts[2::2], strict=True)}

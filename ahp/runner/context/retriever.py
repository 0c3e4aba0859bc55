"""What a model should have seen before it begins: retrieved from the project, read through the gate (seed 003 §5)."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ahp.runner.run.events import Event
from ahp.system import environ, files, git
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.worktree import WorkTreeView
from ahp.tickets.find import Tickets

SECONDS = 5.0  # for one question to git
_FILE_LIMIT = 1 << 20  # bytes
_MOST_FILES = 12  # that are read
_A_SOURCE = 30  # paths of one ranking
_COMMITS = "20"
_AROUND = (3, 12)  # lines before and behind a place
_HEAD = 30  # lines of a file of which no place is known
_LEAST = 60  # tokens: what is shorter tells nothing
_TICKET = "the ticket"


@dataclass(frozen=True)
class Passage:
    """Lines `first` to `last` of a file, and `why` they were chosen."""

    path: str
    first: int
    last: int
    text: str
    why: tuple[str, ...]
    score: float


@dataclass(frozen=True)
class Retrieved:
    """The passages for a scene, best first, the paths that the gate does not let be read, and the policy's brief."""

    passages: list[Passage]
    refused: list[str]
    brief: str = ""


_K = 60  # of the paper: how little the first places of one ranking outweigh the agreement of several


@dataclass
class Fused:
    """One file with its `score`, and the rankings that name it, best first."""

    path: str
    score: float = 0.0
    why: list[str] = field(default_factory=list)


def fuse(rankings: Mapping[str, Sequence[str]]) -> list[Fused]:
    """The paths of all rankings by the sum of 1 / (60 + rank), rank from 1.

    Of equal ones the better placed goes first, then what an earlier ranking names.
    """
    fused: dict[str, Fused] = {}
    places = [(rank, why, path) for why, paths in rankings.items() for rank, path in enumerate(paths, start=1)]
    for rank, why, path in sorted(places, key=lambda place: place[0]):
        one = fused.setdefault(path, Fused(path))
        one.score += 1 / (_K + rank)
        one.why.append(why)
    return sorted(fused.values(), key=lambda one: -one.score)


_MOST_NAMES = 12
# A path or an identifier, and no plain word.
_NAME = re.compile(r"[A-Za-z_]\w*(?:[./-]+\w+)+|\w*_\w*|\w*[a-z][A-Z]\w*")


def names(*texts: str) -> list[str]:
    """At most 12 names of files and of code in texts, of each of which the first 20,000 characters count."""
    found = (name for text in texts for name in _NAME.findall(text[:20_000]) if len(name) > 2)
    return list(dict.fromkeys(found))[:_MOST_NAMES]


def search(repo: Repository, wanted: Sequence[str]) -> dict[str, list[int]]:
    """The tracked files that hold one of the names, those that hold most of them first, with the lines.

    Nothing where git cannot tell, or too much is found.
    """
    grep = ("grep", "-z", "-n", "-o", "-I", "-F", "--no-color", "--no-column", "--full-name", "--no-recurse-submodules")
    try:
        printed = repo.run(*grep, *(f"-e{name}" for name in wanted), ok=(0, 1), timeout=SECONDS)
    except AhpError:
        return {}
    held: dict[str, set[str]] = {}
    lines: dict[str, list[int]] = {}
    for line in printed.decode("utf-8", "surrogateescape").split("\n"):
        path, _, rest = line.partition("\0")
        number, _, name = rest.partition("\0")
        if name:
            held.setdefault(path, set()).add(name)
            lines.setdefault(path, []).append(int(number))
    return {path: lines[path] for path in sorted(lines, key=lambda one: (-len(held[one]), one))}


class Retriever:
    """Looks for what a scene needs in the project at `root`; `may_read(path)` is the gate's word for each file.

    `brief()` is what the policy asks of an agent, given before all else. `tokens` is what all of it together may have,
    by estimate; 0 retrieves nothing.
    """

    def __init__(
        self,
        root: str,
        may_read: Callable[[str], bool],
        *,
        tokens: int,
        issue: str | None = None,
        brief: Callable[[], str] = str,
    ) -> None:
        self._root = root
        self._may_read = may_read
        self._ask_brief, self._brief = brief, ""
        self._tokens = tokens
        self._issue = issue

    def at(self, root: str, may_read: Callable[[str], bool], brief: Callable[[], str]) -> "Retriever":
        """One that looks in another folder, and asks another gate."""
        return Retriever(root, may_read, tokens=self._tokens, issue=self._issue, brief=brief)

    def retrieve(self, texts: Sequence[str], events: Sequence[Event] = ()) -> Retrieved:
        """The passages for what `texts` speak of, the most important first; `events` tell what failed last.

        No passages outside a repository, nor what git cannot tell: what is missing is only missing.
        """
        self._brief = self._brief or (self._ask_brief() if self._tokens else "")
        brief = self._brief if tokens(self._brief) <= self._tokens else ""
        left = self._tokens - (tokens(brief) if brief else 0)
        repo = self._repository() if left >= _LEAST else None
        if repo is None:
            return Retrieved([], [], brief)
        wanted = names(*texts)
        hits = search(repo, wanted) if wanted else {}
        failed = _failures(events)
        rankings = {
            "named": self._named(wanted),
            "git grep": list(hits)[:_A_SOURCE],
            "failed last": list(failed)[:_A_SOURCE],
            _TICKET: self._of_ticket(repo),
            "changed lately": _changed(repo),
        }
        return replace(self._chosen(fuse(rankings), hits, failed, left), brief=brief)

    def _repository(self) -> Repository | None:
        try:
            repo = git.discover(self._root, environ.current())
        except AhpError:
            return None
        return repo if repo.root else None

    def _named(self, wanted: Sequence[str]) -> list[str]:
        """The names that are files of the project."""
        return [name for name in wanted if "." in name and os.path.isfile(os.path.join(self._root, name))]

    def _of_ticket(self, repo: Repository) -> list[str]:
        """The ticket and the files that it names."""
        if self._issue is None:
            return []
        try:
            ticket = Tickets(WorkTreeView(repo, None)).get(self._issue)
        except AhpError:
            return []
        return [ticket.path, *ticket.files][:_A_SOURCE]

    def _chosen(
        self, ranked: list[Fused], hits: dict[str, list[int]], failed: dict[str, list[int]], left: int
    ) -> Retrieved:
        """The best passages that fit in `left` tokens; one file gets half of what is left at most."""
        passages: list[Passage] = []
        refused: list[str] = []
        for one in ranked:
            if left < _LEAST or len(passages) == _MOST_FILES:
                break
            lines = self._read(one.path)
            if lines is None:
                continue
            if not self._may_read(one.path):
                refused.append(one.path)
                continue
            places = [*failed.get(one.path, []), *hits.get(one.path, [])]
            passage = _passage(one, lines, places, max(left // 2, min(left, 2 * _LEAST)))
            if passage is not None:
                passages.append(passage)
                left -= tokens(passage.text)
        return Retrieved(passages, refused)

    def _read(self, path: str) -> list[str] | None:
        """The lines of a text file inside the project; None for a link, what leads outside, and what is no text."""
        place = os.path.join(self._root, path)
        if os.path.realpath(place) != os.path.join(os.path.realpath(self._root), os.path.normpath(path)):
            return None
        try:
            data = files.read(place, _FILE_LIMIT)
        except AhpError:
            return None
        if data is None or b"\0" in data[:8000]:
            return None
        return data.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n")


def tokens(text: str) -> int:
    """About how many tokens a text has, as the conversation counts them."""
    return len(text.encode("utf-8", "replace")) // 3 + 4


def _passage(one: Fused, lines: list[str], places: list[int], room: int) -> Passage | None:
    """The lines round the first places of a file, or its head, as far as they have room."""
    known = [place for place in places if 1 <= place <= len(lines)]
    first = max(known[0] - _AROUND[0], 1) if known else 1
    last = first
    # One passage a file: from the first place on as long as the next one is near.
    end = known[0] + _AROUND[1] if known else _HEAD
    for place in sorted(known):
        if first <= place <= end:
            end = max(end, place + _AROUND[1])
    used = 4
    kept: list[str] = []
    for number in range(first, min(end, len(lines)) + 1):
        line = lines[number - 1]
        used += len(line.encode("utf-8", "replace")) // 3 + 1
        if used > room:
            break
        kept.append(line)
        last = number
    text = "\n".join(kept)
    return Passage(one.path, first, last, text, tuple(one.why), round(one.score, 5)) if text.strip() else None


def _failures(events: Sequence[Event]) -> dict[str, list[int]]:
    """Where the last verification of a run was red: lines by path."""
    last = next((event for event in reversed(events) if event["event"] == "final_verify"), None)
    found: dict[str, list[int]] = {}
    if last is not None and last["result"].get("red", not last["result"]["ok"]):
        for detail in last["result"]["details"]:
            found.setdefault(str(detail["file"]), []).extend([detail["line"]] if detail["line"] else [])
    return found


def _changed(repo: Repository) -> list[str]:
    """What is not committed yet, then what the last commits changed."""
    try:
        status = repo.run("status", "--porcelain", "-z", "--no-renames", "-unormal", timeout=SECONDS)
        paths = [entry[3:] for entry in status.split(b"\0") if len(entry) > 3 and not entry.endswith(b"/")]
        logged = repo.run(
            *("log", "-n", _COMMITS, "--name-only", "--format=", "-z", "--no-renames", "--no-merges"),
            *("--diff-filter=d",),
            ok=(0, 128),  # no commit yet
            timeout=SECONDS,
        )
    except AhpError:
        return []
    paths += [path for path in logged.split(b"\0") if path]
    return list(dict.fromkeys(path.decode("utf-8", "surrogateescape") for path in paths))[:_A_SOURCE]

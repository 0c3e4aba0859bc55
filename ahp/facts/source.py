"""`source`: tests, assertions and silenced checkers in changed files, before and after (design §6).

Both states are read by their syntax, from git's objects: in CI as at the commit. What only moved or was indented is
the same. It is asked only where the rest of a rule leaves it open.
"""

import re
from collections import Counter
from collections.abc import Iterator

from ahp.facts import syntax
from ahp.facts.content import Files
from ahp.facts.registry import CHANGE, Namespace, fact, view_of
from ahp.protocol.event import Event

_PLACE = {"path": fact("str", "", means="path"), "line": fact("int", "", min=1)}
_TEST = {**_PLACE, "name": fact("str", "its name, else its first line")}

NAMESPACE = Namespace(
    source="the syntax of changed files",
    triggers=CHANGE,
    assumed=True,
    late=True,
    schema={
        "tests.removed": fact("list[record]", "tests that are gone, or have another name", fields=_TEST),
        "tests.added": fact("list[record]", "tests that are new, or have another name", fields=_TEST),
        "tests.skipped": fact("list[record]", "tests that are skipped now", fields=_TEST),
        "suppressions.added": fact(
            "list[record]",
            "comments and annotations that silence a checker",
            fields={**_TEST, "text": fact("str", ""), "reason": fact("str", "the words behind it, or empty")},
        ),
        "assertions.before": fact("int", "assertions in those files", min=0),
        "assertions.after": fact("int", "assertions in those files", min=0),
    },
)

# The reason behind what silences a checker, on the same line.
_REASON = re.compile(r"(?:#|--|(?<!:)//)\s*(\w.*)")

Record = dict[str, object]


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. Raises Absent where a changed file cannot be read, Unknown, GitError, AhpError."""
    view = view_of(event, contents=True)
    files, entries = Files(view), view.change().entries
    befores = {e.old_path or e.path for e in entries if e.old_mode and e.status != "C"}
    sides = {"before": befores, "after": {e.path for e in entries if e.new_mode}}
    read = {
        side: [
            (path, syntax.Source(path, files.data(side, path))) for path in sorted(paths) if syntax.language_of(path)
        ]
        for side, paths in sides.items()
    }

    def differ(old: str, new: str, sort: str, key: str = "name") -> list[Record]:
        left = Counter(one[key] for path, source in read[old] for one in _records(path, source, sort))
        found = []
        for one in (one for path, source in read[new] for one in _records(path, source, sort)):
            if not left[one[key]]:
                found.append(one)
            left[one[key]] -= 1
        return found

    asserted = {side: sum(1 for _, one in sources for _ in one.are("assertion")) for side, sources in read.items()}
    return {
        "tests.removed": differ("after", "before", "test"),
        "tests.added": differ("before", "after", "test"),
        "tests.skipped": differ("before", "after", "skip"),
        "suppressions.added": differ("before", "after", "suppression", "text"),
        **{f"assertions.{side}": number for side, number in asserted.items()},
    }


def _records(path: str, source: syntax.Source, sort: str) -> Iterator[Record]:
    for node, hit in source.are(sort):
        text = source.rest(node)
        behind = _REASON.search(text, hit.end() - len(node.kind) - 1)
        reason = next(filter(None, (*hit.groups(), behind and behind[1])), "").strip()
        more = {"text": text.strip(), "reason": reason} if sort == "suppression" else {}
        yield {"path": path, "line": node.line, "name": node.name, **more}

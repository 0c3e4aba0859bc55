"""`source`: tests, assertions and silenced checkers in changed files, before and after (design §6).

Both states are read by their syntax, from git's objects: in CI as at the commit. What only moved or was indented is
the same. It is asked only where the rest of a rule leaves it open.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator

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
            fields={**_PLACE, "text": fact("str", ""), "reason": fact("str", "the words behind it, or empty")},
        ),
        "assertions.before": fact("int", "assertions in those files", min=0),
        "assertions.after": fact("int", "assertions in those files", min=0),
    },
)

# What a comment says to silence a checker, in any language, and the reason behind it.
_SILENCES = re.compile(
    r"(?:#|//|/\*)\s*(?:noqa|type:\s*ignore|pyright:\s*ignore|pylint:\s*disable|nosec|nolint|NOLINT|NOSONAR|NOPMD"
    r"|eslint-disable|oxlint-disable|biome-ignore|@ts-(?:ignore|expect-error|nocheck)|rubocop:\s*disable"
    r"|phpcs:ignore|@phpstan-ignore|credo:disable)"
)
_REASON = re.compile(r"(?:.#|.--|[^:]//|@ts-[\w-]+:?|biome-ignore\s+\S+:)\s*(\w.*)")

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

    def differ(old: str, new: str, tell: Callable[[str, syntax.Source], Iterator[Record]], key: str) -> list[Record]:
        left = Counter(str(one[key]) for path, source in read[old] for one in tell(path, source))
        found = []
        for one in (one for path, source in read[new] for one in tell(path, source)):
            if left[str(one[key])]:
                left[str(one[key])] -= 1
            else:
                found.append(one)
        return found

    asserted = {side: sum(1 for _, one in sources for _ in one.are("assertion")) for side, sources in read.items()}
    return {
        "tests.removed": differ("after", "before", _named("test"), "name"),
        "tests.added": differ("before", "after", _named("test"), "name"),
        "tests.skipped": differ("before", "after", _named("skip"), "name"),
        "suppressions.added": differ("before", "after", _suppressions, "text"),
        **{f"assertions.{side}": number for side, number in asserted.items()},
    }


def _named(sort: str) -> Callable[[str, syntax.Source], Iterator[Record]]:
    def tell(path: str, source: syntax.Source) -> Iterator[Record]:
        for node, _ in source.are(sort):
            yield {"path": path, "line": node.line, "name": node.name}

    return tell


def _suppressions(path: str, source: syntax.Source) -> Iterator[Record]:
    comments = [
        (node, hit.start()) for node in source.nodes if node.kind == "comment" and (hit := _SILENCES.search(node.text))
    ]
    for node, at in [*comments, *((node, 0) for node, _ in source.are("suppression"))]:
        text = source.rest(node)[at:]
        reason = _REASON.search(text)
        yield {"path": path, "line": node.line, "text": text.strip(), "reason": reason[1].strip() if reason else ""}

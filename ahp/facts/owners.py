"""`owners`: who owns the changed files, by CODEOWNERS.

GitHub's, GitLab's or Gitea's is read as it was before the change; one that is new counts at once. It is asked only
where the rest of a rule leaves it open.
"""

from ahp.conditions.globs import PatternError, glob
from ahp.conditions.regexes import regex
from ahp.facts.content import Files, Test
from ahp.facts.registry import CHANGE, Absent, Namespace, fact, view_of
from ahp.protocol.event import Event

NAMESPACE = Namespace(
    source="CODEOWNERS before the change",
    triggers=CHANGE,
    late=True,
    schema={
        "of": fact("map[list[str]]", "by path"),
        "teams": fact("list[str]", "those of them that are teams: `@org/team`"),
        "uncovered": fact("list[str]", "changed files without owner", means="path"),
    },
)

_GITEA = (".gitea/", ".forgejo/")  # its patterns are regular expressions
_PLACES = (".github/", "", "docs/", ".gitlab/", *_GITEA)


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. Raises Absent without a CODEOWNERS that can be read, Unknown, GitError, AhpError."""
    view = view_of(event)
    files, there = Files(view), {*view.paths(), *view.touched()}
    places = [place for place in _PLACES if f"{place}CODEOWNERS" in there]
    read = (files.rules(f"{place}CODEOWNERS", _regex if place in _GITEA else _glob) for place in places)
    rules = next((one for one in read if one), None)
    if rules is None:
        raise Absent("there is no CODEOWNERS")
    found = {path: _owners(rules, path) for path in view.touched()}
    held = [entry.path for entry in view.change().entries if entry.new_mode]
    teams = sorted({one for those in found.values() for one in those if one.startswith("@") and "/" in one})
    return {"of": found, "teams": teams, "uncovered": [path for path in held if not found[path]]}


def _glob(pattern: str) -> Test:
    """A pattern of GitHub's or GitLab's, which of a folder means all below; `_section` for the head of a section."""
    if pattern.startswith(("[", "^[")):
        return _section
    if pattern.startswith("!"):
        raise PatternError("exclusions are not read")
    return glob(pattern if pattern.endswith(("*", "/")) else [pattern, pattern + "/"])


def _regex(pattern: str) -> Test:
    return regex(f"^(?:{pattern})$")


def _section(path: str) -> bool:
    return False


def _owners(rules: list[tuple[Test, list[str]]], path: str) -> list[str]:
    """Those of the last line for the path in each section; a line without owners has those of its section."""
    found: set[str] = set()
    default: list[str] = []
    last: list[str] = []
    for test, words in rules:
        named = [word for word in words if "@" in word]
        if test is _section:
            found, default, last = found | {*last}, named, []
        elif test(path):
            last = named or default
    return sorted(found | {*last})

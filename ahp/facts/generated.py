"""`generated`: changed files that `.gitattributes` calls `linguist-generated` or `linguist-vendored`.

The file is read as it was before the change; one that is new counts at once (gitattributes(5)). It is asked only
where the rest of a rule leaves it open.
"""

from ahp.facts.content import Files
from ahp.facts.registry import CHANGE, Namespace, fact, view_of
from ahp.protocol.event import Event

NAMESPACE = Namespace(
    source=".gitattributes before the change",
    triggers=CHANGE,
    assumed=True,
    late=True,
    schema={"paths": fact("list[str]", "those files", means="path")},
)

_NAMES = ("linguist-generated", "linguist-vendored")
_TRUE = (*_NAMES, *(f"{name}=true" for name in _NAMES))


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. Raises Absent for a bad pattern, Unknown, GitError, AhpError."""
    view = view_of(event)
    files, touched = Files(view), view.touched()
    named = {path for path in (*view.paths(), *touched) if path.rpartition("/")[2] == ".gitattributes"}
    by_depth = sorted(named, key=lambda path: path.count("/"))  # the deeper one counts
    rules = [(path.removesuffix(".gitattributes"), files.rules(path)) for path in by_depth]

    def is_generated(path: str) -> bool:
        said: dict[str, bool] = {}
        for folder, lines in rules:
            for test, words in lines if path.startswith(folder) else ():
                if test(path[len(folder) :]):
                    said |= {word.strip("-!").partition("=")[0]: word in _TRUE for word in words}
        return any(said.get(name) for name in _NAMES)

    return {"paths": [path for path in touched if is_generated(path)]}

"""`repo`: the repository as a whole (design §6)."""

from ahp.facts.default_branch import default_branch
from ahp.facts.registry import Namespace
from ahp.system import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ahp.protocol.event import Event

NAMESPACE = Namespace(
    source="the git folder",
    assumed=True,
    light=True,
    schema={
        "root": {"type": "str", "doc": "absolute path of the work tree, or of the folder when there is no repository"},
        "is_shallow": {"type": "bool", "doc": "history was cut off by a shallow clone"},
        "default_branch": {"type": "str", "doc": "short name of the default branch; empty when nothing tells it"},
    },
)


def gather(event: "Event", fields: "frozenset[str]", settings: "dict[str, Any]") -> "dict[str, object]":
    """The values of `fields`. Raises GitError."""
    repository = event.repo
    found: dict[str, object] = {}
    for field in fields:
        if field == "root":
            found[field] = event.root
        elif repository is None:
            found[field] = "" if field == "default_branch" else False
        elif field == "is_shallow":
            found[field] = bool(files.read(repository.common_dir + "/shallow"))
        else:
            found[field] = default_branch(repository)
    return found

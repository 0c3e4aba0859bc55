"""`repo`: the repository as a whole (design §6).  [light]"""

from ahp.facts.default_branch import default_branch
from ahp.facts.registry import Namespace, fact
from ahp.protocol.event import Event
from ahp.system import files

NAMESPACE = Namespace(
    source="the git folder",
    assumed=True,
    light=True,
    schema={
        "root": fact("str", "absolute path"),
        "is_shallow": fact("bool", "a shallow clone"),
        "default_branch": fact("str", "short name; empty when unknown"),
    },
)


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. Raises GitError."""
    repository = event.repo
    found: dict[str, object] = {"root": event.root, "is_shallow": False, "default_branch": ""}
    if repository is not None and "is_shallow" in fields:
        found["is_shallow"] = bool(files.read(repository.common_dir + "/shallow"))
    if repository is not None and "default_branch" in fields:
        found["default_branch"] = default_branch(repository)
    return found

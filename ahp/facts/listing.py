"""All facts of one event with their types and where each comes from (design §6, `ahp facts`)."""

from dataclasses import dataclass

from ahp.facts import registry, schemas
from ahp.facts.gather import gather
from ahp.protocol.event import Event
from ahp.system.digest import sha256
from ahp.system.jsontext import encode

_VIEWS = {
    "index": "what is staged, against HEAD",
    "worktree": "the work tree, against the merge base",
    "commit": "the commit, against its parent",
    "range": "the range of commits",
    "call": "what the call says it does to files",
    "": "nothing: no file is concerned",
}


@dataclass(frozen=True)
class Row:
    """One fact: full path, type as conditions see it, source; its value, or why it is absent and what makes it."""

    path: str
    type: str
    source: str
    value: object = None
    reason: str = ""
    command: str = ""

    @property
    def namespace(self) -> str:
        """The first part of the path."""
        return self.path.partition(".")[0]

    @property
    def is_absent(self) -> bool:
        """Whether there is no value; null is one."""
        return bool(self.reason)


def listing(event: Event, settings: registry.Settings) -> list[Row]:
    """Every fact that the event's trigger can have, in the order of design §6, then the policy's commands.

    Contents of files, variables and tool arguments are replaced by digests. Raises AhpError, GitError.
    """
    entries = {
        **schemas.schema_for(event.trigger),
        **schemas.own_entries(settings.env_allow, settings.limits, settings.commands),
    }
    values, missing = gather(registry.by_namespace(entries), event, settings)
    rows = []
    for path, entry in entries.items():
        about = (path, str(entry["type"]), _source(event, path.partition(".")[0]))
        if path in missing:
            rows.append(Row(*about, None, missing[path].reason, missing[path].command))
        else:
            rows.append(Row(*about, _shown(path, values[path])))
    return rows


def _source(event: Event, namespace: str) -> str:
    if event.given is not None and namespace in event.given:
        return "the given facts"
    if not registry.is_known(namespace):
        return "a command of the policy"
    kind = event.view.kind if event.view is not None else ""
    return registry.namespace(namespace).source or _VIEWS[kind]


def _shown(path: str, value: object) -> object:
    if not registry.is_private(path):
        return value
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return [_digests(item, ("path", "line")) for item in value]
    if isinstance(value, dict):
        return _digests(value)
    return _digest(value) if value else value


def _digests(record: dict[str, object], shown: tuple[str, ...] = ()) -> dict[str, object]:
    return {name: value if name in shown else _digest(value) for name, value in record.items()}


def _digest(value: object) -> str:
    text = value if isinstance(value, str) else encode(value)
    return "sha256:" + sha256(text.encode("utf-8", "surrogateescape"))[:16]

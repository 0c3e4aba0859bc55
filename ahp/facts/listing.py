"""All facts of one event with their types and where each comes from (design §6, `ahp facts`)."""

from dataclasses import dataclass
from typing import Any

from ahp.facts import registry, schemas
from ahp.protocol.event import Event
from ahp.system.digest import sha256
from ahp.system.jsontext import encode

_VIEWS = {
    "index": "what is staged, against HEAD",
    "worktree": "the work tree, against the merge base",
    "commit": "the commit, against its parent",
    "range": "the range of commits",
    "": "nothing: no file is concerned",
}
_SOURCES = {
    "branch": "HEAD, or the ref that is pushed",
    "push": "what git tells pre-push",
    "repo": "the git folder",
    "commit": "git, and the draft of the message",
    "issue": "the ticket",
    "checklist": "the boxes of the ticket",
    "tests": "JUnit XML reports",
    "coverage": "coverage reports",
    "tool": "the agent's call",
    "session": "the agent's client",
    "actor": "markers in the environment",
    "environment": "`environment:` of the policy",
    "env": "environment variables",
    "limits": "`limits:` of the policy",
    "time": "the clock",
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
    def is_absent(self) -> bool:
        """Whether there is no value; null is one."""
        return bool(self.reason)


def listing(event: Event, settings: dict[str, Any]) -> list[Row]:
    """Every fact that the event's trigger can have, in the order of design §6, then the policy's commands.

    Contents of files, variables and tool arguments are replaced by digests. Raises AhpError, GitError.
    """
    entries = {**schemas.schema_for(event.trigger), **_own(settings)}
    reads: dict[str, list[str]] = {}
    for path in entries:
        namespace, _, field = path.partition(".")
        reads.setdefault(namespace, []).append(field)
    values, missing = registry.gather(reads, event, settings)
    rows = []
    for path, entry in entries.items():
        about = (path, str(entry["type"]), _source(event, path.partition(".")[0]))
        if path in missing:
            rows.append(Row(*about, None, *missing[path]))
        else:
            rows.append(Row(*about, _shown(path, values[path])))
    return rows


def _own(settings: dict[str, Any]) -> dict[str, schemas.Entry]:
    """Entries of what the policy adds: variables, limits, commands."""
    found = schemas.env_schema(list(settings.get("env_allow") or ()))
    for name, value in (settings.get("limits") or {}).items():
        one = next(iter(value.values())) if isinstance(value, dict) and value else value
        kind = "list[str]" if isinstance(one, list) else type(one).__name__
        found[f"limits.{name}"] = {"type": kind}
    for name, spec in (settings.get("commands") or {}).items():
        kinds = {"exit_code": "int", "count": "int"}
        if spec.get("parse") in ("sarif", "junit"):
            kinds["findings"] = "list[record]"
        kinds.update({field: one["type"] for field, one in (spec.get("extract") or {}).items()})
        found.update({f"{name}.{field}": {"type": kind} for field, kind in kinds.items()})
    return found


def _source(event: Event, namespace: str) -> str:
    if event.given is not None and namespace in event.given:
        return "the given facts"
    if namespace in ("files", "diff", "deps"):
        return _VIEWS[event.view.kind if event.view is not None else ""]
    return _SOURCES.get(namespace, "a command of the policy")


def _shown(path: str, value: object) -> object:
    if not path.startswith(registry.PRIVATE):
        return value
    if path.startswith("diff.") and isinstance(value, list):
        return [{"path": item["path"], "line": item["line"], "digest": _digest(item["text"])} for item in value]
    if isinstance(value, dict):
        return {name: _digest(inner) for name, inner in value.items()}
    return _digest(value) if value else value


def _digest(value: object) -> str:
    text = value if isinstance(value, str) else encode(value)
    return "sha256:" + sha256(text.encode("utf-8", "surrogateescape"))[:16]

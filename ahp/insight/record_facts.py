"""Facts that a record of an evaluation tells by its own keys, whether or not a rule read them then.

Here are only those whose value follows from a key for certain: a `subject` may be a branch, an issue or a session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from ahp.facts import actor

_KINDS = actor.NAMESPACE.schema["kind"]["enum"]
_BRANCHES, _TAGS = "refs/heads/", "refs/tags/"


def told(record: Mapping[str, object], paths: Iterable[str]) -> dict[str, object]:
    """The values of those of `paths` that the keys of `record` tell."""
    found = {path: READ[path](record) for path in paths if path in READ}
    return {path: value for path, value in found.items() if value is not None}


def _kind(record: Mapping[str, object]) -> str | None:
    kind = str(record.get("actor")).partition(":")[0]
    return kind if kind in _KINDS else None


def _name(record: Mapping[str, object]) -> str | None:
    return str(record["actor"]).partition(":")[2] if _kind(record) else None


def _session(record: Mapping[str, object]) -> str | None:
    session = record.get("session")
    return session if isinstance(session, str) else None


def _ref(record: Mapping[str, object]) -> str | None:
    """The ref that is pushed to; None also for the pattern that stands for what `--mirror` deletes."""
    ref = record.get("target")
    is_one = record.get("hook") == "pre-push" and isinstance(ref, str) and ref.startswith("refs/") and "*" not in ref
    return ref if is_one else None  # type: ignore[return-value]  # a text by now


def _branch(record: Mapping[str, object]) -> str | None:
    ref = _ref(record)
    return None if ref is None else ref.removeprefix(_BRANCHES) if ref.startswith(_BRANCHES) else ""


def _is_tag(record: Mapping[str, object]) -> bool | None:
    ref = _ref(record)
    return None if ref is None else ref.startswith(_TAGS)


def _is_delete(record: Mapping[str, object]) -> bool | None:
    head = record.get("head")
    return not head.strip("0") if _ref(record) is not None and isinstance(head, str) and head else None


READ: dict[str, Callable[[Mapping[str, object]], object]] = {
    "actor.kind": _kind,
    "actor.name": _name,
    "session.id": _session,
    "session.agent": _name,
    "branch.name": _branch,
    "branch.target": _branch,
    "push.ref": _ref,
    "push.is_tag": _is_tag,
    "push.is_delete": _is_delete,
}

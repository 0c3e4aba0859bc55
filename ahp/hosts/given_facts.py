"""Facts that a person or a program states in place of what is there: `--facts`, policy tests, `ahp.Gate` (design §10).

A tool call and a commit message become the event's own. The facts that follow from them (the commands of a shell call,
the type of a commit) are then read as in a real event, also after a control action changed it.
"""

import os
from collections.abc import Mapping
from typing import Any

from ahp.facts import commit, registry, schemas, tool
from ahp.policy.problems import nearest
from ahp.protocol.event import Event
from ahp.protocol.text import one_line
from ahp.system import files
from ahp.system.errors import AhpError

_BESIDE = {("tool", "touched"), ("session", "id")}  # what is stated beside facts
_LIMIT = 16 << 20
_PLAIN: dict[str, object] = {"int": 0, "float": 0.0, "bool": False, "str": "", "list[str]": []}


def read(text: str) -> dict[str, object]:
    """The mapping in a YAML or JSON file, or in `text` itself where it begins with `{`. Raises AhpError."""
    from ahp.system import yamltree

    inline = text.lstrip().startswith("{")
    data = text.encode("utf-8", "surrogateescape") if inline else files.read(os.path.abspath(text), _LIMIT)
    name = "--facts" if inline else one_line(text)
    if data is None:
        raise AhpError(f"there is no file {name}")
    try:
        node = yamltree.read(yamltree.decode(data, name, _LIMIT), name)
    except yamltree.YamlError as error:
        raise AhpError(f"{name} is neither YAML nor JSON: {str(error).splitlines()[0]}") from None
    stated = node.plain() if node else None
    if not isinstance(stated, dict) or not all(isinstance(namespace, str) for namespace in stated):
        raise AhpError(f"{name} is no mapping of namespaces, like `files: {{changed_count: 3}}`")
    check(stated, name)
    return stated


def check(stated: Mapping[str, object], name: str) -> None:
    """Raises AhpError for a fact that does not exist, in a namespace whose facts are known; `name` says where."""
    known = schemas.schema_all()
    for namespace, fields in stated.items():
        if registry.is_known(namespace) and not registry.namespace(namespace).own and isinstance(fields, Mapping):
            paths = [path for path in known if path.startswith(f"{namespace}.")]
            unknown = next((field for field in fields if f"{namespace}.{field}" not in known), None)
            if unknown is not None and (namespace, unknown) not in _BESIDE:
                path = f"{namespace}.{unknown}"
                raise AhpError(f"{name}: there is no fact `{one_line(path)}`{nearest(path, paths)}")


def state(event: Event, facts: Mapping[str, object], others: Mapping[str, Any] | None = None) -> None:
    """Makes `facts` those of the event; a namespace that is stated is whole. `others` are the rest, where not gathered.

    Raises AhpError for a tool call with facts of a wrong type; any other is found when a rule reads it.
    """
    event.given = dict(others or {})
    for namespace, fields in facts.items():
        if not isinstance(fields, Mapping) and registry.is_known(namespace) and namespace != "environment":
            raise AhpError(f"{namespace} is a mapping of facts, not {one_line(repr(fields), 60)}")
        stated = _filled(namespace, fields) if isinstance(fields, Mapping) else {"": fields}
        if namespace == "tool":
            event.given.pop("tool", None)
            event.tool = as_call(stated, event.root, event.checkout)
            event.view = tool.view_of(event)
            continue
        if namespace == "commit" and (text := _message(stated)) is not None:
            event.draft = text.encode("utf-8", "surrogateescape")
            stated = {"is_merge": False, **stated, **commit.parts(text)}
        event.given[namespace] = stated


def as_call(stated: Mapping[str, object], root: str = "", checkout: str = "") -> dict[str, object]:
    """A call as an agent's client would tell it; `{command: …}` is a shell call.

    `name` is the kind (one of `ahp.facts.tool.NAMES`), `native_name` the client's name, `input` the arguments. What is
    stated besides adds to what follows from those; `writes: true` says that the call writes the files that it names,
    `touched` (a `tool.Touched`) is what the tool itself says of the call. `checkout` is the linked work tree in
    which it runs, "" for the root itself.

    Raises AhpError for a fact of a wrong type.
    """
    touched = stated.get("touched")
    stated = {field: value for field, value in stated.items() if field != "touched"}
    checked = {field: value for field, value in stated.items() if (field, value) != ("writes", True)}
    schemas.fields_of("tool", checked, checked)
    arguments = stated.get("input")
    arguments = dict(arguments) if isinstance(arguments, Mapping) else {}
    if stated.get("command"):
        arguments.setdefault("command", stated["command"])
    native = str(stated.get("native_name") or "")
    name = str(stated.get("name") or ("" if native else "shell" if arguments.get("command") else "other"))
    native = native or name
    said = touched if isinstance(touched, tool.Touched) else None
    known = tool.call_of(
        name, native, arguments, root=root, writes=bool(stated.get("writes")), touched=said, checkout=checkout
    )
    for field, value in stated.items():
        derived = known.get(field)
        if isinstance(derived, list) and isinstance(value, list):
            known[field] = [*derived, *[item for item in value if item not in derived]]
        elif derived is None:
            known[field] = value
    return known


def _message(fields: Mapping[str, object]) -> str | None:
    """The message that is stated, whole or as subject and body."""
    if "message" in fields:
        return str(fields["message"])
    if "subject" not in fields:
        return None
    body = str(fields.get("body", ""))
    return f"{fields['subject']}\n" + (f"\n{body}\n" if body else "")


def _filled(namespace: str, fields: Mapping[str, Any]) -> dict[str, object]:
    """`fields` with the keys that a record leaves out: `{path: a.py, text: x}` is an added line, of number 1."""
    known = schemas.schema_all()
    found: dict[str, object] = {}
    for field, value in fields.items():
        record = known.get(f"{namespace}.{field}", {}).get("fields")
        if isinstance(record, dict) and isinstance(value, list):
            plain = {name: _default(entry) for name, entry in record.items()}
            value = [{**plain, **item} if isinstance(item, Mapping) else item for item in value]
        found[field] = value
    return found


def _default(entry: Mapping[str, Any]) -> object:
    if entry.get("nullable"):
        return None
    return entry["enum"][0] if "enum" in entry else entry.get("min") or _PLAIN[entry["type"]]

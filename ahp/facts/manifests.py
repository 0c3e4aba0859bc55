"""What a manifest asks for, as a table: `{(group, name): specification}`, so that two states of it can be compared.

Order, white space, comments, build requirements, engines and metadata are no part of it. What is taken from the same
repository (a workspace, a path) has an empty specification: lock files hold no version of it.
"""

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

Table = dict[tuple[str, str], str]

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*([^;#]*)(;[^#]*)?")
_GO_UNLOCKED = re.compile(r"^[ \t]*(?:exclude|retract|ignore|tool|godebug)[ \t]*\([^()]*\)", re.MULTILINE)
_GO = re.compile(r"^[ \t]*(?:require[ \t]+)?([^\s/().]++\.[^\s()]++)[ \t]+(v[0-9][^\s/]*)", re.MULTILINE)
_GO_REPLACE = re.compile(
    r"^[ \t]*(?:replace[ \t]+)?([^\s.]++\.\S++)(?:[ \t]+v\S+)?[ \t]+=>[ \t]+(\S+)(?:[ \t]+(v\S+))?", re.MULTILINE
)
_GRADLE = re.compile(r"""['"]([\w.-]+:[\w.-]+)(?::([^'"]*))?['"]""")
_JSON_GROUPS = {
    "package.json": ("dependencies", "devDependencies", "optionalDependencies", "overrides", "resolutions"),
    "composer.json": ("require", "require-dev"),
    "deno.json": ("imports",),
}
_CARGO_GROUPS = ("dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies")
_CARGO_SOURCE = ("version", "git", "branch", "tag", "rev", "registry", "package")


class Unreadable(Exception):
    """A manifest that cannot be read as what its name says."""


def table(name: str, data: bytes, workspace: bytes = b"") -> Table | None:
    """What the manifest `name` with these bytes asks for; None for a kind that is not read.

    `workspace` is the manifest of the workspace that it may belong to. Raises Unreadable.
    """
    if name.startswith("requirements") and name.endswith((".txt", ".in")):
        return _requirements("", data.decode("utf-8", "replace").splitlines())
    read = _READERS.get(name)
    try:
        return read(data, workspace) if read is not None else None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise Unreadable(str(error)) from None


def normalised(name: str) -> str:
    """A Python project's name as indexes compare it (packaging.python.org, "Names and normalization")."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lines(data: bytes) -> list[str]:
    """What a manifest of an unread kind says, without order, white space and comments."""
    plain = (" ".join(line.split()) for line in data.decode("utf-8", "replace").splitlines())
    return sorted(line for line in plain if line and not line.startswith(("#", "//")))


def _pyproject(data: bytes, workspace: bytes) -> Table:
    read = _toml(data)
    project, tool = _map(read, "project"), _map(read, "tool")
    found = _requirements("", project.get("dependencies", ()))
    groups = {**_map(project, "optional-dependencies"), **_map(read, "dependency-groups")}
    groups |= {"pdm": [one for many in _map(tool, "pdm", "dev-dependencies").values() for one in many]}
    for name in ("dev-dependencies", "constraint-dependencies", "override-dependencies"):
        groups[f"uv {name}"] = _map(tool, "uv").get(name, ())
    for group, listed in groups.items():
        found |= _requirements(group, [one for one in listed if isinstance(one, str)])
    poetry = _map(tool, "poetry")
    listed = {"": _map(poetry, "dependencies"), "dev": _map(poetry, "dev-dependencies")}
    listed |= {group: _map(one, "dependencies") for group, one in _map(poetry, "group").items()}
    for group, named in listed.items():
        found |= {(group, normalised(name)): _said(spec) for name, spec in named.items() if name != "python"}
    sources = {**_map(_toml(workspace), "tool", "uv", "sources"), **_map(tool, "uv", "sources")}
    own = {normalised(name) for name, one in sources.items() if _is_own(one)}
    return {key: "" if key[1] in own else spec for key, spec in found.items()}


def _is_own(source: object) -> bool:
    """Whether a source of uv's is a folder of this repository."""
    return isinstance(source, dict) and bool(source.get("workspace") or source.get("path") or source.get("editable"))


def _requirements(group: str, listed: Any) -> Table:
    """Requirements as PEP 508 has them; options and addresses of requirements files are left out."""
    made: dict[tuple[str, str], list[str]] = {}
    for one in listed:
        text = one.strip()
        found = _REQUIREMENT.match(text)
        if found and not text.startswith(("-", "#")):
            name, extras, spec, marker = found.groups("")
            bounds = ",".join(sorted(part.strip() for part in re.sub(r"\s+", "", spec).strip("()").split(",")))
            extra = ",".join(sorted(part.strip().lower() for part in extras.strip("[]").split(",")))
            said = "|".join([extra, bounds, re.sub(r"[\s'\"]+", "", marker)])
            made.setdefault((group, normalised(name)), []).append(said.strip("|"))
    return {key: " or ".join(sorted(said)) for key, said in made.items()}  # of one name for several markers


def _pipfile(data: bytes, _: bytes) -> Table:
    read = _toml(data)
    groups = ("packages", "dev-packages")
    return {(group, normalised(name)): _said(spec) for group in groups for name, spec in _map(read, group).items()}


def _json(name: str) -> Callable[[bytes, bytes], Table]:
    def read(data: bytes, _: bytes) -> Table:
        given = json.loads(data or b"{}")
        groups = {group: _map(given, group) for group in _JSON_GROUPS[name]}
        return {(group, one): _said(spec) for group, named in groups.items() for one, spec in named.items()}

    return read


def _cargo(data: bytes, _: bytes) -> Table:
    read = _toml(data)
    tables = [("", read), ("workspace", _map(read, "workspace"))]
    tables += [(f"target {name}", one) for name, one in _map(read, "target").items()]
    tables += [("patch", {"dependencies": one}) for one in _map(read, "patch").values()]
    found = {}
    for prefix, holder in tables:
        for group in _CARGO_GROUPS:
            for name, spec in _map(holder, group).items():
                if isinstance(spec, dict):
                    own = "path" in spec
                    spec = {} if own else {key: spec[key] for key in _CARGO_SOURCE if key in spec}
                    spec = spec.get("version", "") if spec.keys() <= {"version"} else spec
                found[(f"{prefix} {group}".strip(), name)] = _said(spec)
    return found


def _go(data: bytes, _: bytes) -> Table:
    text = _GO_UNLOCKED.sub("", re.sub(r"//.*", "", data.decode("utf-8", "replace")))
    found = {("", name): version for name, version in _GO.findall(text)}
    for name, other, version in _GO_REPLACE.findall(text):
        found[("replace", name)] = "" if other.startswith(".") else f"{other} {version}"
    return found


def _gradle(data: bytes, _: bytes) -> Table:
    return {("", name): version for name, version in _GRADLE.findall(data.decode("utf-8", "replace"))}


def _said(spec: object) -> str:
    return spec.strip() if isinstance(spec, str) else json.dumps(spec, sort_keys=True, default=str)


def _toml(data: bytes) -> dict[str, Any]:
    return tomllib.loads(data.decode("utf-8"))


def _map(given: Any, *names: str) -> dict[str, Any]:
    """The table at a path of keys, empty where there is none."""
    for name in names:
        given = given.get(name) if isinstance(given, dict) else None
    return given if isinstance(given, dict) else {}


_READERS: dict[str, Callable[[bytes, bytes], Table]] = {
    "pyproject.toml": _pyproject,
    "Pipfile": _pipfile,
    "Cargo.toml": _cargo,
    "go.mod": _go,
    "build.gradle": _gradle,
    "build.gradle.kts": _gradle,
    **{name: _json(name) for name in _JSON_GROUPS},
}

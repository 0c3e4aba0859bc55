"""What a manifest asks for, as a table: `{(group, name): specification}`, so that two states of it can be compared.

Order, white space, comments, build requirements, engines and metadata are no part of it. What is taken from the same
repository (a workspace, a path) has an empty specification: lock files hold no version of it.
"""

import json
import re
from typing import Any

from ahp.facts import content, formats
from ahp.facts.registry import Absent

Table = dict[tuple[str, str], str]

_GO_UNLOCKED = re.compile(r"^[ \t]*(?:exclude|retract|ignore|tool|godebug)[ \t]*\([^()]*\)", re.MULTILINE)
_GO = re.compile(r"^[ \t]*(?:require[ \t]+)?([^\s/().]++\.[^\s()]++)[ \t]+(v[0-9][^\s/]*)", re.MULTILINE)
_GO_REPLACE = re.compile(
    r"^[ \t]*(?:replace[ \t]+)?([^\s.]++\.\S++)(?:[ \t]+v\S+)?[ \t]+=>[ \t]+(\S+)(?:[ \t]+(v\S+))?", re.MULTILINE
)
_GRADLE = re.compile(r"""['"]([\w.-]+:[\w.-]+)(?::([^'"]*))?['"]""")
_GROUPS = {
    "package.json": ("dependencies", "devDependencies", "optionalDependencies", "overrides", "resolutions"),
    "composer.json": ("require", "require-dev"),
}
_CARGO_GROUPS = ("dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies")
_CARGO_SOURCE = ("version", "git", "branch", "tag", "rev", "registry", "package")


def table(name: str, data: bytes, workspace: bytes = b"") -> Table | None:
    """What the manifest `name` with these bytes asks for; None for a kind that is not read.

    `workspace` is the manifest of the workspace that it may belong to. Raises ValueError for what is no such manifest,
    and Absent without the library that reads requirements.
    """
    text = data.decode("utf-8", "replace")
    if name.startswith("requirements") and name.endswith((".txt", ".in")):
        return requirements("", text.splitlines())
    if name == "go.mod":
        return _go(text)
    if name.startswith("build.gradle"):
        return {("", one): version for one, version in _GRADLE.findall(text)}
    if name not in ("pyproject.toml", "Cargo.toml", *_GROUPS):
        return None
    read = document(name, data)
    try:
        if name == "pyproject.toml":
            return _pyproject(read, document(name, workspace))
        if name == "Cargo.toml":
            return _cargo(read)
        listed = {group: below(read, group) for group in _GROUPS[name]}
    except (TypeError, AttributeError) as error:
        raise ValueError(str(error)) from None
    return {(group, one): _said(spec) for group, named in listed.items() for one, spec in named.items()}


def document(name: str, data: bytes) -> Any:
    """A file as `content` has it, an empty map for no bytes. Raises ValueError."""
    return formats.documents(content.kind_of(name), data.decode("utf-8"))[0] if data.strip() else {}


def below(given: Any, *names: str) -> dict[str, Any]:
    """The table at a path of keys, empty where there is none."""
    for name in names:
        given = given.get(name) if isinstance(given, dict) else None
    return given if isinstance(given, dict) else {}


def normalised(name: str) -> str:
    """A Python project's name as indexes compare it (packaging.python.org, "Names and normalization")."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lines(data: bytes) -> list[str]:
    """What a manifest of an unread kind says, without order, white space and comments."""
    plain = (" ".join(line.split()) for line in data.decode("utf-8", "replace").splitlines())
    return sorted(line for line in plain if line and not line.startswith(("#", "//")))


def requirements(group: str, listed: Any) -> Table:
    """Requirements as PEP 508 has them; options, paths and addresses of requirements files are left out."""
    try:
        from packaging.requirements import Requirement
    except ImportError:
        raise Absent("what Python asks for is read by the package packaging", "pip install packaging") from None
    made: dict[tuple[str, str], list[str]] = {}
    for one in listed:
        text = re.split(r"\s#|\s--|\\$", one.strip())[0].strip()
        if not text or text.startswith(("-", "#")):
            continue
        try:
            read = Requirement(text)
        except (ValueError, RecursionError):
            if "/" not in text:  # no form of pip's own: a word that nobody can read is compared as it stands
                made.setdefault((group, text), []).append(text)
            continue
        made.setdefault((group, normalised(read.name)), []).append(str(read)[len(read.name) :])
    return {key: " or ".join(sorted(said)) for key, said in made.items()}  # of one name for several markers


def _pyproject(read: Any, workspace: Any) -> Table:
    project, tool = below(read, "project"), below(read, "tool")
    found = requirements("", project.get("dependencies", ()))
    groups = {**below(project, "optional-dependencies"), **below(read, "dependency-groups")}
    groups |= {"pdm": [one for many in below(tool, "pdm", "dev-dependencies").values() for one in many]}
    for name in ("dev-dependencies", "constraint-dependencies", "override-dependencies"):
        groups[f"uv {name}"] = below(tool, "uv").get(name, ())
    for group, listed in groups.items():
        found |= requirements(group, [one for one in listed if isinstance(one, str)])
    poetry = below(tool, "poetry")
    listed = {"": below(poetry, "dependencies"), "dev": below(poetry, "dev-dependencies")}
    listed |= {group: below(one, "dependencies") for group, one in below(poetry, "group").items()}
    for group, named in listed.items():
        found |= {(group, normalised(name)): _said(spec) for name, spec in named.items() if name != "python"}
    sources = {**below(workspace, "tool", "uv", "sources"), **below(tool, "uv", "sources")}
    own = {normalised(name) for name, one in sources.items() if _is_own(one)}
    return {key: "" if key[1] in own else spec for key, spec in found.items()}


def _is_own(source: object) -> bool:
    """Whether a source of uv's is a folder of this repository."""
    return isinstance(source, dict) and bool(source.get("workspace") or source.get("path") or source.get("editable"))


def _cargo(read: Any) -> Table:
    tables = [("", read), ("workspace", below(read, "workspace"))]
    tables += [(f"target {name}", one) for name, one in below(read, "target").items()]
    tables += [("patch", {"dependencies": one}) for one in below(read, "patch").values()]
    found = {}
    for prefix, holder in tables:
        for group in _CARGO_GROUPS:
            for name, spec in below(holder, group).items():
                if isinstance(spec, dict):
                    own = "path" in spec
                    spec = {} if own else {key: spec[key] for key in _CARGO_SOURCE if key in spec}
                    spec = spec.get("version", "") if spec.keys() <= {"version"} else spec
                found[(f"{prefix} {group}".strip(), name)] = _said(spec)
    return found


def _go(text: str) -> Table:
    """Required modules, `indirect` ones in a group of their own."""
    said = _GO_UNLOCKED.sub("", re.sub(r"//(?! indirect).*", "", text))
    direct = "\n".join(line for line in said.split("\n") if "// indirect" not in line)
    found = {("", name): version for name, version in _GO.findall(direct)}
    found |= {("indirect", name): version for name, version in _GO.findall(said) if ("", name) not in found}
    for name, other, version in _GO_REPLACE.findall(said):
        found[("replace", name)] = "" if other.startswith(".") else f"{other} {version}"
    return found


def _said(spec: object) -> str:
    return spec.strip() if isinstance(spec, str) else json.dumps(spec, sort_keys=True, default=str)

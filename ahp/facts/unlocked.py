"""Dependencies that a change asks for otherwise while the lock file stays as it was."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from ahp.conditions.globs import glob
from ahp.facts import manifests
from ahp.system.view import View

_ECOSYSTEMS = {
    "python": ("pyproject.toml", "Pipfile", "requirements", "setup"),
    "node": ("package.json",),
    "rust": ("Cargo.toml",),
    "go": ("go.mod",),
    "java": ("pom.xml", "build.gradle"),
}

_Read = Callable[[str], bytes]


def changes(
    view: View, paths: Sequence[str], changed: set[str], locks: Mapping[str, tuple[str, ...]]
) -> list[dict[str, object]]:
    """One record `{path, line, name, before, after, lock, ecosystem}` a dependency of the manifests `paths`.

    `changed` are all paths that change, `locks` manifest → its lock files. Raises Unknown, GitError, AhpError.
    """
    # What a merge takes from one of its parents is no change of its own.
    sides = [(side, {entry.path: entry for entry in side.change().entries}) for side in view.sides()]
    known = set(view.paths())

    @cache  # a workspace's manifests share their lock file and their root, and each reading starts git
    def read(path: str) -> bytes:
        return view.read(path) or b""

    found: list[dict[str, object]] = []
    for path in paths:
        lock = _lock_of(read, path, known, locks) if path in known else ""
        befores = [side.before(entries[path]) for side, entries in sides if path in entries]
        if lock and befores and lock not in changed:
            found += _compared(read, path, befores, lock)
    return found


def _lock_of(read: _Read, path: str, known: set[str], locks: Mapping[str, tuple[str, ...]]) -> str:
    """The lock file of a manifest: beside it, or, where it is for a workspace, in a folder above; "" without one."""
    folder, _, name = path.rpartition("/")
    at = folder
    while True:
        for lock in locks.get(name, ()):
            beside = f"{at}/{lock}" if at else lock
            member = folder[len(at) :].strip("/")
            root = f"{at}/{name}" if at else name
            above = read(root) if beside in known and root in known and member else b""
            if beside in known and is_for(lock, read(beside), member, above):
                return beside
        if not at:
            return ""
        at = at.rpartition("/")[0]


def _compared(read: _Read, path: str, befores: Sequence[bytes], lock: str) -> list[dict[str, object]]:
    """What the manifest asks for now and in none of its states before, and the lock file does not hold already."""
    (folder, _, name), (at, _, lock_name) = path.rpartition("/"), lock.rpartition("/")
    new = read(path)
    root = f"{at}/{name}" if at else name
    workspace = read(root) if root != path else b""
    try:
        tables = [manifests.table(name, old, workspace) if old else {} for old in befores]
        after = manifests.table(name, new, workspace)
    except manifests.Unreadable:
        tables, after = [], None
    shown = {"path": path, "lock": lock, "ecosystem": _ecosystem(name)}
    if after is None:
        same = any(manifests.lines(old) == manifests.lines(new) for old in befores)
        return [] if same else [{**shown, "line": 1, "name": "", "before": "", "after": ""}]
    olds = [table or {} for table in tables]
    before = olds[0]
    differ = [key for key in {**before, **after} if all(old.get(key) != after.get(key) for old in olds)]
    if lock_name in WITHOUT_GROUPS:
        differ = [key for key in differ if all(_asked(old, key[1]) != _asked(after, key[1]) for old in olds)]
    if not differ:
        return []
    member, held = folder[len(at) :].strip("/"), read(lock)
    kept = [
        key
        for key in differ
        if key in after and holds(lock_name, held, key, after[key], member=member, is_new=key not in before)
    ]
    text = new.decode("utf-8", "replace").splitlines()
    return [
        {
            **shown,
            "line": _line(text, key[1]),
            "name": key[1],
            "before": before.get(key, ""),
            "after": after.get(key, ""),
        }
        for key in differ
        if key not in kept
    ]


def _asked(table: manifests.Table, name: str) -> set[str]:
    """What a manifest asks for of one dependency, in whatever group."""
    return {spec for key, spec in table.items() if key[1] == name}


def _line(text: list[str], name: str) -> int:
    """The first line that names a dependency, however that is spelled."""
    plain = re.escape(manifests.normalised(name))
    word = re.compile(rf"(?<![\w.@/-]){plain}(?![\w-])")
    return next((n for n, line in enumerate(text, 1) if word.search(manifests.normalised(line))), 1)


def _ecosystem(name: str) -> str:
    return next((one for one, names in _ECOSYSTEMS.items() if name.startswith(names)), "other")


# A dependency that moves between the groups of its manifest stays the same in these.
WITHOUT_GROUPS = ("Cargo.lock", "yarn.lock")
_COMPILED = (b"autogenerated by pip-compile", b"autogenerated by uv", b"autogenerated by pip-tools")


def is_for(lock: str, data: bytes, member: str, root: bytes = b"") -> bool:
    """Whether a lock file with these bytes is also for the manifest in the folder `member` below it, "" for its own.

    `root` is the package.json beside the lock file: it names the members that yarn.lock does not.

    A requirements.txt is a lock file where a tool says that it wrote it. Where a lock file does not name its members,
    every folder below counts.
    """
    if lock == "requirements.txt":
        head = data[:2000].replace(b"\n#", b" ")
        return not member and any(mark in head for mark in _COMPILED)
    if not member:
        return True
    wanted = re.escape(member.encode("utf-8", "surrogateescape"))
    pattern = {
        "pnpm-lock.yaml": rb"^  ['\"]?%s['\"]?:" % wanted,
        "package-lock.json": rb"^[ \t]*\"%s\": \{" % wanted,
        "npm-shrinkwrap.json": rb"^[ \t]*\"%s\": \{" % wanted,
        "bun.lock": rb"^[ \t]*\"%s\": \{" % wanted,
        "uv.lock": rb"(?:editable|virtual|directory) = \"%s\"" % wanted,
    }.get(lock)
    if pattern is not None:
        return re.search(pattern, data, re.MULTILINE) is not None
    if lock in ("yarn.lock", "bun.lockb"):
        return _is_member(root, member)
    return lock in ("Cargo.lock", "packages.lock.json", "gradle.lockfile")


def _is_member(root: bytes, member: str) -> bool:
    """Whether a package.json has this folder as a workspace; one that cannot be read may have."""
    try:
        given = json.loads(root).get("workspaces", [])
        patterns = given.get("packages", []) if isinstance(given, dict) else given
        wanted = [f"{one.removeprefix('./').rstrip('/')}/package.json" for one in patterns if one[:1] != "!"]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return True
    return bool(wanted) and glob(wanted)(f"{member}/package.json")


def holds(lock: str, data: bytes, key: tuple[str, str], spec: str, *, member: str, is_new: bool) -> bool:
    """Whether the lock file already has what a requirement asks for, so that locking again changes nothing.

    `key` is group and name, `member` the manifest's folder below the lock file. `is_new` says that the manifest did not
    name it before: Cargo.lock lists who depends on what.
    """
    name, text = key[1], data.decode("utf-8", "replace")
    if lock in ("package-lock.json", "npm-shrinkwrap.json"):
        return _npm_asked(text, member).get(key[0], {}).get(name) == spec
    if lock == "pnpm-lock.yaml":
        asked = _pnpm_asked(text, member, key)
        return asked == spec or asked.startswith("link:")  # a member of the same workspace, whatever it is asked for as
    if lock == "go.sum":
        return f"{name} {spec}/go.mod " in text
    if lock == "yarn.lock":
        return re.search(rf'(?m)^(?:[^\s#].*, )?"?{re.escape(name)}@{re.escape(spec)}"?[,:]', text) is not None
    if lock == "Cargo.lock" and not is_new:
        versions = re.findall(rf'(?m)^name = "{re.escape(name)}"\nversion = "([^"+]+)', text)
        return any(_allows(spec, version) for version in versions)
    if lock == "requirements.txt":
        spelled = "[-_.]".join(map(re.escape, name.split("-")))
        found = re.search(rf"(?mi)^{spelled}(?:\[[^\]\n]*\])?==(\S+)", text)
        pinned = re.search(r"==([^,|;]+)", spec)
        return found is not None and (pinned is None or pinned.group(1) == found.group(1).rstrip("\\"))
    return False


def _npm_asked(text: str, member: str) -> dict[str, dict[str, str]]:
    """The groups of requirements that package-lock.json repeats from a member's manifest."""
    try:
        asked = json.loads(text)["packages"][member]
        return {group: named for group, named in asked.items() if isinstance(named, dict)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}  # of npm 6 and older: it repeats none


def _pnpm_asked(text: str, member: str, key: tuple[str, str]) -> str:
    """What pnpm-lock.yaml repeats from a member's manifest for one requirement; "" where it does not."""
    place = re.escape(member or ".")
    block = re.search(rf"(?m)^  ['\"]?{place}['\"]?:\n((?:    .*\n|\n)*)", text)
    group = re.search(rf"(?m)^    {re.escape(key[0])}:\n((?:      .*\n)*)", block.group(1)) if block else None
    name = rf"(?m)^      ['\"]?{re.escape(key[1])}['\"]?:\n        specifier: ['\"]?(.*?)['\"]?$"
    found = re.search(name, group.group(1)) if group else None
    return found.group(1) if found else ""


def _allows(spec: str, version: str) -> bool:
    """Whether a requirement of Cargo's that names one version (`1.2`, `^1.2`, `~1.2`, `=1.2`) allows a locked one."""
    found = re.fullmatch(r"([\^~=]?)\s*(\d+(?:\.\d+){0,2})", spec)
    if found is None or not re.fullmatch(r"\d+(?:\.\d+){0,2}", version):
        return False
    least, locked = ([int(part) for part in one.split(".")] for one in (found.group(2), version))
    if found.group(1) == "=":
        fixed = len(least) - 1
    elif found.group(1) == "~":
        fixed = min(len(least) - 1, 1)
    else:
        fixed = next((place for place, part in enumerate(least) if part), len(least) - 1)  # may not grow (semver)
    return locked[: fixed + 1] == least[: fixed + 1] and locked >= least

"""Dependencies that a change asks for otherwise while the lock file stays as it was."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from ahp.facts import lock_files, manifests
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
            if beside in known and lock_files.is_for(lock, read(beside), member, above):
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
    if lock_name in lock_files.WITHOUT_GROUPS:
        differ = [key for key in differ if all(_asked(old, key[1]) != _asked(after, key[1]) for old in olds)]
    if not differ:
        return []
    member, held = folder[len(at) :].strip("/"), read(lock)
    kept = [
        key
        for key in differ
        if key in after and lock_files.holds(lock_name, held, key, after[key], member=member, is_new=key not in before)
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

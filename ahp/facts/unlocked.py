"""Dependencies that a change asks for otherwise while the lock file stays as it was."""

import re
from collections.abc import Mapping, Sequence

from ahp.facts import lock_files, manifests
from ahp.system.change import FileChange
from ahp.system.view import View

_ECOSYSTEMS = {
    "python": ("pyproject.toml", "Pipfile", "requirements", "setup"),
    "node": ("package.json",),
    "rust": ("Cargo.toml",),
    "go": ("go.mod",),
    "java": ("pom.xml", "build.gradle"),
}


def changes(
    view: View, paths: Sequence[str], changed: set[str], locks: Mapping[str, tuple[str, ...]]
) -> list[dict[str, object]]:
    """One record `{path, line, name, before, after, lock, ecosystem}` a dependency of the manifests `paths`.

    `changed` are all paths that change, `locks` manifest → its lock files. Raises Unknown, GitError, AhpError.
    """
    entries = {entry.path: entry for entry in view.change().entries}
    known = set(view.paths())
    found: list[dict[str, object]] = []
    for path in paths:
        entry = entries.get(path)
        lock = _lock_of(view, path, known, locks) if entry is not None and path in known else ""
        if entry is not None and lock and lock not in changed:
            found += _compared(view, entry, lock)
    return found


def _lock_of(view: View, path: str, known: set[str], locks: Mapping[str, tuple[str, ...]]) -> str:
    """The lock file of a manifest: beside it, or, where it is for a workspace, in a folder above; "" without one."""
    folder, _, name = path.rpartition("/")
    at = folder
    while True:
        for lock in locks.get(name, ()):
            beside = f"{at}/{lock}" if at else lock
            member = folder[len(at) :].strip("/")
            root = f"{at}/{name}" if at else name
            above = (view.read(root) or b"") if beside in known and root in known and member else b""
            if beside in known and lock_files.is_for(lock, view.read(beside) or b"", member, above):
                return beside
        if not at:
            return ""
        at = at.rpartition("/")[0]


def _compared(view: View, entry: FileChange, lock: str) -> list[dict[str, object]]:
    name, at = entry.path.rpartition("/")[2], lock.rpartition("/")[0]
    old, new = view.before(entry), view.after(entry)
    root = f"{at}/{name}" if at else name
    workspace = (view.read(root) or b"") if root != entry.path else b""
    try:
        before = manifests.table(name, old, workspace) if old else {}
        after = manifests.table(name, new, workspace)
    except manifests.Unreadable:
        before = after = None
    shown = {"path": entry.path, "lock": lock, "ecosystem": _ecosystem(name)}
    if before is None or after is None:
        same = manifests.lines(old) == manifests.lines(new)
        return [] if same else [{**shown, "line": 1, "name": "", "before": "", "after": ""}]
    held = view.read(lock) or b""
    lock_name = lock.rpartition("/")[2]
    differ = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    if lock_name in lock_files.WITHOUT_GROUPS:
        differ = [key for key in differ if _asked(before, key[1]) != _asked(after, key[1])]
    kept = [
        key
        for key in differ
        if key in after and lock_files.holds(lock_name, held, key[1], after[key], is_new=key not in before)
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

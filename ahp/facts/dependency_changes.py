"""Dependencies that a change asks for or locks otherwise, and those whose lock file stayed as it was."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ahp.facts import locks, manifests
from ahp.facts.content import Files
from ahp.facts.registry import Absent
from ahp.protocol.text import one_line
from ahp.system.view import View

Held = Mapping[str, set[str]]
Known = Mapping[str, tuple[str, tuple[str, ...]]]
"""Manifest → its ecosystem, and the lock files that may stand beside it or, in a workspace, in a folder above."""


class Changes:
    """The changed manifests `touched` and lock files `locked`, of all the paths that are `changed`."""

    def __init__(self, view: View, touched: Sequence[str], locked: Sequence[str], changed: set[str], known: Known):
        self._touched, self._locked, self._changed, self._known = touched, locked, changed, known
        self._paths = set(view.paths())
        # What a merge takes from one of its parents is no change of its own.
        self._sides = [(Files(side), {e.path: e.old_mode for e in side.change().entries}) for side in view.sides()]
        self._files = Files(view)

    def _read(self, path: str) -> bytes:
        return self._files.data("after", path) if path in self._paths else b""

    def _befores(self, path: str) -> list[bytes]:
        return [files.data("before", path) if old[path] else b"" for files, old in self._sides if path in old]

    def all(self) -> list[dict[str, object]]:
        """A record of each dependency: locked versions, else what a manifest asks for.

        Raises Absent where a file cannot be read, Unknown, GitError, AhpError.
        """
        found: dict[tuple[str, str], dict[str, object]] = {}
        for path in (*self._locked, *self._touched):
            folder, _, name = path.rpartition("/")
            befores, after = self._befores(path), self._read(path)
            is_lock = name in ("go.mod", *self._locks()) and (name != "requirements.txt" or locks.is_compiled(after))
            if name == "go.sum" or not befores:
                continue
            ecosystem = self.ecosystem(name)
            tables: list[Held] = []
            try:
                for one in (after, *befores):
                    tables.append(self._table(name, one, is_lock))
                direct = self._direct(folder, name, after) if is_lock else set()
            except (ValueError, TypeError, AttributeError) as error:  # no file of its kind, or of another shape
                raise Absent(f"{path} cannot be read: {one_line(error, 200)}", unknowable=not tables) from None
            new, *olds = tables
            for its in sorted({*olds[0], *new}):
                if (ecosystem, its) in found or any(old.get(its) == new.get(its) for old in olds):
                    continue
                told = {"path": path, "name": its, "ecosystem": ecosystem, "direct": not is_lock or its in direct}
                found[ecosystem, its] = {**told, **_versions(olds[0].get(its), new.get(its))}
        return list(found.values())

    def _locks(self) -> set[str]:
        return {lock for _, names in self._known.values() for lock in names}

    @staticmethod
    def _table(name: str, data: bytes, is_lock: bool) -> Held:
        if is_lock:
            return locks.versions(name, data)
        table = manifests.table(name, data) or {}
        return {one: {spec for key, spec in table.items() if key[1] == one} for _, one in table}

    def _direct(self, folder: str, lock: str, data: bytes) -> set[str]:
        """The names that a lock file, or a manifest beside it, asks for."""
        found = locks.asked(lock, data)
        for name, (_, names) in self._known.items():
            beside = f"{folder}/{name}" if folder else name
            if lock in names and beside in self._paths:
                table = manifests.table(name, self._read(beside))
                words = re.findall(r"[\w@/.-]+", self._read(beside).decode("utf-8", "replace"))
                found |= set(words) if table is None else {one for _, one in table}
        return found

    def ecosystem(self, name: str) -> str:
        """That of a manifest or a lock file."""
        if name.startswith("requirements"):
            return "python"
        known = self._known.get(name)
        return known[0] if known else next(kind for kind, names in self._known.values() if name in names)

    def unlocked(self) -> list[dict[str, object]]:
        """One record `{path, line, name, before, after, lock, ecosystem}` a dependency whose lock was left behind.

        Raises Absent, Unknown, GitError, AhpError.
        """
        found: list[dict[str, object]] = []
        for path in self._touched:
            lock = self._lock_of(path) if path in self._paths else ""
            befores = self._befores(path)
            if lock and befores and lock not in self._changed:
                found += self._compared(path, befores, lock)
        return found

    def _lock_of(self, path: str) -> str:
        """The lock file of a manifest: beside it, or, where it is for a workspace, in a folder above; "" without."""
        folder, _, name = path.rpartition("/")
        at = folder
        while True:
            for lock in self._known.get(name, ("", ()))[1]:
                beside = f"{at}/{lock}" if at else lock
                member = folder[len(at) :].strip("/")
                root = f"{at}/{name}" if at else name
                above = self._read(root) if beside in self._paths and root in self._paths and member else b""
                if beside in self._paths and locks.is_for(lock, self._read(beside), member, above):
                    return beside
            if not at:
                return ""
            at = at.rpartition("/")[0]

    def _compared(self, path: str, befores: Sequence[bytes], lock: str) -> list[dict[str, object]]:
        """What the manifest asks for now and in none of its states before, and the lock does not hold already."""
        (folder, _, name), (at, _, lock_name) = path.rpartition("/"), lock.rpartition("/")
        new = self._read(path)
        root = f"{at}/{name}" if at else name
        workspace = self._read(root) if root != path else b""
        try:
            tables = [manifests.table(name, old, workspace) if old else {} for old in befores]
            after = manifests.table(name, new, workspace)
        except ValueError:
            tables, after = [], None
        shown = {"path": path, "lock": lock, "ecosystem": self.ecosystem(name)}
        if after is None:
            same = any(manifests.lines(old) == manifests.lines(new) for old in befores)
            return [] if same else [{**shown, "line": 1, "name": "", "before": "", "after": ""}]
        olds = [table or {} for table in tables]
        before = olds[0]
        differ = [key for key in {**before, **after} if all(old.get(key) != after.get(key) for old in olds)]
        if lock_name in locks.WITHOUT_GROUPS:
            differ = [key for key in differ if all(_asked(old, key[1]) != _asked(after, key[1]) for old in olds)]
        member, text = folder[len(at) :].strip("/"), new.decode("utf-8", "replace").splitlines()
        held = self._read(lock) if differ else b""
        return [
            {
                **shown,
                "line": _line(text, key[1]),
                "name": key[1],
                "before": before.get(key, ""),
                "after": after.get(key, ""),
            }
            for key in differ
            if key not in after
            or not locks.holds(lock_name, held, key, after[key], member=member, is_new=key not in before)
        ]


def _versions(before: set[str] | None, after: set[str] | None) -> dict[str, object]:
    """What was and is there of one dependency, and which number of its version differs first."""
    kept = (before or set()) & (after or set())
    old, new = (sorted((told or set()) - kept) for told in (before, after))
    level = "added" if before is None else "removed" if after is None else "other"
    numbers = [re.findall(r"\d+", re.split(r"[-+]", one)[0]) + ["0"] * 3 for one in (*old, *new)]
    if level == "other" and len(old) == len(new) == 1 and all(len(one) > 3 for one in numbers):
        pairs = zip(("major", "minor", "patch"), *numbers, strict=False)
        level = next((name for name, one, other in pairs if one.lstrip("0") != other.lstrip("0")), "other")
    return {"before": ", ".join(old), "after": ", ".join(new), "level": level}


def _asked(table: Any, name: str) -> set[str]:
    """What a manifest asks for of one dependency, in whatever group."""
    return {spec for key, spec in table.items() if key[1] == name}


def _line(text: list[str], name: str) -> int:
    """The first line that names a dependency, however that is spelled."""
    plain = re.escape(manifests.normalised(name))
    word = re.compile(rf"(?<![\w.@/-]){plain}(?![\w-])")
    return next((n for n, line in enumerate(text, 1) if word.search(manifests.normalised(line))), 1)

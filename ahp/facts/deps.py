"""`deps`: what the project depends on (design §6)."""

from ahp.facts.registry import CHANGE, Absent, Namespace, fact, view_of
from ahp.protocol.event import Event

_ECOSYSTEMS = ("python", "node", "rust", "go", "java", "ruby", "php", "elixir")
_ECOSYSTEM = fact("str", "", enum=[*_ECOSYSTEMS])
_CHANGED = {
    "path": fact("str", "", means="path"),
    "line": fact("int", "where it names the dependency, else 1", min=1),
    "name": fact("str", "empty where lines are compared"),
    "before": fact("str", ""),
    "after": fact("str", ""),
    "lock": fact("str", "", means="path"),
    "ecosystem": _ECOSYSTEM,
}
_TOLD = {
    "path": fact("str", "lock file, else manifest", means="path"),
    "name": fact("str", ""),
    "ecosystem": _ECOSYSTEM,
    "before": fact("str", "locked version, else what the manifest asked for"),
    "after": fact("str", ""),
    "level": fact(
        "str",
        "`other`: several versions or no numbers",
        enum=["major", "minor", "patch", "added", "removed", "other"],
    ),
    "direct": fact("bool", "a manifest names it"),
}

NAMESPACE = Namespace(
    triggers=CHANGE,
    assumed=True,
    schema={
        "changed": fact("bool", "a manifest changed"),
        "lock_changed": fact("bool", "a lock file changed"),
        "manifests": fact("list[str]", "those manifests", means="path"),
        "locks": fact("list[str]", "those lock files", means="path"),
        "unlocked_changes": fact(
            "list[record]",
            "manifest changed, lock file not",
            fields=_CHANGED,
        ),
        "changes": fact("list[record]", "changed dependencies", fields=_TOLD),
    },
)

_NODE = ("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock")
# Manifest → its ecosystem, and the lock files that may stand beside it or, in a workspace, in a folder above.
_KNOWN: dict[str, tuple[str, tuple[str, ...]]] = {
    "pyproject.toml": ("python", ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "requirements.txt")),
    "setup.py": ("python", ()),
    "setup.cfg": ("python", ()),
    "requirements.in": ("python", ("requirements.txt",)),
    "package.json": ("node", _NODE),
    "Cargo.toml": ("rust", ("Cargo.lock",)),
    "go.mod": ("go", ("go.sum",)),
    "Gemfile": ("ruby", ("Gemfile.lock",)),
    "composer.json": ("php", ("composer.lock",)),
    "pom.xml": ("java", ()),
    "build.gradle": ("java", ("gradle.lockfile",)),
    "build.gradle.kts": ("java", ("gradle.lockfile",)),
    "mix.exs": ("elixir", ("mix.lock",)),
}
_LOCK_NAMES = {name for _, names in _KNOWN.values() for name in names} - {"requirements.txt"}
# Dependencies of other people, not this project's own.
_FOREIGN = ("node_modules", "vendor", "third_party", ".venv", "site-packages")


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. Raises Absent where it is not told what changes, Unknown, GitError, AhpError."""
    view = view_of(event)
    touched = [path for e in view.change().entries for path in (e.old_path, e.path) if path]
    changed = [path for path in touched if not any(part in _FOREIGN for part in path.split("/"))]
    manifests = [path for path in changed if _is_manifest(path)]
    locks = [path for path in changed if path.rpartition("/")[2] in _LOCK_NAMES]
    found: dict[str, object] = {
        "changed": bool(manifests),
        "lock_changed": bool(locks),
        "manifests": manifests,
        "locks": locks,
    }
    if fields.isdisjoint(("unlocked_changes", "changes")):
        return found
    if not manifests and not locks:
        return {**found, "unlocked_changes": [], "changes": []}
    from ahp.facts.dependency_changes import Changes

    made = Changes(view, manifests, locks, set(changed), _KNOWN)
    for field, tell in (("unlocked_changes", made.unlocked), ("changes", made.all)):
        try:
            found[field] = tell()
        except Absent as absent:
            found[field] = absent
    return found


def _is_manifest(path: str) -> bool:
    name = path.rpartition("/")[2]
    # requirements.txt is what pip-compile locks and what people write by hand; its siblings are always written by hand.
    return name in _KNOWN or (name.startswith("requirements") and name.endswith(".txt"))

"""`deps`: did the change touch what the project depends on (design §6)."""

from ahp.facts.registry import CHANGE, NO_VIEW, Absent, Namespace, fact
from ahp.protocol.event import Event

_CHANGED = {
    "path": fact("str", "the manifest", means="path"),
    "line": fact("int", "where it names the dependency; 1 where it does no more", min=1),
    "name": fact("str", "the dependency; empty where the manifest is of a kind that is compared line by line"),
    "before": fact("str", "what the manifest asked for; empty where it did not name it"),
    "after": fact("str", "what it asks for now; empty where it does not name it any more"),
    "lock": fact("str", "the lock file", means="path"),
    "ecosystem": fact(
        "str", "python, node, rust, go, java, or other", enum=["python", "node", "rust", "go", "java", "other"]
    ),
}

NAMESPACE = Namespace(
    triggers=CHANGE,
    assumed=True,
    schema={
        "changed": fact("bool", "a manifest changed (pyproject.toml, package.json, Cargo.toml, go.mod …)"),
        "lock_changed": fact("bool", "a lock file changed (uv.lock, package-lock.json, Cargo.lock, go.sum …)"),
        "manifests": fact("list[str]", "the manifests that changed", means="path"),
        "locks": fact("list[str]", "the lock files that changed", means="path"),
        "unlocked": fact(
            "list[str]",
            "changed manifests whose dependencies are others now, with a lock file that did not change",
            means="path",
        ),
        "unlocked_changes": fact("list[record]", "those dependencies", fields=_CHANGED),
    },
)

_NODE = ("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb")
# Manifest → the lock files that may stand beside it or, in a workspace, in a folder above.
_LOCKS = {
    "pyproject.toml": ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "requirements.txt"),
    "setup.py": (),
    "setup.cfg": (),
    "requirements.in": ("requirements.txt",),
    "Pipfile": ("Pipfile.lock",),
    "environment.yml": ("conda-lock.yml",),
    "package.json": _NODE,
    "deno.json": ("deno.lock",),
    "Cargo.toml": ("Cargo.lock",),
    "go.mod": ("go.sum",),
    "Gemfile": ("Gemfile.lock",),
    "composer.json": ("composer.lock",),
    "pom.xml": (),
    "build.gradle": ("gradle.lockfile",),
    "build.gradle.kts": ("gradle.lockfile",),
    "mix.exs": ("mix.lock",),
    "pubspec.yaml": ("pubspec.lock",),
    "Package.swift": ("Package.resolved",),
    "Directory.Packages.props": ("packages.lock.json",),
    "flake.nix": ("flake.lock",),
}
_LOCK_NAMES = {name for names in _LOCKS.values() for name in names} - {"requirements.txt"}
# Dependencies of other people, not this project's own.
_FOREIGN = ("node_modules", "vendor", "third_party", ".venv", "site-packages")


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. Raises Absent where it is not told what changes, Unknown, GitError, AhpError."""
    if event.view is None:
        raise NO_VIEW
    if doubt := event.view.doubt(contents=False):
        raise Absent(doubt)
    touched = [path for e in event.view.change().entries for path in (e.old_path, e.path) if path]
    changed = [path for path in touched if not any(part in _FOREIGN for part in path.split("/"))]
    manifests = [path for path in changed if _is_manifest(path)]
    locks = [path for path in changed if path.rpartition("/")[2] in _LOCK_NAMES]
    found: dict[str, object] = {
        "changed": bool(manifests),
        "lock_changed": bool(locks),
        "manifests": manifests,
        "locks": locks,
    }
    if not fields.isdisjoint(("unlocked", "unlocked_changes")):
        from ahp.facts import unlocked

        known = unlocked.changes(event.view, manifests, set(changed), _LOCKS) if manifests else []
        found["unlocked_changes"] = known
        found["unlocked"] = list(dict.fromkeys(change["path"] for change in known))
    return found


def _is_manifest(path: str) -> bool:
    name = path.rpartition("/")[2]
    # requirements.txt is what pip-compile locks and what people write by hand; its siblings are always written by hand.
    return name in _LOCKS or (name.startswith("requirements") and name.endswith(".txt")) or name.endswith(".csproj")

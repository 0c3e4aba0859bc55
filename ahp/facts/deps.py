"""`deps`: did the change touch what the project depends on (design §6)."""

from ahp.facts.groups import CHANGE

TRIGGERS = CHANGE

SCHEMA = {
    "changed": {"type": "bool", "doc": "a manifest changed (pyproject.toml, package.json, Cargo.toml, go.mod …)"},
    "lock_changed": {"type": "bool", "doc": "a lock file changed (uv.lock, package-lock.json, Cargo.lock, go.sum …)"},
    "manifests": {"type": "list[str]", "doc": "the manifests that changed"},
    "locks": {"type": "list[str]", "doc": "the lock files that changed"},
    "unlocked": {
        "type": "list[str]",
        "doc": "changed manifests that have a lock file in the tree which did not change with them",
    },
}

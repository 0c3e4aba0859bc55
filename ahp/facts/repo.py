"""`repo`: the repository as a whole (design §6)."""

TRIGGERS = None

SCHEMA = {
    "root": {"type": "str", "doc": "absolute path of the work tree, or of the folder when there is no repository"},
    "is_shallow": {"type": "bool", "doc": "history was cut off by a shallow clone"},
    "default_branch": {"type": "str", "doc": "short name of the default branch; empty when nothing tells it"},
}

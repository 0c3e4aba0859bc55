"""`branch`: the branch the event is about (design §6): the one checked out; in a push the one that is written to."""

TRIGGERS = None

_COUNT = {"type": "int", "min": 0, "optional": True}

SCHEMA = {
    "name": {"type": "str", "doc": "short name; empty when the head is detached, outside a repository, for a tag"},
    "is_default": {"type": "bool", "doc": "it is the default branch of the remote, else of the repository"},
    "is_detached": {"type": "bool", "doc": "the head names a commit and no branch"},
    "ahead": {**_COUNT, "doc": "commits its upstream does not have; absent without upstream"},
    "behind": {**_COUNT, "doc": "upstream commits it does not have; absent without upstream"},
}

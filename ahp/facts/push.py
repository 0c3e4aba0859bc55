"""`push`: the ref that is pushed (design §6); a push of several refs is judged once for each."""

from ahp.facts.groups import PUSH

TRIGGERS = PUSH

SCHEMA = {
    "remote": {"type": "str", "doc": "name of the remote, or its address when it has no name"},
    "ref": {"type": "str", "doc": "full name on the remote side: refs/heads/main"},
    "local_ref": {"type": "str", "doc": "full name on this side; empty for a deletion"},
    "is_force": {"type": "bool", "doc": "commits of the remote ref would be lost"},
    "is_delete": {"type": "bool", "doc": "the remote ref is deleted"},
    "is_new": {"type": "bool", "doc": "the remote does not have the ref yet"},
    "is_tag": {"type": "bool", "doc": "the ref is a tag"},
    "commit_count": {"type": "int", "min": 0, "doc": "commits the remote does not have yet"},
    "subjects": {"type": "list[str]", "doc": "first lines of those commits' messages, newest first"},
}

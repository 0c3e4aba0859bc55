"""`commit`: the commit that is being made (design §6).  Before commit-msg nobody knows its message."""

from ahp.facts.groups import COMMIT

TRIGGERS = COMMIT

# `ahp ci` judges finished commits under these names too, with the message they have.
_MESSAGE = ["commit-msg", "post-commit"]

SCHEMA = {
    "subject": {"type": "str", "triggers": _MESSAGE, "doc": "the first paragraph on one line, as git shows it"},
    "body": {"type": "str", "triggers": _MESSAGE, "doc": "what follows the subject, trailers included"},
    "message": {"type": "str", "triggers": _MESSAGE, "doc": "the whole message as git will store it"},
    "type": {"type": "str", "triggers": _MESSAGE, "doc": "`feat` of `feat(scope)!: …`, lower case; else empty"},
    "scope": {"type": "str", "triggers": _MESSAGE, "doc": "`scope` of `feat(scope)!: …`; else empty"},
    "is_breaking": {"type": "bool", "triggers": _MESSAGE, "doc": "`!` before the colon or a BREAKING CHANGE trailer"},
    "trailers": {"type": "list[str]", "triggers": _MESSAGE, "doc": "`Key: value` of the last paragraph, one line each"},
    "author": {"type": "str", "doc": "`Name <email>`"},
    "author_email": {"type": "str", "doc": "the address alone"},
    "is_merge": {"type": "bool", "doc": "the commit has, or will have, more than one parent"},
}

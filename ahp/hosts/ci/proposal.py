"""What a CI platform says is to be judged: which commit, where it goes, who brings it (design §9, authority §6)."""

from __future__ import annotations

import re
from typing import NamedTuple

from ahp.protocol.text import one_line
from ahp.system.errors import AhpError

BRANCHES = "refs/heads/"
TAGS = "refs/tags/"
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Proposal(NamedTuple):
    """A change as its platform tells it; a field of type str is "" where the platform says nothing.

    Never the base that a platform computed: it was made from the target as it stood some time ago. Names of branches
    may come from anybody who can push one.
    """

    kind: str
    """"pull request", "merge queue", "push", "delete" or "run", which is of no change in particular."""
    head: str = ""
    """The id of the commit proposed: of a pull request its own head, not the merge that a platform makes of it."""
    before: str | None = ""
    """Of a push: the id that the ref had, "" where it is new, None where the platform does not say."""
    source: str = ""
    """The name of the branch that the change comes from."""
    target: str = ""
    """The full name of the ref that the change goes to, such as refs/heads/main."""
    default_branch: str = ""
    """The name of the repository's default branch."""
    actor: str = ""
    """The account that brings the change, where the platform vouches for it."""


def commit_id(value: object, name: str) -> str:
    """`value`, the object id that `name` gives, "" for none and for the zeros of a ref that is not there.

    Raises AhpError for anything else: what git would read from it is no matter of a platform's variables.
    """
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not is_id(value):
        raise AhpError(f"{name} is {one_line(value)!r}, which is no commit id; is it the platform that set it?")
    return value if value.strip("0") else ""


def branch_name(value: object, name: str) -> str:
    """`value`, the branch that `name` gives. Raises AhpError for what is no branch name.

    The rules are those of git-check-ref-format, as far as a name could be taken for something else. refs/heads/main is
    the name of a branch, too, and not of main: it is the branch refs/heads/refs/heads/main.
    """
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not is_ref_name(value):
        raise AhpError(f"{name} is {one_line(value)!r}, which is no name of a branch")
    return value


def branch_of_ref(value: object, name: str) -> str:
    """The branch whose ref `name` gives, as platforms do that write refs/heads/ in front, here or always."""
    return branch_name(value.removeprefix(BRANCHES) if isinstance(value, str) else value, name)


def is_id(text: str) -> bool:
    """Whether `text` is the full id of an object."""
    return _OID.fullmatch(text) is not None


def is_ref_name(text: str) -> bool:
    """Whether git takes `text` as what follows refs/heads/ (git-check-ref-format)."""
    if not text or text[0] in "-/" or text[-1] in "/." or text == "@":
        return False
    if any(part in text for part in ("..", "//", "@{")) or any(c in " ~^:?*[\\\x7f" or c < " " for c in text):
        return False
    return all(not part.startswith(".") and not part.endswith(".lock") for part in text.split("/"))

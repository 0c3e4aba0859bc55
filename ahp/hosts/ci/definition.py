"""A place where `ahp ci` is run, and what it is worth: whether the change that it judges can edit it (authority §6)."""

from __future__ import annotations

import re
from typing import NamedTuple

GUARD = "guard"
"""The change cannot edit it."""
ADVICE = "advice"
"""The change can edit it, or pass it unasked."""
UNSAFE = "unsafe"
"""It lets the change run code with rights that it should not have."""
UNSEEN = "unseen"
"""A text for another place, which a clone does not show."""

RULES, POLICY, ALL = "rules", "policy", "all"
_COMMAND = re.compile(r"\bahp(?:-engine)?[\"']?\s+ci\b(?P<options>[^\n;&|]*)")
_COMMENT = re.compile(r"^\s*(?:#|//).*$", re.MULTILINE)


class Definition(NamedTuple):
    """A job or hook, by the file that defines it, such as .github/workflows/ahp-rules.yml.

    `check` is the name that the platform reports it by, "" where that is not known; `worth` one of the words above, and
    `why` its reason as half a sentence. `part` is what is asked: RULES are all but those about the policy.
    """

    file: str
    check: str
    worth: str
    why: str
    part: str = ALL


def asked(script: str) -> str:
    """Which part of the rules a script has `ahp ci` ask, "" where it does not run it."""
    lines = _COMMENT.sub("", script.replace("\\\n", " "))
    options = [found["options"] for found in _COMMAND.finditer(lines)]
    if not options:
        return ""
    without = any("--without" in one for one in options)
    only = any("--only" in one for one in options)
    return ALL if without == only else RULES if without else POLICY

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
_HOOK = re.compile(r"\bhook\s+pre-receive\b[^\n;&|]*")
_COMMENT = re.compile(r"^[ \t]*(?:#|//).*$", re.MULTILINE)
# What makes of a command that fails no failure of the script: before it on its line, and anywhere.
_TAKEN = re.compile(r"(?:^|[\s(])(?:if|elif|while|until|!|echo|printf|xargs)\s|\|\|")
_BETWEEN = re.compile(r";|&&|(?<!\|)\|(?!\|)")
_GOES_ON = re.compile(r"^[ \t]*(?:set \+\w*e|set \+o errexit|trap )", re.MULTILINE)


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
    options = [found["options"] for found in _COMMAND.finditer(_commands(script))]
    if not options:
        return ""
    without = any("--without" in one for one in options)
    only = any("--only" in one for one in options)
    return ALL if without == only else RULES if without else POLICY


def fails_with_it(script: str, pipes: bool) -> bool:
    """Whether a refusal by `ahp ci` ends a script of a shell that stops at the first command that fails (`sh -e`), as
    far as its lines tell. With `pipes` a pipe fails with any of its commands, else with the last.
    """
    for line in _commands(script).split("\n"):
        for found in _COMMAND.finditer(line):
            before, after = _BETWEEN.split(line[: found.start()])[-1], line[found.end() :]
            if _is_taken(before) or after.startswith(("&", "||")) or (after.startswith("|") and not pipes):
                return False
    return not _GOES_ON.search(script)


def hook_refuses(script: str) -> bool | None:
    """Whether a refusal by `ahp hook pre-receive` is one of the hook whose text this is, as far as its lines tell; None
    where it does not run it. Of other languages than the shell's nothing is told, and that is taken to be right.
    """
    lines = [line.strip() for line in _commands(script).split("\n") if line.strip()]
    at = next((number for number, line in enumerate(lines) if _HOOK.search(line)), None)
    if at is None:
        return None
    before, _, after = lines[at].partition(_HOOK.findall(lines[at])[0])
    before = _BETWEEN.split(before)[-1].lstrip()
    if not re.match(r"#!.*sh\b", script) or before.startswith(("exec ", "if ! ")) or after.startswith("|| exit"):
        return True
    stops = re.match(r"#!.*\s-\w*e", script) or re.search(r"^[ \t]*set -\w*e", script, re.MULTILINE)
    return not after and not _is_taken(before) and (bool(stops) or at == len(lines) - 1)


def _is_taken(before: str) -> bool:
    """Whether the words before a command, on its line, have its failure be no failure of the script."""
    return _TAKEN.search(before) is not None or "$(" in before.rpartition(")")[2]


def _commands(script: str) -> str:
    """The lines of a script without comments, each command whole on its line; `2>&1` is no `&`."""
    return re.sub(r">&(?=\d)", ">", _COMMENT.sub("", script.replace("\\\n", " ")))

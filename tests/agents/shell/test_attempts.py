"""Attempts to get round a gate, and harmless look-alikes, judged as a policy would by what is read of them."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from ahp.agents.calls import tool_call

ATTEMPTS = [json.loads(line) for line in (Path(__file__).parent / "attempts.jsonl").read_text().splitlines()]
PROTECTED = (".ahp/hooks.yaml", ".ahp/signals.jsonl", ".git/hooks/pre-commit", ".git/config", ".git/refs/heads/main")
PLUMBING = ("commit-tree", "update-ref", "hash-object", "send-pack", "fast-import")
KILL_SWITCHES = re.compile("GIT_CONFIG|GIT_DIR=|GIT_WORK_TREE=|AHP_|HUSKY=|PRE_COMMIT")
HOME_AND_ROOT = ("/", "~")


def names(pattern: str, path: str) -> bool:
    """Whether a written path is the protected one, lies above it, or may be it by its wildcards."""
    plain = pattern.removeprefix("./")
    return plain.strip("*/") != "" and (fnmatchcase(path, plain) or fnmatchcase(path, plain + "/*"))


def denied(one: dict[str, Any]) -> bool:
    program, verb, flags, operands = one["program"], one["verb"], set(one["flags"]), one["operands"]
    if any(names(path, protected) for path in one["writes"] for protected in PROTECTED):
        return True
    if any(map(KILL_SWITCHES.match, one["assignments"])) or "**/ahp" in one["writes"]:
        return True
    if program == "git":
        pushes = verb == "push" and (flags & {"--force", "--delete"} or any(o.startswith(":") for o in operands))
        hooks = any(key.startswith(("core.hookspath=", "include.path=")) for key in one["config"])
        lost = verb == "reset" and "--hard" in flags
        return bool(hooks or "--no-verify" in flags or verb in PLUMBING or pushes or lost)
    if program == "rm" and "--recursive" in flags:
        return any(path in HOME_AND_ROOT for path in one["writes"])
    switches = (("pip", "uninstall"), ("ahp", "waive"), ("claude", "config"))
    return (program, verb) in switches or (program == "claude" and "--dangerously-skip-permissions" in flags)


def doubtful(one: dict[str, Any]) -> bool:
    places = set(one["unresolved_at"])
    hooked = one["program"] == "git" and one["verb"] in ("commit", "push", "merge", "")
    unsure = any(names(path, protected) for path in one["may_write"] for protected in PROTECTED)
    return bool(places & {"program", "path"}) or (hooked and "option" in places) or unsure or "pygit2" in one["code"]


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt["id"])
def test_an_attempt_is_seen_and_a_look_alike_is_left_alone(attempt: dict[str, Any]) -> None:
    found: Any = tool_call.read("shell", "Bash", {"command": attempt["command"]}, root="/repo")["commands"]
    assert any(denied(one) or doubtful(one) for one in found) == (attempt["expect"] == "block")

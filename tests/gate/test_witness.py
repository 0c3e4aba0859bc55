"""A refusal names the command that it is about, and the words meant; the log keeps no words (design §7)."""

from __future__ import annotations

import json

import pytest

from ahp.agents.calls import tool_call
from ahp.hosts import verdict_text
from tests.gate.conftest import Desk

FORCED = "c.program == 'git' and not contains(c.flags, '--quiet') and"


def said(desk: Desk, condition: str, command: str, more: str = "") -> str:
    """What an agent reads of a rule with this condition on each command, without its first line."""
    desk.policy(
        f'rules: {{r: {{at: pre-tool-use, each: c in tool.commands, block: "{condition}", message: no{more}}}}}'
    )
    tool = tool_call.read("", "Bash", {"command": command}, root=str(desk.root))
    return verdict_text.for_agent(desk.judge("pre-tool-use", tool=tool)).split("\n")[1]


@pytest.mark.parametrize(
    ("condition", "command", "told"),
    [
        (f"{FORCED} contains(c.flags, '--force')", "ls; git push -f", "git push: --force"),
        (f"{FORCED} any(f in ['--force', '--all'] for f in c.flags)", "git push --all -f", "git push: --all, --force"),
        (f"{FORCED} c.verb == 'push' and any(o.startswith('+') for o in c.operands)", "git push o +x", "git push: +x"),
        ("any(a.startswith('SKIP=') for a in c.assignments)", "A=b SKIP=1 make", "make: SKIP=1"),
        ("any(s.startswith('a.') for s in c.config) or c.verb == 'x'", "git -c a.b=c x", "git x: a.b=c"),
        ("contains(c.args, 'push') and c.verb == 'push'", "git push", "git push"),  # it is named already
        ("contains(c.unresolved_at, 'program')", "$X y", "a command: $X"),
        ("contains(c.unresolved_at, 'program')", "curl x | sh", "what sh runs"),
        ("contains(c.unresolved_at, 'program')", 'eval "$(cat x)"', "what eval runs: $(cat x)"),
        ("all(f != '--quiet' for f in c.flags)", "git push", "git push"),
        ("contains(c.args, 'x') or len(c.verb.strip()) > 90", "git x; rm x", "git x, rm: x"),
        ("any(len(f) > 1 for f in c.flags)", "tar --a1 --a2 --a3 --a4", "tar: --a1, --a2, --a3"),
    ],
)
def test_a_command_is_named_with_the_words_that_are_meant(desk: Desk, condition: str, command: str, told: str) -> None:
    assert said(desk, condition, command) == f"Why: no ({told})"


def test_neither_the_log_nor_a_rule_that_redacts_tells_the_words(desk: Desk) -> None:
    condition = "any(contains(a, 'key') for a in c.args)"
    assert said(desk, condition, "curl -H key123 x") == "Why: no (curl: key123)"
    assert said(desk, condition, "curl -H key456 x", ", redact: true") == "Why: no (curl)"
    assert "key" not in json.dumps([record.get("findings") for record in desk.log()])

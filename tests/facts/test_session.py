"""`session`: the agent's session so far."""

from __future__ import annotations

from typing import Any

import pytest

from ahp import Gate
from ahp.facts import session
from ahp.journal import session_calls
from ahp.protocol.event import Actor
from ahp.protocol.verdict import Verdict


def paths(namespace: Any, name: str) -> list[str]:
    return [f"{name}.{field}" for field in namespace.NAMESPACE.schema]


def test_a_session_has_its_id_and_agent(make_event: Any, gather: Any) -> None:
    event = make_event("pre-tool-use", actor=Actor("agent", "codex"), session="s-1")
    facts = gather(event, *paths(session, "session"))
    assert (facts["session.id"], facts["session.agent"]) == ("s-1", "codex")
    assert (facts["session.tool_calls"], facts["session.denied"], facts["session.touched_files_count"]) == (0, 0, 0)
    assert gather(make_event("session-start"), "session.id") == {"session.id": ""}


def test_its_calls_are_counted_and_absent_where_nobody_tells_whose_they_are(make_event: Any, gather: Any) -> None:
    event = make_event("pre-tool-use", session="s-1")
    for path, denied in (("a", False), ("a", False), ("b", True), ("c", False)):
        session_calls.note(event.journal, "s-1", {"writes": [path]}, [], denied=denied)
    counts = ["session.tool_calls", "session.denied", "session.touched_files_count"]
    assert list(gather(event, *counts).values()) == [4, 1, 2]
    assert set(gather(make_event("pre-tool-use"), *counts)["missing"]) == set(counts)


@pytest.mark.wings
@pytest.mark.parametrize(
    ("tool", "given", "secret"),
    [
        ("Read", "~/.ssh/id_ed25519", True),
        ("Read", "~/.cargo/credentials.toml", True),
        ("Read", "~/.claude/.credentials.json", True),
        ("Read", "~/notes/plan.md", True),
        ("Read", "~/.claude/skills/x/SKILL.md", False),
        ("Read", "~/.cargo/registry/src/x.rs", False),
        ("Read", "~/.gitconfig", False),
        ("Read", "/etc/hosts", False),
        ("Read", "src/token.py", False),
        ("Bash", "cat ~/.ssh/id_ed25519", True),
    ],
)
def test_a_session_that_read_what_a_box_hides_has_read_a_secret(
    repo: Any, home: Any, tool: str, given: str, secret: bool
) -> None:
    repo.write(".ahp/hooks.yaml", "version: 1\nrules: {r: {at: pre-tool-use, block: \"tool.native_name == 'No'\"}}\n")
    gate = Gate(str(repo.root), agent="claude", session="s")
    whole = given.replace("~", str(home), 1) if tool == "Read" else given
    call = {"native_name": tool, "input": {"file_path" if tool == "Read" else "command": whole}}
    gate.judge("pre-tool-use", tool=call)
    gate.judge("post-tool-use", tool={**call, "output": ""})
    assert session_calls.has_read_a_secret(str(repo.root / ".git/ahp"), "s") is secret


def test_what_the_policy_shows_to_a_boxed_call_counts(make_event: Any, gather: Any) -> None:
    event = make_event("pre-tool-use", session="s-1", tool={"boxed": True, "paths": ["~/.ssh/id"]})
    verdict = Verdict("allow", "pre-tool-use", event.subject, "p")
    for shown, expected in (([], False), (["~/.kube"], True)):
        verdict.box = {"rule": "r", "keys": {"shown": shown}, "otherwise": "block"}
        session_calls.note_judged(event, verdict)
        assert gather(event, "session.has_read_secret") == {"session.has_read_secret": expected}

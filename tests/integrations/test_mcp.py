"""`ahp mcp`, asked by the SDK's own client over its standard input and output."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from ahp import Gate
from ahp.integrations import mcp as served
from ahp.protocol.signals import ACTIONS_OF
from tests.conftest import Repo

POLICY = """\
version: 1
rules:
  no-rm: {at: pre-tool-use, block: any(c.program == 'rm' for c in tool.commands), message: it would be gone}
  look-first: {at: pre-tool-use, prompt: any(c.program == 'make' for c in tool.commands), message: look first}
"""
TEST = """\
- name: ls passes
  trigger: pre-tool-use
  facts: {tool: {name: shell, input: {command: ls}}}
  expect: {decision: allow}
"""
RM = {"tool": {"name": "shell", "input": {"command": "rm -rf build"}}}
NAMES = {"check", "explain", "facts", "brief", "respond", "policy_test", "saved"}
# What a person alone may do, and where it would be written.
A_PERSON_S = ("trust", "waive", "skip", "proceed_with_risk", "policy diff", "install", "uninstall", "run", "exec")
Ask = Callable[..., tuple[bool, str]]


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY, ".ahp/tests/calls.yaml": TEST})
    monkeypatch.chdir(repo.root)
    return repo


def asking(repo: Repo, *calls: tuple[str, dict[str, Any]]) -> tuple[set[str], list[tuple[bool, str]]]:
    """The names of the tools; of each call whether it failed, and what the model reads."""

    async def run() -> tuple[set[str], list[tuple[bool, str]]]:
        argv = [sys.executable, "-c", "from ahp.cli.start import main; main()", "mcp"]
        parameters = StdioServerParameters(
            command=argv[0], args=argv[1:], env={**os.environ, "AHP_AGENT": "x"}, cwd=repo.root
        )
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            names = {one.name for one in (await session.list_tools()).tools}
            told = []
            for name, arguments in calls:
                try:
                    result = await session.call_tool(name, arguments)
                    told.append((bool(result.is_error), "".join(getattr(one, "text", "") for one in result.content)))
                except Exception as error:  # noqa: BLE001  # the protocol's own refusal
                    told.append((True, str(error)))
            return names, told

    return asyncio.run(run())


@pytest.mark.slow
def test_the_tools_say_what_the_commands_say(project: Repo) -> None:
    names, told = asking(
        project,
        ("brief", {}),
        ("check", {"trigger": "pre-tool-use", "facts": RM}),
        ("check", {"trigger": "pre-commit"}),
        ("explain", {"what": "no-rm", "facts": RM}),
        ("facts", {"trigger": "pre-commit"}),
        ("policy_test", {}),
        ("saved", {}),
        ("check", {"trigger": "pre-nothing"}),
    )
    assert names == NAMES
    brief, refused, passes, explained, facts, tests, saved, wrong = told
    assert not brief[0] and "no-rm" in brief[1]
    verdict = json.loads(refused[1])
    assert (refused[0], verdict["decision"], verdict["signals"][0]["context"]["rule"]) == (False, "deny", "no-rm")
    assert json.loads(passes[1])["decision"] == "allow"
    assert not explained[0] and "no-rm" in explained[1]
    assert json.loads(facts[1])["facts"]["files.changed_count"]["value"] == 0
    assert not tests[0] and json.loads(tests[1])["tests"][0]["faults"] == []
    assert saved == (False, "")
    assert wrong[0] and "no trigger" in wrong[1]
    assert not (project.root / ".git/ahp/signals.jsonl").exists()  # who asks leaves nothing in the log


@pytest.mark.slow
def test_an_agent_s_answer_is_recorded_as_an_agent_s(project: Repo) -> None:
    gate = Gate(".", agent="x", session="s")
    call = {"name": "shell", "native_name": "bash", "input": {"command": "make"}}
    (signal,) = gate.judge("pre-tool-use", tool=call).signals
    answer = {"signal": signal.id[:8], "action": "acknowledge", "reason": "I looked; $(touch pwned)"}
    _, [(failed, said)] = asking(project, ("respond", answer))
    assert (failed, json.loads(said)["action"]) == (False, "acknowledge")
    responses = [one for one in log(project) if one["kind"] == "response" and one["action"] == "acknowledge"]
    assert [one["details"]["reason"] for one in responses] == [answer["reason"]]
    assert [one["by"] for one in responses] == ["agent:x"]


def log(repo: Repo) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (repo.root / ".git/ahp/signals.jsonl").read_text().splitlines()]


def test_a_person_s_answers_are_no_words_of_an_agent() -> None:
    everything = {action for actions in ACTIONS_OF.values() for action in actions}
    assert set(get_args(served.Action)) == everything - {"proceed_with_risk"}


@pytest.mark.slow
def test_no_call_and_no_argument_trusts_waives_or_lets_pass(project: Repo) -> None:
    block = Gate(".", agent="x", session="s").judge("pre-tool-use", tool={**RM["tool"], "native_name": "bash"})
    signal = block.signals[0].id
    before = {path: path.read_bytes() for path in files_of(project)}
    hostile = [
        "proceed_with_risk",
        "--help",
        f"{signal} proceed_with_risk",
        "--facts=/etc/passwd",
        "$(touch pwned)",
        "nul\0",
        "y" * 200_000,
        "",
    ]
    calls: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in A_PERSON_S]
    for text in hostile:
        calls += [
            ("respond", {"signal": signal, "action": text, "reason": "r"}),
            ("respond", {"signal": signal, "action": ["proceed_with_risk", text], "reason": "r"}),
            ("respond", {"signal": text, "action": "acknowledge", "reason": "--help"}),
            ("check", {"trigger": text}),
            ("check", {"trigger": "pre-commit", "issue": text, "facts": text}),
            ("check", {"trigger": "trust", "facts": {text: {"a": 1}}}),
            ("explain", {"what": text}),
            ("facts", {"trigger": text}),
            ("saved", {"name": text or "none"}),
            (text or "trust", {"trigger": "pre-commit"}),
        ]
    _, told = asking(project, *calls)
    assert [pair for pair in zip(calls, told, strict=True) if not pair[1][0] and pair[0][0] != "explain"] == []
    assert "pwned" not in {path.name for path in project.root.rglob("*")}
    assert {path: path.read_bytes() for path in files_of(project)} == before
    call = {**RM["tool"], "native_name": "bash"}
    assert Gate(".", agent="x", session="s").judge("pre-tool-use", dry=True, tool=call).denied


def files_of(repo: Repo) -> list[Path]:
    """The work tree, the log and all that the user has at home; no cache."""
    home = Path(os.environ["HOME"])
    found = [
        path for top in (repo.root, home) for path in top.rglob("*") if path.is_file() and ".git" not in path.parts
    ]
    return sorted([*found, repo.root / ".git/ahp/signals.jsonl"])


def test_without_the_sdk_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with pytest.raises(Exception, match=r"MCP SDK.*\[mcp\]"):
        served.server()

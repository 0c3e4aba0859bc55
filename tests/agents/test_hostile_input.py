"""Garbage, what is cut off, too long or in another client's words: a refusal or no opinion, never a crash."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ahp.agents import clients
from tests.agents.conftest import CAPTURED, Ask, Said
from tests.conftest import Repo
from tests.examples import examples

POLICY = """
rules:
  no-rm: {at: pre-tool-use, block: "any(c.program == 'rm' for c in tool.commands)", message: no rm}
  lines: {at: pre-tool-use, each: l in diff.added, block: "contains(l.text, 'AKIA')", on_missing: skip}
  paths: {at: pre-tool-use, each: p in tool.protected, block: p.sure}
  after: {at: post-tool-use, aid: tool.is_error, message: "look at the error"}
"""


@pytest.fixture(autouse=True)
def policy(project: Repo) -> None:
    project.write(".ahp/hooks.yaml", POLICY)


def calling(client: str, tool: str, arguments: Any) -> dict[str, Any]:
    """The call of a tool as `client` sends it."""
    module = clients.CLIENTS[client]
    told: dict[str, Any] = module.probe(module.CALL, tool)
    key = next(key for key, value in told.items() if value == {})
    return {**told, key: arguments}


def is_refusal(said: Said, client: str) -> bool:
    """Whether this is the client's own refusal, with the same words on standard error."""
    module = clients.CLIENTS[client]
    return said.code == module.DENIED and said.shown == module.deny(module.CALL, said.words) and bool(said.words)


def event_after(client: str) -> str:
    events: dict[str, str] = clients.CLIENTS[client].EVENTS
    return next(name for name, trigger in events.items() if trigger == "post-tool-use")


DEEP = b'{"a": ' + b"[" * 100_000
BAD = {
    "nothing": b"",
    "garbage": b"garbage",
    "cut off": b'{"hook_event_name": "PreToolUse", "tool_na',
    "a list": b"[]",
    "null": b"null",
    "a text": b'"x"',
    "an empty object": b"{}",
    "no tool": b'{"hook_event_name": "EVENT"}',
    "a number for a tool": b'{"hook_event_name": "EVENT", "tool_name": 5, "tool_input": {}, "toolName": 5}',
    "a list of arguments": b'{"hook_event_name": "EVENT", "tool_name": "Bash", "tool_input": []}',
    "no UTF-8": b'{"tool_name": "Bash", "tool_input": {"command": "x\xff"}}',
    "half of a character": b'{"tool_name": "Bash", "tool_input": {"command": "\xc3',
    "two objects": b'{"tool_name": "Bash"} {"tool_name": "Bash"}',
    "too deep": DEEP,
    "too deep, whole": DEEP + b"]" * 100_000 + b"}",
    "a long number": b'{"n": ' + b"9" * 5000 + b"}",
    "NUL": b"\x00" * 1000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("client", clients.CLIENTS)
def test_what_is_not_understood_is_refused_before_a_tool_and_passed_after_it(ask: Ask, name: str, client: str) -> None:
    module, after = clients.CLIENTS[client], event_after(client)
    said = ask(BAD[name].replace(b"EVENT", module.CALL.encode()), client, module.CALL)
    assert is_refusal(said, client) and "could not be judged" in said.words and len(said.words) <= 600
    passed = ask(BAD[name].replace(b"EVENT", after.encode()), client, after)
    assert passed.code == 0 and "it went on" in passed.words and "Traceback" not in passed.words


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("client", clients.CLIENTS)
def test_fifty_megabytes_are_read_to_their_end_and_refused(ask: Ask, client: str) -> None:
    module = clients.CLIENTS[client]
    said = ask(json.dumps(calling(client, "Bash", {"command": "x" * (50 << 20)})).encode(), client, module.CALL)
    assert is_refusal(said, client) and "more than the" in said.words


@pytest.mark.parametrize("client", clients.CLIENTS)
@pytest.mark.parametrize("event", ["Nonsense", "", "PRETOOLUSE"])
def test_of_an_event_that_nobody_knows_there_is_no_opinion(ask: Ask, client: str, event: str) -> None:
    call = {**calling(client, "Bash", {"command": "rm x"}), "hook_event_name": event}
    assert ask(call, client, event) == (0, None, "")
    # The command says which event it was installed for, whatever the payload calls it.
    assert is_refusal(ask(call, client, clients.CLIENTS[client].CALL), client)


@pytest.mark.slow
@pytest.mark.parametrize("client", clients.CLIENTS)
@pytest.mark.parametrize("other", clients.CLIENTS)
def test_a_call_in_the_words_of_another_client_is_judged_or_refused(ask: Ask, client: str, other: str) -> None:
    said = ask(calling(other, "Bash", {"command": "rm x"}), client, clients.CLIENTS[client].CALL)
    assert said.shown is not None and ("no rm" in said.words or "could not be judged" in said.words)
    assert is_refusal(said, client) or is_refusal(said, other)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
KEYS = """
    hook_event_name tool_name tool_input cwd session_id tool_use_id tool_response prompt toolName toolArgs sessionId
    toolResult cursor_version conversation_id loop_count stop_hook_active tool_output
"""
ARGUMENT_KEYS = "command cmd file_path path content file_text old_string new_string edits patch input"
ARGUMENTS = st.dictionaries(st.sampled_from(ARGUMENT_KEYS.split()), JSON)
TOOLS = st.sampled_from(["Bash", "shell", "Write", "Edit", "MultiEdit", "apply_patch", "NotebookEdit", "mcp__a__b"])
EVENTS = sorted({event for client in clients.CLIENTS for event in clients.CLIENTS[client].EVENTS} | {"Other"})
FUZZED = examples(60, HealthCheck.function_scoped_fixture)


@FUZZED
@given(
    st.dictionaries(st.sampled_from(KEYS.split()), JSON),
    st.sampled_from(EVENTS),
    st.sampled_from(sorted(clients.CLIENTS)),
)
def test_whatever_comes_in_one_answer_goes_out(ask: Ask, payload: dict[str, Any], event: str, client: str) -> None:
    said = ask(payload, client, event)
    assert said.code in (0, 2) and "a bug in ahp" not in said.words, said.words
    assert said.code == 0 or said.shown is not None


@FUZZED
@given(TOOLS, ARGUMENTS, st.sampled_from(sorted(clients.CLIENTS)))
def test_whatever_a_tool_is_given_is_judged(ask: Ask, tool: str, arguments: dict[str, Any], client: str) -> None:
    said = ask(calling(client, tool, arguments), client, clients.CLIENTS[client].CALL)
    assert said.code in (0, 2) and "a bug in ahp" not in said.words, said.words


@FUZZED
@given(st.binary(max_size=200), st.integers(0, 300), st.sampled_from(sorted(clients.CLIENTS)))
def test_whatever_is_cut_or_is_no_text_is_refused(ask: Ask, data: bytes, cut: int, client: str) -> None:
    path = next(CAPTURED.glob(f"{client}-{clients.CLIENTS[client].CALL}*.json"))
    whole = json.dumps(json.loads(path.read_text())).encode()
    for broken in (data, whole[: min(cut, len(whole) - 1)] + data):
        said = ask(broken, client, clients.CLIENTS[client].CALL)
        assert said.code in (0, 2) and "a bug in ahp" not in said.words, said.words
        try:
            json.loads(broken)
        except ValueError:
            assert is_refusal(said, client)


@pytest.mark.parametrize("client", clients.CLIENTS)
def test_the_process_answers_so_too(project: Repo, client: str) -> None:
    module = clients.CLIENTS[client]
    argv = [sys.executable, "-c", "from ahp.cli.main import main; main()", "hook", client, module.CALL]
    data = json.dumps(calling(client, "Bash", {"command": "ls"})).encode()[:-3] + b"\xff"
    done = subprocess.run(argv, input=data, capture_output=True, cwd=project.root, check=False)
    assert is_refusal(Said(done.returncode, json.loads(done.stdout), done.stderr.decode().rstrip("\n")), client)

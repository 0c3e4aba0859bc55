"""What a hook asks is judged and answered in the client's words; whatever goes wrong is a refusal, no traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ahp.agents import judging, main
from ahp.cli.main import run as ahp
from tests.agents.conftest import CAPTURED, Ask, captured
from tests.conftest import Repo

POLICY = """
rules:
  no-rm: {at: pre-tool-use, block: "any(c.program == 'rm' for c in tool.commands)", message: no rm, fix: [use git rm]}
  other:
    at: pre-tool-use
    control: contains(tool.command, 'forbidden')
    message: another name
    action: {type: replace, target: tool.input.command, pattern: forbidden, with: allowed}
  warn: {at: pre-tool-use, prompt: "tool.command.startswith('touch ')", message: careful}
  after: {at: post-tool-use, aid: "tool.is_error", message: "look at the error"}
  many: {at: pre-tool-use, block: session.tool_calls > 2 and tool.native_name == 'Counted'}
  stop: {at: task-complete, block: "files.changed_count > 1", message: commit first}
  begin: {at: session-start, aid: "true", message: read CONTRIBUTING.md}
  asks: {at: prompt-submit, prompt: "true", message: mind the tests}
"""
Call = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def policy(project: Repo) -> None:
    project.write(".ahp/hooks.yaml", POLICY)


def test_what_no_rule_speaks_of_is_allowed_with_not_a_word(ask: Ask, call: Call) -> None:
    assert ask(call("Bash", command="ls")) == (0, None, "")


def test_a_launcher_that_another_user_made_asks_the_layer_of_who_runs_it(
    project: Repo, ask: Ask, call: Call, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = "version: 1\nrules:\n  {}: {{at: pre-tool-use, block: tool.command.startswith('ls '), message: no}}\n"
    theirs, own = project.root.parent / "theirs.yaml", home / ".ahp" / "hooks.yaml"
    theirs.write_text(rule.format("theirs"))
    own.parent.mkdir()
    own.write_text(rule.format("own"))
    known = main.Installed("", "", "git", f"{project.root}/.git/ahp")
    monkeypatch.setattr(main, "Installed", lambda: known)
    for uid, name in ((os.getuid(), "theirs"), (os.getuid() + 1, "own")):
        known.user_policy = f"{uid}:{theirs}"
        assert f"ahp blocked: {name} (" in ask(call("Bash", command=f"ls {name}")).text


@pytest.mark.parametrize("client", ["claude", "codex"])
def test_a_refusal_is_native_with_the_same_words_on_standard_error(ask: Ask, call: Call, client: str) -> None:
    said = ask(call("Bash", command="rm x"), client)
    assert said.code == 2 and said.shown is not None
    assert set(said.shown) == {"hookSpecificOutput"}
    inner = said.shown["hookSpecificOutput"]
    assert set(inner) == {"hookEventName", "permissionDecision", "permissionDecisionReason"}
    assert (inner["hookEventName"], inner["permissionDecision"]) == ("PreToolUse", "deny")
    assert said.words == said.text and said.text.startswith("ahp blocked: no-rm (") and len(said.text) <= 600


def test_an_agent_reads_english_whatever_the_locale_says(project: Repo, ask: Ask, call: Call) -> None:
    rule = "version: 1\nrules:\n  keys: {at: pre-tool-use, block: 'true', message: a private key}\n"
    project.write(".ahp/hooks.yaml", rule)
    said = ask(call("Bash", command="ls"), env={"LC_ALL": "zh_CN.UTF-8"})
    assert said.code == 2 and said.text.startswith("ahp blocked: keys (") and "\nWhy: a private key\n" in said.text
    assert said.words == said.text and said.text.replace("…", "").isascii()


@pytest.mark.parametrize(("client", "decision"), [("claude", None), ("codex", "allow")])
def test_a_control_is_the_call_that_runs_instead(ask: Ask, call: Call, client: str, decision: str | None) -> None:
    said = ask(call("Bash", command="echo forbidden", timeout=5), client)
    assert said.code == 0 and said.shown is not None
    inner = said.shown["hookSpecificOutput"]
    assert inner["updatedInput"] == {"command": "echo allowed", "timeout": 5}
    assert inner.get("permissionDecision") == decision
    assert "another name" in inner["additionalContext"]


def test_a_prompt_is_context_and_the_call_goes_on(ask: Ask, call: Call) -> None:
    said = ask(call("Bash", command="touch a"))
    assert said.code == 0 and "careful" in said.text


def test_an_aid_comes_after_the_tool(ask: Ask) -> None:
    assert "look at the error" in ask(captured("claude-PostToolUseFailure")).text
    assert ask(captured("claude-PostToolUse-Bash")) == (0, None, "")


def test_the_start_of_a_session_is_told_the_policy_in_two_hundred_tokens(ask: Ask) -> None:
    text = ask(captured("claude-SessionStart")).text
    assert "no-rm" in text and "read CONTRIBUTING.md" in text and len(text.split("\nahp note")[0]) <= 800


def test_a_prompt_of_the_user_and_the_end_of_a_task_are_asked(project: Repo, ask: Ask) -> None:
    assert "mind the tests" in ask(captured("claude-UserPromptSubmit")).text
    project.write("a")
    project.write("b")
    stop = ask(captured("claude-Stop"))
    assert stop.code == 2 and stop.shown == {"decision": "block", "reason": stop.words}
    assert ask(captured("claude-Stop", stop_hook_active=True)) == (0, None, "")


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(CAPTURED.glob("*.json")), ids=lambda path: path.stem)
def test_what_the_real_clients_sent_is_understood(ask: Ask, path: Any) -> None:
    client, event = path.stem.split("-")[:2]
    said = ask(json.loads(path.read_text()), client, event)
    assert said.code == 0 or event in ("Stop", "AfterAgent", "agentStop"), said.words
    assert "could not be judged" not in said.words, said.words


def test_gemini_is_answered_in_its_words_and_told_after_the_tool_what_it_cannot_be_told_before(ask: Ask) -> None:
    def before(command: str) -> Any:
        return ask(captured("gemini-BeforeTool", tool_input={"command": command}), "gemini")

    said = before("rm x")
    assert (said.code, said.shown) == (2, {"decision": "deny", "reason": said.words})
    shown = before("echo forbidden").shown
    assert shown is not None and shown["hookSpecificOutput"]["tool_input"] == {"command": "echo allowed"}
    assert before("touch a") == (0, None, "")
    after = captured("gemini-AfterTool", tool_input={"command": "touch a"})
    assert "careful" in ask(after, "gemini").text
    assert ask(after, "gemini") == (0, None, "")
    stop = ask(captured("gemini-AfterAgent", stop_hook_active=True), "gemini")
    assert stop.code == 0


def test_copilot_is_answered_flat_and_its_event_is_the_commands(ask: Ask) -> None:
    def before(arguments: Any) -> Any:
        return ask(captured("copilot-preToolUse-bash", toolArgs=arguments), "copilot", "preToolUse")

    said = before({"command": "rm x"})
    assert said.code == 2
    assert said.shown == {"permissionDecision": "deny", "permissionDecisionReason": said.words}
    assert before('{"command": "rm x"}').code == 2 and "no JSON" in before("{").words
    assert before({"command": "echo forbidden"}).shown["modifiedArgs"] == {"command": "echo allowed"}
    assert "careful" in before({"command": "touch a"}).shown["additionalContext"]
    assert ask({"sessionId": "s", "toolArgs": {}}, "copilot", "preToolUse").code == 2
    # Copilot also runs what stands in Claude's settings.
    assert ask(captured("copilot-preToolUse-bash", toolArgs={"command": "rm x"}), "claude", "PreToolUse").code == 2


def test_opencode_is_answered_as_its_plugin_reads(ask: Ask) -> None:
    def before(command: str) -> Any:
        return ask(captured("opencode-tool.execute.before", tool_input={"command": command}), "opencode")

    said = before("rm x")
    assert (said.code, said.shown) == (2, {"decision": "deny", "reason": said.words})
    assert before("ls") == (0, None, "")
    shown = before("echo forbidden").shown
    assert shown["args"] == {"command": "echo allowed"} and "another name" in shown["additionalContext"]
    assert "careful" in before("touch a").shown["additionalContext"]
    prompt = {"hook_event_name": "chat.message", "session_id": "s", "prompt": "do it"}
    assert "mind the tests" in ask(prompt, "opencode").text
    begun = ask({"hook_event_name": "experimental.chat.system.transform", "session_id": "s"}, "opencode")
    assert "read CONTRIBUTING.md" in begun.text


def test_cursor_reads_json_with_status_0_and_takes_silence_for_a_failure(project: Repo, ask: Ask) -> None:
    def before(command: str, client: str = "cursor", event: str = "preToolUse") -> Any:
        payload = captured("cursor-preToolUse", tool_input={"command": command}, cwd=str(project.root))
        return ask(payload, client, event)

    for said in (before("rm x"), before("rm x", "claude", "PreToolUse")):  # it also runs what stands in Claude's
        reason = said.words
        assert said.shown == {"permission": "deny", "user_message": reason, "agent_message": reason}
        assert said.code == 0 and "no rm" in reason
    assert before("ls") == (0, {"permission": "allow"}, "")
    shown = before("echo forbidden").shown
    assert shown["updated_input"] == {"command": "echo allowed"} and "another name" in shown["additional_context"]
    assert before("touch a").shown["permission"] == "allow" and "careful" in before("touch a").text
    assert ask(b"garbage", "cursor", "preToolUse").shown["permission"] == "deny"
    assert "look at the error" in ask(captured("cursor-postToolUseFailure"), "cursor").text
    assert ask(captured("cursor-postToolUse"), "cursor") == (0, None, "")
    assert "mind the tests" in ask(captured("cursor-beforeSubmitPrompt"), "cursor").text
    assert "no-rm" in ask(captured("cursor-sessionStart"), "cursor").text
    project.write("a")
    project.write("b")
    stop = ask(captured("cursor-stop"), "cursor")
    assert (stop.code, stop.shown) == (0, {"followup_message": stop.words}) and "commit first" in stop.words
    assert ask(captured("cursor-stop", loop_count=1), "cursor") == (0, None, "")


def test_the_calls_of_a_session_are_counted_whether_a_rule_spoke_or_not(ask: Ask, call: Call) -> None:
    for command in ("ls", "rm x", "touch a"):
        ask(call("Bash", command=command))
    assert ask(call("Counted", session="other")).code == 0
    assert ask(call("Counted")).code == 2


def test_a_relative_path_is_seen_from_where_the_agent_works(project: Repo, ask: Ask, call: Call) -> None:
    project.write(".ahp/hooks.yaml", "rules: {r: {at: pre-tool-use, block: \"contains(tool.writes, 'sub/x')\"}}\n")
    (project.root / "sub").mkdir()
    there = str(project.root / "sub")
    assert ask({**call("Bash", command="echo a > x"), "cwd": there}).code == 2
    assert ask({**call("Write", file_path="x", content=""), "cwd": there}).code == 2
    assert ask(call("Write", file_path="x", content="")).code == 0


def test_the_project_is_the_one_that_the_client_names_wherever_the_agent_has_gone(
    project: Repo, ask: Ask, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    where = {**call("Bash", command="rm x"), "cwd": str(tmp_path)}
    assert ask(where).code == 0
    assert ask(where, env={"CLAUDE_PROJECT_DIR": str(project.root)}).code == 2


def test_two_hooks_for_one_call_count_once(project: Repo, ask: Ask, call: Call) -> None:
    ladder = "escalation: {ladder: [prompt, block], after: 1}\n"
    rule = "rules: {r: {at: pre-tool-use, prompt: tool.command == 'ls', escalate: true}}\n"
    project.write(".ahp/hooks.yaml", ladder + rule)
    assert [ask(call("Bash", command="ls", call="one")).code for _ in range(2)] == [0, 0]
    assert ask(call("Bash", command="ls", call="two")).code == 2


# What is wrong


def test_a_client_that_is_not_known_is_refused(ask: Ask, call: Call) -> None:
    assert "there is no client" in ask(call("Bash", command="ls"), "emacs").words


def test_a_policy_that_does_not_load_is_refused_and_named(project: Repo, ask: Ask, call: Call) -> None:
    project.write(".ahp/hooks.yaml", "rules: {r: {at: pre-tool-use, block: nonsense.fact}}\n")
    said = ask(call("Bash", command="ls"))
    assert said.code == 2 and "ahp policy lint" in said.text


def test_a_bug_is_a_refusal_that_names_the_place(ask: Ask, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(judging, "decide", broken)
    said = ask(call("Bash", command="ls"))
    assert said.code == 2 and "a bug in ahp" in said.text and "ZeroDivisionError" in said.text


def test_a_package_that_is_gone_is_named(ask: Ask, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise ModuleNotFoundError("No module named 'yaml'", name="yaml")

    monkeypatch.setattr(judging, "decide", broken)
    said = ask(call("Bash", command="ls"))
    assert (
        said.code == 2
        and "cannot import yaml, which ahp needs" in said.text
        and "pipx or uv tool installs ahp" in said.text
    )


def test_what_takes_too_long_is_refused_in_time(ask: Ask, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "decide", lambda *_: time.sleep(60))
    said = ask(call("Bash", command="ls"), env={"AHP_HOOK_BUDGET": "0.2"})
    assert said.code == 2 and "longer than it may" in said.text


def test_a_budget_that_is_spent_while_a_refusal_is_worded_refuses(
    ask: Ask, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    text = main.failure

    def slow(event: str, error: Exception, refused: bool) -> str:
        told.append(str(error))
        if len(told) == 1:
            time.sleep(5)
        return text(event, error, refused=refused)

    monkeypatch.setattr(main, "failure", slow)
    said = ask(b"no object", env={"AHP_HOOK_BUDGET": "0.2"})
    assert said.code == 2 and "longer than it may" in said.text and len(told) == 2


@pytest.mark.parametrize(
    ("told", "seconds"), [("3", 3.0), ("900", main.BUDGET), ("", main.BUDGET), ("-1", 0.1), ("x", main.BUDGET)]
)
def test_the_budget_can_only_be_lowered(told: str, seconds: float) -> None:
    assert main.budget({"AHP_HOOK_BUDGET": told}) == seconds < main.TIMEOUT


# The process


def test_the_command_reads_and_answers_and_ends(project: Repo, call: Call) -> None:
    argv = [sys.executable, "-c", "from ahp.cli.main import main; main()", "hook", "claude", "PreToolUse"]
    for command, code in (("rm x", 2), ("ls", 0)):
        payload = json.dumps(call("Bash", command=command)).encode()
        done = subprocess.run(argv, input=payload, capture_output=True, cwd=project.root, check=False)
        assert done.returncode == code, done.stderr
        assert (json.loads(done.stdout) if code else done.stdout) == (done.stdout and json.loads(done.stdout))


def test_nobody_reading_the_answer_is_no_error(project: Repo, call: Call) -> None:
    argv = [sys.executable, "-c", "from ahp.cli.main import main; main()", "hook", "claude", "PreToolUse"]
    reading, writing = os.pipe()
    os.close(reading)
    payload = json.dumps(call("Bash", command="rm x")).encode()
    done = subprocess.run(argv, input=payload, stdout=writing, stderr=writing, cwd=project.root, check=False)
    os.close(writing)
    assert done.returncode == 2


def test_ahp_hook_takes_only_hosts_that_there_are() -> None:
    assert ahp(["hook", "emacs"]) == 2


def test_the_trace_context_of_a_payload_goes_before_that_of_the_environment(
    project: Repo, ask: Ask, call: Call
) -> None:
    of_env, of_payload = (f"00-{digit * 32}-{'b' * 16}-01" for digit in "ac")
    for more, env in (({}, {"TRACEPARENT": of_env}), ({"traceparent": of_payload}, {"TRACEPARENT": of_env}), ({}, {})):
        ask({**call("Bash", command="rm x"), **more}, env=env)
    ask({**call("Bash", command="rm x"), "traceparent": "00-x; touch pwned"}, env={"TRACEPARENT": of_env})
    lines = map(json.loads, (project.root / ".git/ahp/signals.jsonl").read_text().splitlines())
    found = [one.get("traceparent") for one in lines if one["kind"] == "signal"]
    assert found == [of_env, of_payload, None, None]

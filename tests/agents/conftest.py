"""Hooks of coding agents, asked inside this process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ahp.agents import main
from ahp.system import environ, git
from tests.conftest import Repo

CAPTURED = Path(__file__).parent / "captured"
Ask = Callable[..., "Said"]
Call = Callable[..., dict[str, Any]]


class Said(NamedTuple):
    """What a hook answered: the exit code, the object it showed, the words on standard error."""

    code: int
    shown: dict[str, Any] | None
    words: str

    @property
    def text(self) -> str:
        """What the agent reads."""
        inner = (self.shown or {}).get("hookSpecificOutput", self.shown or {})
        keys = ("permissionDecisionReason", "additionalContext", "reason", "agent_message", "additional_context")
        return next((str(inner[key]) for key in keys if inner.get(key)), "")


def captured(name: str, **changed: Any) -> dict[str, Any]:
    """What a real client sent, with some of it changed."""
    told = json.loads((CAPTURED / f"{name}.json").read_text())
    assert isinstance(told, dict)
    return {**told, **changed}


@pytest.fixture
def project(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A repository with one commit, in which the hooks are asked."""
    repo.commit("first", README="text\n")
    monkeypatch.chdir(repo.root)
    return repo


@pytest.fixture
def ask(project: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Ask]:
    """`ask(payload, client="claude", event=…, env={})`: payload an object or bytes; the event is the payload's."""
    before = os.dup(0)

    def asked(
        payload: Any, client: str = "claude", event: str | None = None, env: dict[str, str] | None = None
    ) -> Said:
        path = tmp_path / "stdin"
        path.write_bytes(payload if isinstance(payload, bytes) else json.dumps(payload).encode())
        fd = os.open(path, os.O_RDONLY)
        os.dup2(fd, 0)
        os.close(fd)
        monkeypatch.setattr(environ, "current", lambda: {**os.environ, **(env or {})})
        named = payload.get("hook_event_name", "") if isinstance(payload, dict) else "PreToolUse"
        reply = main.reply_to([client, named if event is None else event], main.Installed())
        return Said(reply.code, reply.shown, reply.said)

    yield asked
    os.dup2(before, 0)
    os.close(before)


@pytest.fixture
def call(project: Repo) -> Callable[..., dict[str, Any]]:
    """`call("Bash", command="ls")`: the payload of a tool call in the project."""

    def made(tool: str, /, trigger: str = "PreToolUse", session: str = "s1", call: str = "c1", **arguments: Any) -> Any:
        told = captured("claude-PreToolUse-Bash", cwd=str(project.root), hook_event_name=trigger)
        return {**told, "tool_name": tool, "tool_input": arguments, "session_id": session, "tool_use_id": call}

    return made


def found(project: Repo) -> git.Repository:
    """The repository as ahp sees it."""
    return git.discover(str(project.root), dict(os.environ))

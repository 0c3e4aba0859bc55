"""Codex runs a hook only after a person has trusted it: shown here, and trusted through Codex's own app server.

The app server speaks JSON-RPC on its standard streams (`codex app-server`, 0.169; labelled experimental). It tells each
hook's key, digest and trust (`hooks/list`) and writes the user's configuration (`config/batchWrite`). What it says is
read back after. Where it is not there, or says something else, words are left.
"""

from typing import Any, NamedTuple

from ahp.agents import install
from ahp.agents.clients import CLIENTS
from ahp.protocol.event import identify
from ahp.protocol.text import one_line
from ahp.system import environ, jsontext, process, terminal
from ahp.system.errors import AhpError

_CODEX = CLIENTS["codex"]
_TIMEOUT = 20.0  # s for one answer
_TRUSTED = ("trusted", "managed")
_HELLO: dict[str, Any] = {"clientInfo": {"name": "ahp", "title": "ahp", "version": "1"}}


class Found(NamedTuple):
    """One of our hooks, as Codex knows it: `digest` is of what it would run, `is_trusted` whether it does."""

    key: str
    event: str
    command: str
    digest: str
    is_trusted: bool


def offer(root: str) -> str:
    """Shows a person at a terminal our hooks in the project at `root` that Codex does not run yet, and has Codex trust
    them if the person agrees. What is still to do, "" where Codex runs all of them.
    """
    env = environ.current()
    try:
        waiting = [hook for hook in listed(root, env) if not hook.is_trusted]
        if not waiting:
            return ""
        if identify(env).kind != "human" or not terminal.attended():
            return _CODEX.TRUST
        if not terminal.confirm(_question(waiting), "ahp install codex"):
            return _CODEX.TRUST
        _write(waiting, env)
        left = [hook for hook in listed(root, env) if not hook.is_trusted]
    except AhpError as error:
        return f"{_CODEX.TRUST} (Codex itself says: {one_line(error, 300)})"
    return _CODEX.TRUST if left else ""


def listed(root: str, env: dict[str, str]) -> list[Found]:
    """Our hooks in the project at `root`, as Codex has them.

    Raises AhpError where Codex cannot be asked, or does not list all of them: it may not trust the project.
    """
    ours = {install.command("codex", event): event for event in _CODEX.EVENTS}
    told = _asked("hooks/list", {"cwds": [root]}, env).get("data")
    hooks = [hook for one in _objects(told) for hook in _objects(one.get("hooks"))]
    found = [
        Found(
            str(hook["key"]), ours[hook["command"]], str(hook["command"]), str(hook["currentHash"]), _is_trusted(hook)
        )
        for hook in hooks
        if hook.get("command") in ours and hook.get("key") and hook.get("currentHash")
    ]
    if not {hook.event for hook in found} >= _CODEX.EVENTS.keys():
        raise AhpError("it does not list the hooks; does it trust this project?")
    return found


def _is_trusted(hook: dict[str, Any]) -> bool:
    return hook.get("enabled") is not False and hook.get("trustStatus") in _TRUSTED


def _question(waiting: list[Found]) -> str:
    """What the person agrees to: each command whole."""
    lines = [f"  {hook.event}: {one_line(hook.command, 2000)}" for hook in waiting]
    return "\n".join(["Codex does not run these hooks yet:", *lines, "ahp: have Codex trust them from now on?"])


def _write(hooks: list[Found], env: dict[str, str]) -> None:
    value = {hook.key: {"trusted_hash": hook.digest} for hook in hooks}
    edit = {"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"}
    _asked("config/batchWrite", {"edits": [edit]}, env)


def _asked(method: str, given: dict[str, Any], env: dict[str, str]) -> dict[str, Any]:
    """The result of one request. Raises AhpError."""
    messages: list[dict[str, object]] = [
        {"id": 0, "method": "initialize", "params": _HELLO},
        {"method": "initialized"},
        {"id": 1, "method": method, "params": given},
    ]
    data = "".join([jsontext.encode(message) + "\n" for message in messages]).encode()
    printed = process.answered(
        ["codex", "app-server"], data, lambda out: bool(_answers(out)), timeout=_TIMEOUT, env=env
    )
    answer = next(iter(_answers(printed)), {})
    result = answer.get("result")
    if not isinstance(result, dict):
        raise AhpError(f"codex app-server does not answer {method}: {one_line(answer.get('error', 'nothing'), 200)}")
    return result


def _answers(printed: bytes) -> list[dict[str, Any]]:
    """The answers to our request among the whole lines."""
    found = []
    for line in printed.split(b"\n")[:-1]:
        try:
            message = jsontext.decode(line.decode("utf-8"))
        except ValueError:
            continue
        if isinstance(message, dict) and message.get("id") == 1:
            found.append(message)
    return found


def _objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []

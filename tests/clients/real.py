"""The real coding agents: where they come from, how each is started, in a home and a repository of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.clients.scripted_model import Model, Step, serving
from tests.conftest import OUTSIDE, PROJECT

_FOLDER = PROJECT / "build" / "clients"
_PACKAGES = {
    "claude": "@anthropic-ai/claude-code@2.1.330",
    "codex": "@openai/codex@0.169.0",
    "gemini": "@google/gemini-cli@0.61.0",
    "copilot": "@github/copilot@1.0.102",
    "opencode": "opencode-ai@1.18.33",
}
_INSTALL = 900  # s; only a failure takes so long
_RUN = 600  # s; the same


class Ran(NamedTuple):
    """What a run of a client did: all that the model was told, and what the client printed."""

    told: str
    printed: str


def program(client: str) -> str:
    """The client's program, installed with npm where it is not yet; skips the test where that cannot be."""
    folder = Path(os.environ.get("AHP_TEST_CLIENTS", str(_FOLDER))) / client
    path = folder / "node_modules" / ".bin" / client
    if path.exists():
        return str(path)
    npm = shutil.which("npm", path=OUTSIDE.get("PATH"))
    if npm is None:
        pytest.skip(f"{client}: npm is not here, so it cannot be installed")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"name": "clients", "private": true}\n')
    argv = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", _PACKAGES[client]]
    done = subprocess.run(argv, cwd=folder, env=OUTSIDE, capture_output=True, text=True, timeout=_INSTALL, check=False)
    if done.returncode or not path.exists():
        pytest.skip(f"{client}: {_PACKAGES[client]} cannot be installed: {done.stderr.strip()[-300:]}")
    return str(path)


def run(
    client: str,
    repo: Path,
    home: Path,
    script: list[Step],
    env: Mapping[str, str] | None = None,
    inner: list[Step] | None = None,
) -> Ran:
    """One headless run of `client` in `repo` against a model that does what `script` says, `inner` in a sub-agent."""
    path = program(client)
    with serving(script, inner or []) as model:
        argv, own = _COMMANDS[client](path, model, repo, home)
        plain = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TMPDIR": str(home)}
        process = subprocess.Popen(
            argv,
            cwd=repo,
            env={**plain, **own, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            printed, _ = process.communicate(timeout=_RUN)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # what it left running in its own group
            except ProcessLookupError:
                pass
        return Ran(model.told(), printed.decode("utf-8", "replace"))


def _claude(path: str, model: Model, repo: Path, home: Path) -> tuple[list[str], dict[str, str]]:
    tools = ["Bash", "Write", "Edit", "Read", "NotebookEdit", "Task", "mcp__notes", "mcp__ahp"]
    argv = [path, "-p", "Please do it.", "--output-format", "stream-json", "--verbose", "--allowedTools", *tools]
    if (repo / "mcp.json").exists():
        argv += ["--mcp-config", "mcp.json"]
    env = {"ANTHROPIC_BASE_URL": model.base, "ANTHROPIC_API_KEY": "sk-dummy"}
    off = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER")
    return argv, env | dict.fromkeys((*off, "DISABLE_ERROR_REPORTING"), "1")


def _codex(path: str, model: Model, repo: Path, home: Path) -> tuple[list[str], dict[str, str]]:
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    config = folder / "config.toml"
    _, begins, trusted = (config.read_text() if config.exists() else "").partition("[hooks.state]")
    config.write_text(
        f"""model = "gpt-5.5"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "{model.base}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 1
stream_max_retries = 1
supports_websockets = false
[projects."{repo}"]
trust_level = "trusted"
"""
    )
    servers = json.loads((repo / "mcp.json").read_text())["mcpServers"] if (repo / "mcp.json").exists() else {}
    with config.open("a") as file:
        for name, one in servers.items():
            env = ", ".join(f"{key} = {json.dumps(value)}" for key, value in one.get("env", {}).items())
            told = f"command = {json.dumps(one['command'])}\nargs = {json.dumps(one['args'])}\nenv = {{{env}}}\n"
            file.write(f"[mcp_servers.{name}]\n{told}")
    if begins:  # a person has trusted hooks: these run, and no others
        config.write_text(config.read_text() + begins + trusted)
    argv = [path, "exec", "--json", *([] if begins else ["--dangerously-bypass-hook-trust"]), "Please do it."]
    return argv, {"CODEX_HOME": str(folder), "FAKE_KEY": "sk-dummy"}


def _gemini(path: str, model: Model, repo: Path, home: Path) -> tuple[list[str], dict[str, str]]:
    folder = home / ".gemini"
    folder.mkdir(exist_ok=True)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "telemetry": {"enabled": False},
    }
    (folder / "settings.json").write_text(json.dumps(settings))
    argv = [path, "-m", "gemini-2.5-flash", "-o", "stream-json", "--approval-mode", "yolo", "-p", "Please do it."]
    env = {"GEMINI_API_KEY": "dummy", "GOOGLE_GEMINI_BASE_URL": model.base, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    return argv, env


def _copilot(path: str, model: Model, repo: Path, home: Path) -> tuple[list[str], dict[str, str]]:
    env = {"COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_ALLOW_ALL": "true"}
    env |= {"COPILOT_PROVIDER_BASE_URL": f"{model.base}/v1", "COPILOT_PROVIDER_API_KEY": "sk-dummy"}
    return [path, "-p", "Please do it.", "--allow-all-tools"], env | {"COPILOT_MODEL": "gpt-4.1"}


def _opencode(path: str, model: Model, repo: Path, home: Path) -> tuple[list[str], dict[str, str]]:
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    options = {"baseURL": f"{model.base}/v1", "apiKey": "sk-dummy"}
    limit = {"context": 100000, "output": 4096}
    models = {"fake-model": {"name": "fake", "tool_call": True, "limit": limit}}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": options, "models": models}
    settings = {"model": "fake/fake-model", "small_model": "fake/fake-model", "autoupdate": False, "share": "disabled"}
    (folder / "opencode.json").write_text(
        json.dumps({**settings, "provider": {"fake": provider}, "permission": "allow"})
    )
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    argv = [path, "run", "--format", "json", "Please do it."]
    return argv, {f"OPENCODE_DISABLE_{name}": "1" for name in off}


_COMMANDS: dict[str, Any] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
    "copilot": _copilot,
    "opencode": _opencode,
}
CLIENTS = tuple(_COMMANDS)  # Cursor needs an account

"""The real clients, with hooks that `ahp install` put there, against a model that does what a script says."""

from __future__ import annotations

import json
import shutil
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ahp.agents import install as installing
from ahp.hosts.asking import around
from ahp.policy import compile as compiling
from ahp.policy import layers, trust
from ahp.policy.sources import FileSource
from ahp.protocol.event import Actor
from ahp.system import git
from tests.clients import real
from tests.clients.real import Ran
from tests.clients.scripted_model import SUBTASK, Step
from tests.conftest import Repo

pytestmark = pytest.mark.clients

POLICY = """
extends: [core]
rules:
  no-rm:
    at: pre-tool-use
    block: any(c.program == 'rm' for c in tool.commands)
    message: nothing is removed here
    fix: ["move it into trash/ instead"]
  frozen: {at: pre-tool-use, each: w in tool.writes, block: "glob(w, 'frozen/**')", message: nothing is made there}
  renamed:
    at: pre-tool-use
    control: contains(tool.command, 'forbidden')
    message: that name is taken
    action: {type: replace, target: tool.input.command, pattern: forbidden, with: allowed}
  careful: {at: pre-tool-use, prompt: "contains(tool.command, 'careful')", message: somebody watches this file}
  afterwards: {at: post-tool-use, aid: "contains(tool.command, 'careful')", message: write down why you touched it}
"""
SHELL = {
    "claude": ("Bash", "command"),
    "codex": ("exec_command", "cmd"),
    "gemini": ("run_shell_command", "command"),
    "copilot": ("bash", "command"),
    "opencode": ("bash", "command"),
}
Run = Callable[..., Ran]


def shell(client: str, command: str) -> Step:
    tool, key = SHELL[client]
    more = {"description": "a scripted call"} if tool in ("Bash", "bash") else {}
    return tool, {key: command, **more}


def written(client: str, text: str) -> Step:
    """A call that writes `text` to the file `new.txt`."""
    if client == "codex":
        return "apply_patch", {"input": f"*** Begin Patch\n*** Add File: new.txt\n+{text}\n*** End Patch\n"}
    if client == "copilot":
        return "create", {"path": "{root}/new.txt", "file_text": f"{text}\n"}
    if client == "opencode":
        return "write", {"filePath": "{root}/new.txt", "content": f"{text}\n"}
    return {"claude": "Write", "gemini": "write_file"}[client], {"file_path": "new.txt", "content": f"{text}\n"}


@pytest.fixture(params=real.CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    real.program(request.param)
    return str(request.param)


@pytest.fixture
def project(repo: Repo, client: str) -> Repo:
    """A repository with the policy and the hooks of the client."""
    repo.write(".ahp/hooks.yaml", POLICY)
    repo.write("old.txt", "text\n")
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, "old.txt": "text\n"})
    found = git.discover(str(repo.root), {"PATH": "/usr/bin:/bin"})
    installing.install(found, client, "")
    return repo


@pytest.fixture
def run(client: str, project: Repo, tmp_path: Path) -> Run:
    """`run(*steps, env={}, inner=[])`: what the client did with these calls of the model, and of its sub-agent."""
    home = tmp_path / "client-home"
    home.mkdir()

    def ran(*steps: Step, env: dict[str, str] | None = None, inner: list[Step] | None = None) -> Ran:
        given = [
            (tool, {key: str(v).replace("{root}", str(project.root)) for key, v in a.items()}) for tool, a in steps
        ]
        return real.run(client, project.root, home, given, env, inner)

    return ran


def there(project: Repo, name: str) -> bool:
    return (project.root / name).exists()


def test_what_no_rule_speaks_of_runs_and_the_session_begins_with_the_brief(
    client: str, project: Repo, run: Run
) -> None:
    done = run(shell(client, "touch new.txt"))
    assert there(project, "new.txt"), done.printed
    assert "ahp judges your tool calls" in done.told and "no-rm" in done.told


def test_a_block_stops_the_call_and_the_model_is_told_why_and_what_to_do(client: str, project: Repo, run: Run) -> None:
    done = run(shell(client, "rm old.txt"), shell(client, "touch after.txt"))
    assert there(project, "old.txt") and there(project, "after.txt"), done.printed
    assert "ahp blocked: no-rm" in done.told
    assert "nothing is removed here" in done.told and "move it into trash/ instead" in done.told


def test_an_agent_asks_by_mcp_before_it_acts_and_answers_as_itself(client: str, project: Repo, run: Run) -> None:
    """Claude Code and Codex start the server; the rest of it is the SDK's."""
    if client not in ("claude", "codex"):
        pytest.skip("only Claude Code and Codex were tried")
    argv = ["-c", "from ahp.cli.start import main; main()", "mcp"]
    server = {"command": sys.executable, "args": argv, "env": {"AHP_AGENT": client}}
    project.write("mcp.json", json.dumps({"mcpServers": {"ahp": server}}))
    facts = {"tool": {"name": "shell", "input": {"command": "rm old.txt"}}}
    asked = {"trigger": "pre-tool-use", "facts": json.dumps(facts)}
    # Codex starts the server beside its first turn.
    done = run(shell(client, "sleep 5"), ("mcp__ahp__check", asked), shell(client, "touch new.txt"))
    assert there(project, "new.txt"), done.printed
    assert "nothing is removed here" in done.told, done.printed


def test_a_control_runs_the_other_call(client: str, project: Repo, run: Run) -> None:
    done = run(shell(client, "touch forbidden.txt"))
    assert there(project, "allowed.txt") and not there(project, "forbidden.txt"), done.printed


@pytest.mark.box
def test_a_boxed_call_runs_in_the_box_and_the_client_follows_its_folder(client: str, project: Repo, run: Run) -> None:
    if client != "claude":
        pytest.skip("only Claude Code was tried so far")
    rule = "  boxed: {at: pre-tool-use, control: \"contains(tool.command, 'boxed')\", action: {type: sandbox}}\n"
    project.commit("box", **{".ahp/hooks.yaml": POLICY + rule})
    project.git("checkout", "-q", "-b", "topic")
    commit = "git -c user.name=a -c user.email=a commit -q --allow-empty -m inside"
    text = f"mkdir boxed && cd boxed && echo x > /tmp/ahp-boxed-elsewhere; ls /tmp; {commit}"
    done = run(shell(client, text), shell(client, "pwd > here.txt"))
    assert "ahp-boxed-elsewhere" in done.told and not Path("/tmp/ahp-boxed-elsewhere").exists(), done.printed
    assert (project.root / "boxed/here.txt").exists(), done.told
    assert project.git("log", "-1", "--format=%s", "topic").strip() == "inside"


def test_what_a_prompt_and_an_aid_say_reaches_the_model(client: str, project: Repo, run: Run) -> None:
    done = run(shell(client, "touch careful.txt"))
    assert there(project, "careful.txt"), done.printed
    assert "somebody watches this file" in done.told and "write down why you touched it" in done.told


def test_a_key_is_not_written(client: str, project: Repo, run: Run) -> None:
    done = run(written(client, "KEY=AKIA" + "ABCDEFGHIJ234567"))
    assert not there(project, "new.txt") and "no-secrets" in done.told, done.printed
    done = run(written(client, "hello"))
    assert (project.root / "new.txt").read_text() == "hello\n", done.printed


def test_where_the_interpreter_is_gone_nothing_runs(client: str, project: Repo, run: Run) -> None:
    (project.root / ".git" / "ahp" / "agent-hook").unlink()
    done = run(shell(client, "touch new.txt"))
    assert not there(project, "new.txt") and "ahp is not installed here, or broke" in done.told, done.printed


def test_where_ahp_crashes_nothing_runs(client: str, project: Repo, run: Run) -> None:
    hook = project.root / ".git" / "ahp" / "agent-hook"
    hook.write_text("#!/bin/sh\necho half an ans\nkill -9 $$\n")
    assert stat.S_IXUSR & hook.stat().st_mode
    done = run(shell(client, "touch new.txt"))
    assert not there(project, "new.txt") and "ahp is not installed here, or broke" in done.told, done.printed


def test_where_a_fact_hangs_nothing_runs(client: str, project: Repo, run: Run, tmp_path: Path) -> None:
    slow = 'facts: {slow: {run: [sleep, "600"], timeout: 300s, parse: exit}}'
    rule = "rules: {waits: {at: pre-tool-use, block: slow.exit_code > 0, on_missing: block}}"
    project.commit("slow", **{".ahp/hooks.yaml": f"{slow}\n{rule}\n"})
    where = around(str(project.root))
    specs = compiling.commands(layers.load(FileSource(where.root)))
    read = trust.in_folder(where.root)
    trust.accept(where.journal, {name: trust.digest(spec, read) for name, spec in specs.items()}, Actor("human"))
    done = run(shell(client, "touch new.txt"), env={"AHP_HOOK_BUDGET": "2"})
    assert not there(project, "new.txt") and "ahp blocked" in done.told, done.printed


def test_a_clone_without_ahp_is_not_silent(client: str, project: Repo, run: Run, tmp_path: Path) -> None:
    folder = Path(project.root / installing.settings_path("", client, False).lstrip("/"))
    shutil.rmtree(project.root / ".git" / "ahp")
    assert folder.exists()
    done = run(shell(client, "touch new.txt"))
    assert not there(project, "new.txt") and "head of .ahp/hooks.yaml" in done.told, done.printed


def test_under_a_broken_policy_the_newest_committed_one_that_loads_judges(client: str, project: Repo, run: Run) -> None:
    project.commit("broken", **{".ahp/hooks.yaml": "rules: {no-rm: {at: pre-tool-use, block: nonsense.fact}}\n"})
    done = run(shell(client, "rm old.txt"), shell(client, "touch after.txt"))
    assert there(project, "old.txt") and there(project, "after.txt"), done.printed
    assert "ahp blocked: no-rm" in done.told and "nothing is removed here" in done.told


@pytest.mark.parametrize("client", ["claude"], indirect=True)
def test_a_sub_agents_call_is_judged(client: str, project: Repo, run: Run) -> None:
    task = {"description": "a part", "prompt": SUBTASK, "subagent_type": "general-purpose"}
    done = run(("Agent", task), inner=[shell(client, "rm old.txt"), shell(client, "touch inner.txt")])
    assert there(project, "inner.txt"), done.printed  # there was a sub-agent, and it could act
    assert there(project, "old.txt") and "ahp blocked: no-rm" in done.told


@pytest.mark.parametrize("client", ["claude"], indirect=True)
def test_a_sub_agent_in_a_work_tree_of_its_own_is_judged_as_the_project_says(
    client: str, project: Repo, run: Run
) -> None:
    task = {"description": "a part", "prompt": SUBTASK, "subagent_type": "general-purpose", "isolation": "worktree"}
    done = run(("Agent", task), inner=[shell(client, "rm old.txt"), shell(client, f"pwd > {project.root}/where.txt")])
    assert "/.claude/worktrees/" in (project.root / "where.txt").read_text(), done.printed
    assert "ahp blocked: no-rm" in done.told


@pytest.mark.parametrize("client", ["claude"], indirect=True)
def test_a_command_that_is_watched_is_judged(client: str, project: Repo, run: Run) -> None:
    done = run(("Monitor", {"command": "rm old.txt; echo done", "description": "x"}))
    assert there(project, "old.txt") and "ahp blocked: no-rm" in done.told


SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    text = {"type": "string"}
    schema = {"type": "object", "properties": {"path": text, "content": text}, "required": ["path", "content"]}
    answer = {}
    if asked["method"] == "initialize":
        answer = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}}}
        answer["serverInfo"] = {"name": "notes", "version": "1"}
    elif asked["method"] == "tools/list":
        answer = {"tools": [{"name": "keep", "description": "Keeps a note.", "inputSchema": schema}]}
    elif asked["method"] == "tools/call":
        given = asked["params"]["arguments"]
        open(given["path"], "w").write(given["content"])
        answer = {"content": [{"type": "text", "text": "kept"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


@pytest.mark.parametrize("client", ["claude"], indirect=True)
def test_a_call_of_an_mcp_server_is_judged(client: str, project: Repo, run: Run) -> None:
    project.write("server.py", SERVER)
    servers = {"notes": {"command": sys.executable, "args": ["server.py"]}}
    project.write("mcp.json", json.dumps({"mcpServers": servers}))
    key = "KEY=AKIA" + "ABCDEFGHIJ234567"
    calls = [("secret.txt", key), ("note.txt", "hello")]
    done = run(*[("mcp__notes__keep", {"path": path, "content": content}) for path, content in calls])
    assert there(project, "note.txt"), done.printed
    assert not there(project, "secret.txt") and "no-secrets" in done.told


def test_the_control_of_this_test_an_unhooked_client_does_it(client: str, project: Repo, run: Run) -> None:
    (project.root / installing.settings_path("", client, False).lstrip("/")).unlink()
    done = run(shell(client, "rm old.txt"))
    assert not there(project, "old.txt"), done.printed

"""Our hooks in a client's settings: merged, once, taken out again to the letter; and the command that they name."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ahp.agents import clients, install
from ahp.agents.clients import CLIENTS
from ahp.agents.host import Client
from ahp.cli.main import run as ahp
from ahp.system.errors import AhpError
from tests.agents.conftest import captured, found
from tests.conftest import Repo

THEIRS = """{
  // what our team agreed on
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo theirs"}]}
    ]
  },
  "env": {"A": 1} /* kept */
}
"""


def settings(project: Repo, client: str = "claude") -> Path:
    return project.root / str(clients.CLIENTS[client].SETTINGS)


def put(project: Repo, client: str = "claude", **more: Any) -> install.Installed:
    return install.install(found(project), client, "", **more)


MERGED = [name for name in clients.CLIENTS if not clients.CLIENTS[name].PLUGIN]


@pytest.mark.parametrize("client", MERGED)
def test_every_event_of_a_client_has_one_hook_of_ours(project: Repo, client: str) -> None:
    assert put(project, client).changed
    told = json.loads(settings(project, client).read_text())
    assert set(told) - {"version"} == {"hooks"} and set(told["hooks"]) == set(clients.CLIENTS[client].EVENTS)
    for event, entries in told["hooks"].items():
        (hook,) = entries[0].get("hooks", entries)
        assert len(entries) == 1 and hook.get("command", hook.get("bash")).endswith(f" ahp {client} {event}")
        assert {type(value) for key, value in hook.items() if key.startswith("timeout")} == {int}
    text = settings(project, client).read_text()
    assert str(project.root) not in text and os.path.expanduser("~") not in text


def test_a_plugin_is_ours_as_a_whole_and_holds_the_command_of_every_event(project: Repo) -> None:
    assert put(project, "opencode").changed and not put(project, "opencode").changed
    text = settings(project, "opencode").read_text()
    begin = "const COMMANDS = "
    told = next(json.loads(line.removeprefix(begin)) for line in text.splitlines() if line.startswith(begin))
    assert told == {event: install.command("opencode", event) for event in clients.CLIENTS["opencode"].EVENTS}
    assert str(project.root) not in text and "@" not in text.replace("$@", "")
    settings(project, "opencode").write_text(text + "// changed\n")
    assert put(project, "opencode").changed and settings(project, "opencode").read_text() == text
    assert install.uninstall(found(project), "opencode") and not settings(project, "opencode").exists()


def test_a_plugin_of_somebody_else_stays(project: Repo) -> None:
    project.write(".opencode/plugins/ahp.js", "export const Other = 1\n")
    with pytest.raises(AhpError, match="somebody else"):
        put(project, "opencode")
    assert not install.uninstall(found(project), "opencode")
    assert settings(project, "opencode").read_text() == "export const Other = 1\n"


def test_what_an_older_ahp_committed_is_taken_out_too(project: Repo) -> None:
    put(project)
    older = settings(project).read_text().replace('"timeout": 60', '"timeout": 30')
    install.uninstall(found(project), "claude")
    settings(project).parent.mkdir(exist_ok=True)
    settings(project).write_text(older)
    assert put(project).changed and install.uninstall(found(project), "claude")
    assert "ahp" not in (settings(project).read_text() if settings(project).exists() else "")


def test_the_users_own_file_is_where_the_client_looks(project: Repo, home: Path) -> None:
    places = {name: install.settings_path("", name, True).removeprefix(f"{home}/") for name in clients.CLIENTS}
    assert places["copilot"] == ".copilot/hooks/ahp.json"
    assert places["opencode"] == ".config/opencode/plugins/ahp.js"
    assert places["cursor"] == ".cursor/hooks.json"


def test_what_others_wrote_stays_in_its_place_and_a_second_time_changes_nothing(project: Repo) -> None:
    project.write(".claude/settings.json", THEIRS)
    put(project)
    once = settings(project).read_text()
    for line in THEIRS.splitlines():
        assert line.rstrip(",") in once
    assert once.index('"model"') < once.index('"hooks"') < once.index('"env"')
    assert not put(project).changed and settings(project).read_text() == once


@pytest.mark.parametrize("before", [None, THEIRS])
def test_taken_out_again_the_file_is_as_it_was(project: Repo, before: str | None) -> None:
    if before is not None:
        project.write(".claude/settings.json", before)
    put(project)
    put(project)
    assert install.uninstall(found(project), "claude") and not install.uninstall(found(project), "claude")
    assert (settings(project).read_text() if settings(project).exists() else None) == before
    assert not (project.root / ".git/ahp/agent-hook").exists()


def test_what_was_added_since_stays(project: Repo) -> None:
    project.write(".claude/settings.json", THEIRS)
    put(project)
    settings(project).write_text(settings(project).read_text().replace('"opus"', '"haiku"'))
    assert install.uninstall(found(project), "claude")
    assert settings(project).read_text() == THEIRS.replace('"opus"', '"haiku"')


def test_the_launcher_stays_while_another_client_needs_it(project: Repo) -> None:
    put(project)
    put(project, "codex")
    install.uninstall(found(project), "claude")
    assert (project.root / ".git/ahp/agent-hook").exists() and not settings(project).exists()


def test_an_older_hook_of_ours_is_renewed_in_its_place(project: Repo) -> None:
    put(project)
    old = settings(project).read_text().replace("exit 2' ahp", "exit 1' ahp")
    settings(project).write_text(old)
    assert put(project).changed
    assert len(json.loads(settings(project).read_text())["hooks"]["PreToolUse"]) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "no object"),
        ('{"hooks": []}', "no object"),
        ('{"hooks": {"PreToolUse": {}}}', "no list"),
    ],
)
def test_settings_that_cannot_be_merged_are_left_alone(project: Repo, text: str, said: str) -> None:
    project.write(".claude/settings.json", text)
    with pytest.raises(AhpError, match=said):
        put(project)
    assert settings(project).read_text() == text


def test_the_users_own_settings_are_those_of_the_password_database(project: Repo, home: Path) -> None:
    done = put(project, user=True)
    assert done.path == str(home / ".claude/settings.json") and not settings(project).exists()
    assert install.uninstall(found(project), "claude", user=True) and not Path(done.path).exists()


def test_agents_are_found_by_what_they_leave_in_a_project_or_on_the_path(project: Repo) -> None:
    env = {"PATH": str(project.root / "bin")}
    assert [name for name in CLIENTS if Client(name).found(str(project.root), env)] == []
    project.write("CLAUDE.md")
    project.write("bin/codex", "#!/bin/sh\n", 0o755)
    assert [name for name in CLIENTS if Client(name).found(str(project.root), env)] == ["claude", "codex"]


# The command as the client runs it


def through_sh(project: Repo, command: str, payload: Any, env: dict[str, str] | None = None, at: str = "") -> Any:
    return subprocess.run(
        ["/bin/sh", "-c", command],
        input=json.dumps(payload).encode(),
        capture_output=True,
        cwd=project.root / at,
        env={"PATH": "/usr/bin:/bin", **(env or {})},
        check=False,
    )


def payload(project: Repo, command: str) -> dict[str, Any]:
    return captured("claude-PreToolUse-Bash", cwd=str(project.root), tool_input={"command": command})


@pytest.mark.slow
@pytest.mark.parametrize("client", clients.CLIENTS)
def test_the_installed_command_judges_from_any_folder(project: Repo, client: str) -> None:
    project.write(".ahp/hooks.yaml", "rules: {r: {at: pre-tool-use, block: tool.command == 'no', message: not this}}\n")
    (project.root / "deep" / "er").mkdir(parents=True)
    put(project, client)
    module = clients.CLIENTS[client]
    command = install.command(client, module.CALL)
    asked = module.probe(module.CALL, "Bash")
    arguments = next(key for key, value in asked.items() if value == {})
    for at in ("", "deep/er"):
        done = through_sh(project, command, {**asked, arguments: {"command": "no"}}, at=at)
        assert done.returncode == module.DENIED and b"not this" in done.stderr and json.loads(done.stdout)
        done = through_sh(project, command, {**asked, arguments: {"command": "yes"}}, at=at)
        assert (done.returncode, done.stderr) == (0, b"")
        assert (json.loads(done.stdout) if done.stdout else None) == module.ALLOWED.get(module.CALL)


def test_in_a_linked_work_tree_too(project: Repo, tmp_path: Path) -> None:
    project.commit("p", **{".ahp/hooks.yaml": "rules: {r: {at: pre-tool-use, block: 'true', message: not here}}\n"})
    put(project)
    project.git("worktree", "add", "-q", str(tmp_path / "linked"))
    done = through_sh(Repo(tmp_path / "linked"), install.command("claude", "PreToolUse"), payload(project, "x"))
    assert done.returncode == 2 and b"not here" in done.stderr


@pytest.mark.parametrize("broken", ["gone", "crash", "killed", "noise", "status"])
def test_whatever_is_broken_the_call_is_refused_and_what_is_done_is_done(project: Repo, broken: str) -> None:
    put(project)
    hook = project.root / ".git/ahp/agent-hook"
    text = {"crash": "exit 1", "killed": "kill -9 $$", "noise": "echo noise; exit 3", "status": "exit 127"}.get(broken)
    if text is None:
        hook.unlink()
    else:
        hook.write_text(f"#!/bin/sh\n{text}\n")
    done = through_sh(project, install.command("claude", "PreToolUse"), payload(project, "x"))
    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert done.returncode == 2 and answer["permissionDecision"] == "deny"
    assert ".ahp/hooks.yaml" in answer["permissionDecisionReason"] and b".ahp/hooks.yaml" in done.stderr
    assert through_sh(project, install.command("claude", "PostToolUse"), payload(project, "x")).returncode == 0


def test_without_its_interpreter_the_launcher_asks_its_own_program_then_any_on_the_path(
    project: Repo, tmp_path: Path
) -> None:
    put(project)
    hook = project.root / ".git/ahp/agent-hook"
    hook.write_text(re.sub("^python=.*", "python=/nowhere", hook.read_text(), flags=re.M))
    own = through_sh(project, install.command("claude", "PreToolUse"), [])
    assert own.returncode == 2 and b"what claude sent is no object" in own.stderr
    hook.write_text(re.sub("^program=.*", "program=/nowhere", hook.read_text(), flags=re.M))
    other = tmp_path / "bin" / "ahp"
    other.parent.mkdir()
    other.write_text('#!/bin/sh\necho "$@" >&2\nexit 2\n')
    other.chmod(0o755)
    env = {"PATH": f"{other.parent}:/usr/bin:/bin"}
    done = through_sh(project, install.command("claude", "PreToolUse"), payload(project, "x"), env)
    assert (done.returncode, done.stderr) == (2, b"hook claude PreToolUse\n")


def test_a_bundle_that_is_gone_is_written_anew(project: Repo) -> None:
    put(project)
    bundle = project.root / ".git/ahp/cache/agent.pyc"
    bundle.unlink()
    assert through_sh(project, install.command("claude", "PreToolUse"), payload(project, "x")).returncode == 0
    assert bundle.exists()


# The commands


def test_ahp_install_puts_hooks_into_git_and_every_agent_found(
    project: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write("CLAUDE.md")
    assert ahp(["install"]) == 0
    said = capsys.readouterr().out
    assert "git: 5 hooks" in said and "claude: hooks in" in said and "commit it" in said and "codex" not in said
    assert ahp(["install", "codex"]) == 0 and "trust" in capsys.readouterr().out
    assert ahp(["install", "claude", "--user"]) == 0 and "commit it" not in capsys.readouterr().out


def test_a_person_takes_them_out_again(project: Repo, person: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    project.write("CLAUDE.md")
    ahp(["install"])
    capsys.readouterr()
    assert ahp(["uninstall"]) == 0
    assert "claude: hooks removed from" in capsys.readouterr().out and not settings(project).exists()
    assert ahp(["uninstall", "claude"]) == 0 and "nothing of ours" in capsys.readouterr().out


def test_an_agent_does_not(project: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    put(project)
    monkeypatch.setenv("CLAUDECODE", "1")
    assert ahp(["uninstall", "claude"]) == 2 and settings(project).exists()

"""`ahp doctor` proves that a client's hooks come to the gate, by the very command that its settings name."""

from __future__ import annotations

import pytest

from ahp.agents import doctor, install
from ahp.agents.clients import CLIENTS
from ahp.hosts.table import Check
from tests.agents.conftest import found
from tests.conftest import Repo


def checks(project: Repo) -> dict[str, Check]:
    return {check.name: check for client in CLIENTS for check in doctor.examine(found(project), client)}


@pytest.fixture(autouse=True)
def installed(project: Repo) -> None:
    project.write(".ahp/hooks.yaml", "rules: {r: {at: pre-tool-use, block: tool.command == 'x', message: y}}\n")
    install.install(found(project), "claude", "")


def settings(project: Repo, old: str = "", new: str = "") -> None:
    path = project.root / ".claude/settings.json"
    path.write_text(path.read_text().replace(old, new))


def test_what_is_whole_is_reached_and_codex_waits_for_trust(project: Repo) -> None:
    install.install(found(project), "codex", "")
    told = checks(project)
    assert told["claude"] == Check("claude", "ok", "configured and reached")
    assert told["codex"].status == "note" and "/hooks" in told["codex"].mend
    assert not (project.root / ".git/ahp/sessions").exists()


def test_cursor_and_a_plugin_are_reached_by_the_command_that_they_hold(project: Repo) -> None:
    for client in ("opencode", "cursor"):
        install.install(found(project), client, "")
    told = checks(project)
    assert told["opencode"] == Check("opencode", "ok", "configured and reached")
    assert (told["cursor"].status, told["cursor"].detail) == ("note", "configured and reached")
    assert "trust" in told["cursor"].mend


def test_a_plugin_that_was_changed_is_wrong(project: Repo) -> None:
    install.install(found(project), "opencode", "")
    path = project.root / ".opencode/plugins/ahp.js"
    path.write_text(path.read_text().replace("throw new Error", "console.log"))
    told = checks(project)["opencode"]
    assert told.status == "wrong" and "not the plugin" in told.detail and told.mend == "ahp install opencode"


def test_an_agent_without_hooks_is_noted_and_one_that_is_not_here_is_not(project: Repo) -> None:
    assert set(checks(project)) == {"claude"}
    project.write(".codex/config.toml", "")
    assert checks(project)["codex"].mend == "ahp install codex"


def test_what_switches_the_hooks_off_is_named(project: Repo) -> None:
    settings(project, '{\n  "hooks"', '{\n  "disableAllHooks": true,\n  "hooks"')
    assert "disableAllHooks" in checks(project)["claude"].detail
    install.install(found(project), "codex", "")
    path = project.root / ".codex/hooks.json"
    path.write_text(path.read_text().replace('{\n  "hooks"', '{\n  "$schema": "x",\n  "hooks"'))
    assert "$schema" in checks(project)["codex"].detail


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"PreToolUse"', '"Other"', "no hook for PreToolUse"),
        ("exit 2' ahp", "exit 0' ahp", "is not what this ahp installs"),
        ('"hooks": {', '"hooks": {,', "not JSON"),
    ],
)
def test_settings_that_do_not_hold_are_wrong(project: Repo, old: str, new: str, said: str) -> None:
    settings(project, old, new)
    check = checks(project)["claude"]
    assert check.status == "wrong" and said in check.detail


def test_a_launcher_that_does_not_answer_is_wrong(project: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.root / ".git/ahp/agent-hook").write_text("#!/bin/sh\nexit 0\n")
    assert "the probe ended with 0" in checks(project)["claude"].detail
    (project.root / ".git/ahp/agent-hook").unlink()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert "ahp is not installed here" in checks(project)["claude"].detail

"""`tool.protected`: what a call writes of policy, log, git's own files and agents' settings."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.agents import clients
from ahp.agents.calls import protected, tool_call
from ahp.facts.tool import KINDS as ALL_KINDS

KINDS = ALL_KINDS[:-1]  # of what lies in the project


def told(make_event: Any, gather: Any, native: str, arguments: dict[str, Any], **slots: Any) -> set[tuple[str, bool]]:
    event = make_event("pre-tool-use", view=None, **slots)
    event.tool = tool_call.read("", native, arguments, root=event.root)
    return {(one["kind"], one["sure"]) for one in gather(event, "tool.protected")["tool.protected"]}


@pytest.mark.parametrize(
    ("command", "kinds"),
    [
        ("echo x > .ahp/hooks.yaml", {("policy", True)}),
        ("cd .ahp && echo x > hooks.yaml", {("policy", True)}),
        ("echo x > .AHP/Hooks.yaml", {("policy", True)}),
        ("echo x > /proc/self/cwd/.ahp/hooks.yaml", {("policy", True)}),
        ("rm -rf .ahp", {("policy", False)}),
        ("rm -f .git/hooks/pre-commit", {("git hooks", False)}),
        ("echo > .a?p/hooks.yaml", {("policy", False)}),
        ("echo > .[a]hp/hooks.yaml", {("policy", False)}),
        ("echo > .?p/hooks.yaml", set()),
        ("gzip */*.txt; rm -rf *; chmod g+w *~ [ab]", set()),
        ("rm -rf .*", {(kind, False) for kind in KINDS}),
        ("find . -name pre-commit -exec rm {} +", {(kind, False) for kind in (*KINDS, "ahp")}),
        ("find . -type f -exec chmod 777 {} +", {(kind, False) for kind in (*KINDS, "ahp")}),
        ("find -L $PWD ! -name '*.py' -delete", {(kind, False) for kind in (*KINDS, "ahp")}),
        ("find src -name x -o -path './.ahp/*' -delete", {("policy", False)}),
        ("chmod -x .git/hooks/*", {("git hooks", False)}),
        ("echo x > sub/.git/hooks/pre-commit; chmod +x sub/.GIT/hooks/*", {("git hooks", True), ("git hooks", False)}),
        ("touch */.git/hooks/pre-push", {("git hooks", False)}),
        ("sed -i d a/b/.git/config; sed -i d .git/modules/a/b/config", {("git configuration", False)}),
        ("echo x > .git/modules/a/b/hooks/post-checkout", {("git hooks", True)}),
        ("rm -rf sub/.git; git -C sub gc; echo x > sub/.git/info/exclude; cp x t/repo.git/hooks/a", set()),
        ("sed -i d .git/config", {("git configuration", False)}),
        ("rm .git/ahp/signals.jsonl", {("log", False)}),
        ("truncate -s 0 .git/ahp/state.db", {("log", False)}),
        ("echo x > .git/refs/heads/main", {("git history", True)}),
        ("cp x ~/.claude/settings.json", {("agent settings", False)}),
        ("echo {} > .claude/settings.local.json", {("agent settings", True)}),
        ("echo {} > .mcp.json", {("agent settings", True)}),
        ("echo {} > .cursor/sandbox.json; echo > .claude/hooks/x.sh", {("agent settings", True)}),
        ("echo x > .claude/agents/a.md", {("agent settings", True)}),
        ("echo x > .github/agents/a.md", {("agent settings", True)}),
        ("echo x > .Claude/Next-Year.json; rm -r .codex", {("agent settings", True), ("agent settings", False)}),
        ("sed -i s/a/b/ .claude/*", {("agent settings", False)}),
        ("sed -i s/a/b/ **/*.toml", {("agent settings", False)}),
        ("echo {} > $HOME/.codex/x.toml", {("agent settings", True)}),
        ("echo x > .claude/commands/a.md; echo x > .cursor/rules/a.mdc; sed -i s/a/b/ .claude/*.md", set()),
        ("mkdir -p .claude/skills/a; echo x > .claude/skills/a/a.py; rm -rf .claude/worktrees/x", set()),
        ("echo x > ~/.claude/projects/p/memory/M.md; echo x > ~/.claude/plans/p.md", set()),
        ("echo x > .vscode/settings.json; echo x > .github/workflows/a.yml", set()),
        ("rm -f .git/index.lock", set()),
        ("cat .ahp/hooks.yaml", set()),
        ("echo x > ahp.txt", set()),
        ("git commit -m .ahp/hooks.yaml", set()),
        ("echo x > $UNKNOWN", set()),
    ],
)
def test_a_shell_command_is_told_what_it_writes(
    make_event: Any, gather: Any, command: str, kinds: set[tuple[str, bool]]
) -> None:
    assert told(make_event, gather, "Bash", {"command": command}) == kinds


def test_all_of_it_is_written_with_the_folder_above(make_event: Any, gather: Any) -> None:
    kinds = {kind for kind, _ in told(make_event, gather, "Bash", {"command": "rm -rf .git"})}
    assert kinds == {"log", "git hooks", "git configuration", "git history"}


def test_other_tools_too_also_through_a_link(repo: Any, make_event: Any, gather: Any) -> None:
    (repo.root / "innocent").symlink_to(".ahp")
    assert told(make_event, gather, "Write", {"file_path": "innocent/hooks.yaml", "content": ""}) == {("policy", True)}
    patch = {"command": "*** Begin Patch\n*** Delete File: .claude/settings.json\n*** End Patch"}
    assert told(make_event, gather, "apply_patch", patch) == {("agent settings", True)}
    assert told(make_event, gather, "Read", {"file_path": ".ahp/hooks.yaml"}) == set()


def test_hooks_and_policy_that_lie_elsewhere(repo: Any, make_event: Any, gather: Any) -> None:
    repo.git("config", "core.hooksPath", "tools/hooks")
    write = {"file_path": "tools/hooks/pre-commit", "content": ""}
    assert told(make_event, gather, "Write", write) == {("git hooks", True)}
    user = {"file_path": "/home/x/.ahp/hooks.yaml", "content": ""}
    assert told(make_event, gather, "Write", user, user_policy="/home/x/.ahp/hooks.yaml") == {("policy", True)}


def test_the_home_of_the_variable_counts_beside_the_account_s(make_event: Any, gather: Any) -> None:
    slots = {"user_policy": "/home/x/.ahp/hooks.yaml", "env": {"HOME": "/app"}}
    for name, kind in ((".claude/settings.json", "agent settings"), (".gitconfig", "git configuration")):
        for home in ("/home/x", "/app"):
            write = {"file_path": f"{home}/{name}", "content": "{}"}
            assert told(make_event, gather, "Write", write, **slots) == {(kind, True)}


@pytest.mark.parametrize("client", clients.CLIENTS)
def test_the_settings_of_every_client_are_protected(make_event: Any, gather: Any, client: str) -> None:
    module = clients.CLIENTS[client]
    for path in (module.SETTINGS, f"~/{module.HOME_SETTINGS}"):
        assert told(make_event, gather, "Bash", {"command": f"rm {path}"}) == {("agent settings", False)}


def test_of_a_linked_work_tree_the_link_and_the_shared_directory_count(repo: Any, make_event: Any, gather: Any) -> None:
    from ahp.system import git

    repo.commit("first", a="1\n")
    repo.git("worktree", "add", "-q", "../linked")
    linked = git.discover(str(repo.root.parent / "linked"), {"PATH": "/usr/bin:/bin"})
    event = make_event("pre-tool-use", view=None, repo=linked)
    event.root = linked.root
    event.tool = tool_call.read("shell", "Bash", {"command": f"rm .git {repo.root}/.git/config"}, root=event.root)
    kinds = {one["kind"] for one in gather(event, "tool.protected")["tool.protected"]}
    assert kinds == {"git configuration"}


def test_outside_a_repository_and_where_it_is_stated(make_event: Any, gather: Any) -> None:
    assert told(make_event, gather, "Write", {"file_path": ".ahp/x", "content": ""}, repo=None) == {("policy", True)}
    event = make_event("pre-tool-use", view=None, tool={"name": "shell", "protected": []})
    assert gather(event, "tool.protected") == {"tool.protected": []}


def test_another_name_of_a_protected_file_is_one(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("src/a.py", "x\n")
    repo.write(".ahp/hooks.yaml", "rules: {}\n")
    (repo.root / "innocent").hardlink_to(repo.root / ".ahp/hooks.yaml")
    (repo.root / "plain").hardlink_to(repo.root / "src/a.py")
    assert told(make_event, gather, "Write", {"file_path": "innocent", "content": ""}) == {("policy", True)}
    assert told(make_event, gather, "Write", {"file_path": "plain", "content": ""}) == set()


def test_what_holds_for_the_whole_machine_and_ahp_itself_where_it_is_no_part_of_the_project(
    make_event: Any, gather: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shell(command: str) -> set[tuple[str, bool]]:
        return told(make_event, gather, "Bash", {"command": command})

    assert shell("echo x >> /etc/gitconfig; cp x /etc/hosts.x") == {("git configuration", True)}
    assert shell("cp x /etc/claude-code/managed-settings.json") == {("agent settings", False)}
    monkeypatch.setattr(protected, "_ENGINE", "/opt/engine/src/ahp")
    for command in ("sed -i s/a/b/ /opt/engine/src/ahp/gate/decide.py", "rm -rf /opt/engine"):
        assert shell(command) == {("ahp", False)}
    assert shell("cat /opt/engine/src/ahp/x.py; touch /opt/engine/src/other.py") == set()
    monkeypatch.setattr(protected, "_ENGINE", f"{make_event('pre-tool-use', view=None).root}/ahp")
    assert shell("sed -i s/a/b/ ahp/gate/decide.py; rm -rf ahp") == set()

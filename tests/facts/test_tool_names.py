"""One word for what six clients call otherwise."""

from __future__ import annotations

import pytest

from ahp.facts.tool_names import NAMES, WRITING, does, kind_of, takes_commands


@pytest.mark.parametrize(
    ("native", "kind"),
    [
        *[(name, "shell") for name in ("Bash", "bash", "exec_command", "run_shell_command", "Shell", "powershell")],
        *[(name, "write") for name in ("Write", "write_file", "create")],
        *[(name, "edit") for name in ("Edit", "MultiEdit", "NotebookEdit", "replace", "StrReplace")],
        ("apply_patch", "patch"),
        *[(name, "read") for name in ("Read", "view", "read_many_files")],
        *[(name, "list") for name in ("Glob", "LS", "list_directory")],
        *[(name, "search") for name in ("Grep", "search_file_content")],
        *[(name, "fetch") for name in ("WebFetch", "google_web_search")],
        *[(name, "task") for name in ("Task", "Agent")],
        *[(name, "mcp") for name in ("mcp__github__push_files", "MCP:x", "mcp_server_tool")],
        *[(name, "other") for name in ("TodoWrite", "update_plan", "Skill", "ExitPlanMode", "report_intent", "", "x")],
    ],
)
def test_the_names_of_the_clients(native: str, kind: str) -> None:
    assert kind_of(native) == kind


def test_what_writes_is_among_the_kinds() -> None:
    assert set(WRITING) < set(NAMES)


@pytest.mark.parametrize(
    ("native", "what"),
    [
        *[(f"mcp__fs__{name}", "write") for name in ("write_file", "moveFile", "create-directory", "get_and_delete")],
        *[(f"mcp__writer__{name}", "read") for name in ("read_file", "listDirectory", "search")],
        ("mcp__fs__frobnicate", "unknown"),
    ],
)
def test_what_a_servers_tool_does_is_read_of_its_own_name(native: str, what: str) -> None:
    assert does(native) == what


def test_a_server_that_runs_commands_is_known_by_its_name_or_its_tools() -> None:
    assert takes_commands("mcp__shell__do") and takes_commands("mcp__x__executeCommand")
    assert not takes_commands("mcp__editor__insert")

"""One word for what six clients call otherwise."""

from __future__ import annotations

import pytest

from ahp.facts.tool import NAMES, WRITING, kind_of


@pytest.mark.parametrize(
    ("native", "kind"),
    [
        *[(name, "shell") for name in ("Bash", "exec_command", "run_shell_command", "Shell", "powershell", "Monitor")],
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

"""What kind of tool a client's name stands for: one word for what six dialects call otherwise (design §6).  [light]"""

NAMES = ("shell", "write", "edit", "patch", "read", "list", "search", "fetch", "task", "mcp", "other")
WRITING = ("write", "edit", "patch")  # kinds whose paths are written
COMMANDS = ("command", "cmd", "script")  # arguments that hold a command line

_KINDS = {
    "shell": "bash powershell shell local_shell exec exec_command unified_exec write_stdin write_bash write_powershell "
    "run_shell_command run_terminal_cmd shell_command container.exec run_in_terminal execute_command monitor",
    "write": "write write_file create create_file delete delete_file move_file rename_file copy_file",
    "edit": "edit multiedit notebookedit edit_notebook replace str_replace strreplace str_replace_editor "
    "str_replace_based_edit_tool search_replace edit_file insert",
    "patch": "apply_patch patch",
    "read": "read view read_file read_many_files notebookread view_image readlints",
    "list": "ls list glob list_directory list_dir",
    "search": "grep rg search_file_content grep_search codebase_search semanticsearch",
    "fetch": "webfetch websearch web_fetch web_search google_web_search fetch fetch_copilot_cli_documentation",
    "task": "task agent spawn_agent",
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_MCP = ("mcp__", "mcp_", "mcp:")


def kind_of(native_name: str) -> str:
    """One of `NAMES`. Names of plan, todo and other meta tools, and all that nobody here knows, are `other`."""
    name = native_name.strip().lower()
    return "mcp" if name.startswith(_MCP) else _KIND_OF.get(name, "other")

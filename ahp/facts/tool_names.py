"""What kind of tool a client's name stands for: one word for what six dialects call otherwise (design §6).  [light]"""

NAMES = ("shell", "write", "edit", "patch", "read", "list", "search", "fetch", "task", "mcp", "other")
WRITING = ("write", "edit", "patch")  # kinds whose paths are written

_KINDS = {
    "shell": "bash powershell shell local_shell exec exec_command unified_exec write_stdin write_bash write_powershell "
    "run_shell_command run_terminal_cmd",
    "write": "write write_file create create_file delete delete_file",
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
# What the words in the name of a server's tool say that it does.
_READING = """
    read get list search find view stat info fetch describe show query diff log status tree browse open check count
"""
_CHANGING = """
    write edit create make move rename delete remove put push update save append patch insert replace copy upload
    overwrite modify set truncate chmod link store
"""
_STARTING = "shell bash terminal command cmd exec execute run process powershell console ssh"
_READS, _WRITES, _SHELLS = [frozenset(words.split()) for words in (_READING, _CHANGING, _STARTING)]
_MCP = ("mcp__", "mcp_", "mcp:")


def kind_of(native_name: str) -> str:
    """One of `NAMES`. Names of plan, todo and other meta tools, and all that nobody here knows, are `other`."""
    name = native_name.strip().lower()
    return "mcp" if name.startswith(_MCP) else _KIND_OF.get(name, "other")


def does(native_name: str) -> str:
    """What a server's tool does to the files that it is given, by the words of its own name: write, read, unknown."""
    words = _words(native_name)
    if words & _WRITES:
        return "write"
    return "read" if words & _READS else "unknown"


def takes_commands(native_name: str) -> bool:
    """Whether a server's tool runs the command that it is given."""
    return bool(_words(native_name, whole=True) & _SHELLS)


def _words(native_name: str, whole: bool = False) -> set[str]:
    """The words of a name in snake_case, kebab-case or camelCase; those of the server only if it is `whole`."""
    name = native_name if whole else native_name.rpartition("__")[2]
    split = "".join([f"_{char}" if char.isupper() else char for char in name])
    return set(split.lower().replace("-", "_").replace(":", "_").replace("/", "_").split("_"))

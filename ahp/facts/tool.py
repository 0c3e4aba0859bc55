"""`tool`: the tool call of a coding agent (design §6), in one vocabulary for all clients.  [light]

The wing `agents` reads calls (`ahp.agents.calls.call_view`). Without it a call has its names and arguments, and what
the tool itself says that it touches; a rule that reads more is undecided.
"""

from ahp.facts.registry import TOOL, Absent, Namespace, fact
from ahp.protocol.event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

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


KINDS = ("policy", "log", "git hooks", "git configuration", "git history", "agent settings", "ahp")
"""What a protected file is."""
_AFTER = ["post-tool-use"]
_PLACES = "where: `program`, `option`, `path`"

NAMESPACE = Namespace(
    source="the agent's call",
    triggers=TOOL,
    private=("input", "command"),
    schema={
        "name": fact("str", "kind of tool", enum=list(NAMES)),
        "native_name": fact("str", "the client's name"),
        "input": fact("map", "arguments as sent"),
        "command": fact("str", "shell command; else empty"),
        "commands": fact(
            "list[record]",
            "simple commands in it, nested ones too",
            fields={
                "program": fact("str", "base name; empty when unknown", means="program"),
                "bare": fact("bool", "no path, no wildcard in front"),
                "piped": fact("bool", "reads another's output"),
                "verb": fact("str", "subcommand of git: `push`"),
                "args": fact("list[str]", "unquoted"),
                "flags": fact("list[str]", "options, each by itself"),
                "operands": fact("list[str]", "the other arguments; of git without verb"),
                "assignments": fact(
                    "list[str]",
                    "NAME=value before it; of git also PATH, preloads",
                ),
                "config": fact("list[str]", "git's settings: `key=value`, lower case"),
                "redirects": fact("list[str]", ""),
                "folder": fact("str", "where it runs: `cd`, `git -C`"),
                "stdin": fact("str", "as far as written"),
                "paths": fact("list[str]", "files it names; `**`: unknown part"),
                "writes": fact("list[str]", "output files"),
                "may_write": fact("list[str]", "files an unknown program gets"),
                "does_nothing": fact("bool", "help, version, dry run"),
                "unknown": fact("list[str]", "words known only at run time"),
                "unresolved": fact("bool", "some part is unknown"),
                "unresolved_at": fact("list[str]", _PLACES),
            },
        ),
        "paths": fact("list[str]", "files it reads or writes, as far as known"),
        "writes": fact("list[str]", "files it writes"),
        "unclear": fact("list[str]", "unclear words, and why"),
        "plain": fact("bool", "no unclear word"),
        "boxed": fact("bool", "will run in a box"),
        "loses_work": fact("bool", "does more than look"),
        "annotations": fact("map", "what an MCP server says (runner)", optional=True),
        "expected": fact("list[str]", "tools of the plan step (runner)", optional=True),
        "protected": fact(
            "list[record]",
            "writes to files that decide or log what is allowed",
            fields={
                "kind": fact("str", "", enum=list(KINDS)),
                "path": fact("str", ""),
                "sure": fact("bool", "false: it only may write it"),
            },
        ),
        "refused": fact(
            "list[record]",
            "writes that this session's other tools were refused",
            fields={
                "path": fact("str", ""),
                "rule": fact("str", ""),
                "seconds": fact("int", "ago", min=0),
                "sure": fact("bool", "false: it only may write it"),
            },
        ),
        "output": fact("str", "answer", triggers=_AFTER),
        "is_error": fact("bool", "failed", triggers=_AFTER),
    },
)


class Touched:
    """What a tool says a call will touch: the `paths` it reads, those it `writes`, the shell `command` it runs, and
    the `unsure` paths, which it may write.
    """

    __slots__ = ("command", "paths", "unsure", "writes")

    def __init__(
        self,
        paths: "Iterable[str]" = (),
        writes: "Iterable[str]" = (),
        command: "str | None" = None,
        unsure: "Iterable[str]" = (),
    ) -> None:
        self.paths, self.writes, self.command, self.unsure = tuple(paths), tuple(writes), command, tuple(unsure)


reader: "Any" = None
"""The module that reads calls, False where there is none; None until somebody asks, or the wing is imported."""


def _reader() -> "Any":
    """The module that reads calls, None where no wing adds one to the table `facts`."""
    global reader
    if reader is None:
        from ahp.system import wings

        place = wings.added("facts").get("tool")
        reader = wings.load(place) if place else False
    return reader or None


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`, as they were read from the call."""
    call = event.tool
    if call is None:
        raise Absent("no tool call was given")
    known = {"boxed": False, **call}
    found = {field: known.get(field, Absent(f"the client does not tell tool.{field}")) for field in fields}
    for field in ("unclear", "protected", "refused", "loses_work"):
        if field in fields and field not in call and (wing := _reader()) is not None:
            found[field] = getattr(wing, field)(event, call)
    if "plain" in fields and "plain" not in call and (wing := _reader()) is not None:
        found["plain"] = call.get("name") == "shell" and not wing.unclear(event, call)
    return found


def call_of(
    name: str,
    native_name: str,
    given: "Mapping[str, object]",
    *,
    root: str = "",
    folder: str = "",
    writes: bool = False,
    touched: "Touched | None" = None,
    checkout: str = "",
) -> "dict[str, object]":
    """The call of a tool as `ahp.agents.calls.tool_call.read` gives it; without that wing, what is told of it."""
    if (wing := _reader()) is not None:
        read: dict[str, object] = wing.call_of(
            name, native_name, given, root=root, folder=folder, writes=writes, touched=touched, checkout=checkout
        )
        return read
    call: dict[str, object] = {
        "name": name or kind_of(native_name),
        "native_name": native_name,
        "input": dict(given),
        "folder": folder,
        "command": next((str(given[key]) for key in COMMANDS if key in given), ""),
        "target": native_name,
    }
    if touched is not None and touched.command is None:
        call.update(commands=[], paths=[*touched.paths], writes=[*touched.writes])
    return call


def changed(event: Event, given: "Mapping[str, object]") -> Event:
    """The event with other arguments of its call, and with what follows from them; the one it came from stays."""
    if (wing := _reader()) is not None:
        made: Event = wing.changed(event, given)
        return made
    call = event.tool or {}
    return event.but(tool=call_of(str(call.get("name", "")), str(call.get("native_name", "")), given))


def view_of(event: Event) -> "Any":
    """The files before and after the call (`View`), None where nobody knows."""
    wing = _reader()
    return None if wing is None else wing.view_of(event)

"""`tool`: the tool call of a coding agent (design §6), in one vocabulary for all clients."""

from ahp.facts.absent import Absent
from ahp.facts.registry import TOOL, Namespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ahp.protocol.event import Event

# One word for what each client calls otherwise: Bash, run_shell_command, exec_command are all `shell`.
NAMES = ("shell", "write", "edit", "patch", "read", "list", "search", "fetch", "task", "mcp", "other")

_TEXTS = {"type": "list[str]"}
_AFTER = ["post-tool-use"]
_PLACES = (
    "where: `program` (what runs), `option` (it may become one), `path` (a written one, chosen by a command or by the "
    "script), `value` (the rest); a quoted value from outside is no option"
)

NAMESPACE = Namespace(
    source="the agent's call",
    triggers=TOOL,
    private=("input", "command"),
    schema={
        "name": {"type": "str", "enum": list(NAMES), "doc": "what kind of tool it is"},
        "native_name": {"type": "str", "doc": "the client's own name for it"},
        "input": {"type": "map", "doc": "its arguments as the client sent them"},
        "command": {"type": "str", "doc": "the shell command; empty for every other tool"},
        "commands": {
            "type": "list[record]",
            "fields": {
                "program": {"type": "str", "doc": "base name of the program; empty when it cannot be told"},
                "verb": {"type": "str", "doc": "its subcommand: `push` of git, `pr merge` of gh"},
                "args": {**_TEXTS, "doc": "its arguments, unquoted"},
                "flags": {
                    **_TEXTS,
                    "doc": "options, bundles taken apart, long ones in full where the program is known",
                },
                "operands": {**_TEXTS, "doc": "arguments that are no options, nor their values, nor the verb"},
                "assignments": {**_TEXTS, "doc": "NAME=value before the program"},
                "config": {**_TEXTS, "doc": "git's settings as `key=value`, keys in lower case, however they are set"},
                "redirects": {**_TEXTS, "doc": "files it is redirected to"},
                "folder": {"type": "str", "doc": "where it runs, after `cd` and options like `git -C`"},
                "stdin": {"type": "str", "doc": "what it reads, where that stands in the command"},
                "code": {"type": "str", "doc": "the program text that it runs: of `python -c`, `awk`, `sed`"},
                "paths": {**_TEXTS, "doc": "files it reads or writes; `**` stands for a part that is not known"},
                "writes": {**_TEXTS, "doc": "those it writes"},
                "may_write": {**_TEXTS, "doc": "those it may write: the program or its text tells no more"},
                "unresolved": {"type": "bool", "doc": "a part of it cannot be known before it runs"},
                "unresolved_at": {**_TEXTS, "doc": _PLACES},
            },
            "doc": "the simple commands inside the shell command, nested ones too; empty for every other tool",
        },
        "paths": {**_TEXTS, "doc": "files it reads or writes, as far as can be told; relative inside the repository"},
        "writes": {**_TEXTS, "doc": "those it writes"},
        "output": {"type": "str", "triggers": _AFTER, "doc": "what it answered"},
        "is_error": {"type": "bool", "triggers": _AFTER, "doc": "it failed"},
    },
)


def gather(event: "Event", fields: "frozenset[str]", settings: "dict[str, Any]") -> "dict[str, object]":
    """The values of `fields`, as the client's adapter read them from the call."""
    call = event.tool
    if call is None:
        raise Absent("no tool call was given")
    return {field: call.get(field, Absent(f"the client does not tell tool.{field}")) for field in fields}

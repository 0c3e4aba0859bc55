"""The tools of `ahp agent`: ahp's own, and those that installed packages add."""

import os
import shlex
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from ahp.protocol.text import failure
from ahp.runner.tools import project_files
from ahp.runner.tools.edit_tools import edit_tools
from ahp.runner.tools.file_tools import file_tools, root_of
from ahp.runner.tools.tool import Arguments, FunctionTool, Tool, Toolbox, ToolContext, left_running
from ahp.runner.words.replies import is_protocol_content
from ahp.system import process, wings
from ahp.system.descendants import end_group
from ahp.system.errors import AhpError, OutputLimit, Timeout

_OUTPUT = 64 << 20  # bytes; what prints more is ended
_LONGEST_SHOWN = 20_000  # characters


class CommandArgs(Arguments):
    """A shell command and the folder it runs in, the project's unless said."""

    command: str = Field(min_length=1, max_length=100_000)
    workdir: str = Field(".", min_length=1, max_length=4096, description="folder in the project")
    leads_to: SkipJsonSchema[str] = ""

    @field_validator("command", mode="before")
    @classmethod
    def _words(cls, given: object) -> object:
        """`["bash", "-lc", "make"]` is `make`."""
        if not isinstance(given, list) or not all(isinstance(word, str) for word in given):
            return given
        return given[2] if len(given) == 3 and given[1] in ("-c", "-lc") else shlex.join(given)

    @model_validator(mode="after")
    def _resolved(self, info: ValidationInfo) -> "CommandArgs":
        if "\0" in self.command:
            raise ValueError("a command holds no NUL")
        self.leads_to = project_files.resolve(root_of(info), self.workdir)
        return self


def _run(args: CommandArgs, context: ToolContext) -> str:
    # The outer shell joins what the command prints and what it complains of in the order in which they come.
    argv = ["/bin/sh", "-c", 'exec /bin/sh -c "$0" 2>&1', context.placed(args.command)]
    folder = f"{context.root}/{args.leads_to}"
    if not os.path.isdir(folder):
        raise AhpError(f"{args.workdir} is no folder")
    left: list[str] = []
    try:
        done = process.capture(
            argv,
            timeout=context.timeout_s,
            cwd=folder,
            env=context.env,
            limit=_OUTPUT,
            ended=lambda group: left.extend(end_group(group)),
        )
    except Timeout as error:
        raise Timeout(f"the command did not end within {context.timeout_s:g} s{_until_then(error.printed)}") from None
    except OutputLimit as error:
        raise AhpError(
            f"the command was ended as it printed over {_OUTPUT >> 20} MB{_until_then(error.printed)}"
        ) from None
    told = f"[exit code {done.code}]\n{done.out.decode('utf-8', 'replace')}"
    return f"{told}\n{left_running(left)}" if left else told


def _until_then(printed: bytes) -> str:
    text = printed.decode("utf-8", "replace")
    return f". Until then it had printed:\n{text}" if text else " and printed nothing"


def command_tool() -> FunctionTool:
    """run_command."""
    return FunctionTool(
        "run_command",
        "Runs a shell command; input is empty, background processes are ended.",
        CommandArgs,
        _run,
        kind="shell",
        boxes=True,
    )


class DisplayArgs(Arguments):
    """A text for the person."""

    text: str = Field(min_length=1, max_length=_LONGEST_SHOWN)


def display_tool(show: Callable[[str], object]) -> FunctionTool:
    """display, which hands a text for the person to `show`; protocol is refused as it is in answers (seed 001 §4.2)."""

    def run(args: DisplayArgs, context: ToolContext) -> str:
        if is_protocol_content(args.text):
            raise AhpError("nobody can read that text: it is protocol. Show plain words")
        show(args.text)
        return "shown"

    return FunctionTool(
        "display",
        "Shows a text to the person at once; the final answer comes at the end all the same.",
        DisplayArgs,
        run,
        writes=False,
    )


def standard_tools(show: Callable[[str], object]) -> list[Tool]:
    """ahp's own tools; `show` gets what a model displays to the person."""
    return [*file_tools(), *edit_tools(), command_tool(), display_tool(show)]


def all_tools(show: Callable[[str], object]) -> list[Tool]:
    """ahp's own tools and those of the entry points in the group `ahp.tools`, which pass the same gate.

    An entry point names a tool, an iterable of tools, or a function without parameters that gives either. Raises
    AhpError that names the one that cannot be loaded or takes a name that is taken.
    """
    tools = standard_tools(show)
    for name, (place, _) in wings.of_others("tools").items():
        try:
            added = _given(wings.load(place, "tools"))
            Toolbox([*tools, *added])
        except Exception as error:
            why = str(error) if isinstance(error, AhpError) else failure(error)
            raise AhpError(f"the tools of the entry point ahp.tools:{name} ({place}) cannot be used: {why}") from error
        tools += added
    return tools


def _given(value: Any) -> list[Tool]:
    if not isinstance(value, Tool) and callable(value):
        value = value()
    found = [value] if isinstance(value, Tool) else list(value) if isinstance(value, Iterable) else None
    if found is None or not all(isinstance(one, Tool) for one in found):
        raise AhpError("it gives no tool: what one has, ahp.runner.Tool says")
    return found

"""The tools of `ahp agent`: ahp's own, and those that installed packages add."""

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from ahp.protocol.text import one_line
from ahp.runner.tools.command_tool import command_tool, display_tool
from ahp.runner.tools.edit_tools import edit_tools
from ahp.runner.tools.file_tools import file_tools
from ahp.runner.tools.tool import Tool, Toolbox
from ahp.system.errors import AhpError

GROUP = "ahp.tools"  # of entry points
_MEMBERS = ("name", "description", "kind", "args", "writes", "timeout_s", "touches", "run")


def standard_tools(show: Callable[[str], object]) -> list[Tool]:
    """ahp's own tools; `show` gets what a model displays to the person."""
    return [*file_tools(), *edit_tools(), command_tool(), display_tool(show)]


def all_tools(show: Callable[[str], object]) -> list[Tool]:
    """ahp's own tools and those of the entry points in the group `ahp.tools`, which pass the same gate.

    An entry point names a tool, an iterable of tools, or a function without parameters that gives either. Raises
    AhpError that names the one that cannot be loaded or takes a name that is taken.
    """
    tools = standard_tools(show)
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        added = _loaded(point)
        try:
            Toolbox([*tools, *added])
        except ValueError as error:
            raise AhpError(f"{_who(point)}: {error}") from None
        tools += added
    return tools


def _loaded(point: EntryPoint) -> list[Tool]:
    try:
        value: Any = point.load()
        if not _is_tool(value) and callable(value):
            value = value()
        found = [value] if _is_tool(value) else list(value) if isinstance(value, Iterable) else None
    except Exception as error:
        raise AhpError(f"{_who(point)}: {type(error).__name__}: {one_line(error, 300)}") from error
    if found is None or not all(_is_tool(one) for one in found):
        raise AhpError(f"{_who(point)}: it gives no tool; a tool has {', '.join(_MEMBERS)}")
    return found


def _is_tool(value: object) -> bool:
    return all(hasattr(value, name) for name in _MEMBERS)


def _who(point: EntryPoint) -> str:
    return f"the tools of the entry point {GROUP}:{point.name} ({point.value}) cannot be used"

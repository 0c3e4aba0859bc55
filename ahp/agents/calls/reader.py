"""Reads tool calls for the namespace `tool`, which is in core (`ahp.facts.tool`).  [light]"""

import sys

from ahp.agents.calls import call_view, tool_call
from ahp.agents.calls import protected as protected_files
from ahp.facts import tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ahp.protocol.event import Event

call_of = tool_call.read
view_of = call_view.view_of
protected = protected_files.written


def changed(event: "Event", given: "Mapping[str, object]") -> "Event":
    """The event with other arguments of its call: commands, paths, target and files are read anew."""
    assert event.tool is not None
    made = event.but(tool=tool_call.changed(event.tool, given, event.root, event.checkout))
    made.view = view_of(made)
    return made


def refused(event: "Event", call: "dict[str, object]") -> "list[dict[str, object]]":
    """What the call writes of what another tool was refused a moment ago (`calls.refused`)."""
    from ahp.agents.calls.refused import to_another_tool

    return to_another_tool(event, call)


tool.reader = sys.modules[__name__]

"""What a client's hook asks, whichever client it is.  [light]"""

from ahp.system.errors import AhpError


class Unreadable(AhpError):
    """What the client sent is not what its contract says."""


class Asked:
    """One call of a hook.

    `event` is the client's own name of what happens, `trigger` ours; `session` and `call` its ids, "" where it tells
    none; `folder` where the agent works; `tool` the client's name of the tool, with `input` and, afterwards, `output`
    and `is_error`; `again` says that the agent was kept from stopping just before.
    """

    __slots__ = (
        "again",
        "call",
        "event",
        "folder",
        "input",
        "is_error",
        "output",
        "session",
        "tool",
        "trigger",
    )

    def __init__(self, event: str, trigger: str) -> None:
        self.event, self.trigger = event, trigger
        self.session = self.call = self.folder = self.tool = ""
        self.input: dict[str, object] = {}
        self.output: str | None = None
        self.is_error = self.again = False


def text(payload: "dict[str, object]", *names: str) -> str:
    """The first of these fields that is a text, "" where none is."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str):
            return value
    return ""


def arguments(payload: "dict[str, object]", name: str) -> "dict[str, object]":
    """A tool's arguments. Raises Unreadable where they are anything else than an object."""
    value = payload.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Unreadable(f"{name} is no object")
    return value

"""The table of clients: a module each, with what its hooks send and understand (docs/adding-a-host.md).  [light]

A client's module has `EVENTS` (its names of events → triggers), `CALL` (the event before a tool runs), `MUTE` (events
without a place for words to the model), `DENIED` (the exit code of a refusal), `ALLOWED` (what is printed at an event
that has nothing to say, where silence would not do), `FOLDERS` (variables that name the project's folder),
`read(payload, event)` → `Asked`, and the answers `deny(event, reason)`, `context(event, said)` and `rewrite(event,
arguments, said)`, each the object to print. For `ahp install` and `ahp doctor` it has `SETTINGS` and `HOME_SETTINGS`
(the file, from the top of the project and from the home), `PLUGIN` (the template of a file that is ours as a whole, ""
where our hooks are entries), `BEGIN` (what a new one begins with), `FOUND` (files that tell that the client is used
here), `ROOT` (the project's folder in `sh`), `TRUST` (what a person has to do, "" for nothing), `entry(event, command,
timeout, refuses)`, `switched_off(settings)` and `probe(event, tool)`, a payload.
"""

from ahp.agents.wing import CLIENTS as CLIENTS
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def module(client: str) -> "Any":
    """The module of a client of `CLIENTS`."""
    return __import__("ahp.agents." + client, None, None, ("read",))


def speaker(client: str, payload: "dict[str, object]") -> str:
    """Whose words a payload is in: some clients also run the hooks of another's settings. "" for one nobody knows."""
    if "cursor_version" in payload:
        return "cursor"
    if "toolName" in payload or ("sessionId" in payload and "session_id" not in payload):
        return "copilot"
    return "gemini" if payload.get("hook_event_name") in ("BeforeTool", "AfterTool") else client


def event_of(client: str, event: str, speaker: str) -> str:
    """What `speaker` calls the event that the hook of `client` was installed for; the name itself where it has none."""
    trigger = module(client).EVENTS.get(event, "")
    same = [name for name, its in module(speaker).EVENTS.items() if its == trigger]
    return event if client == speaker or not same else same[0]


class Unreadable(AhpError):
    """What the client sent is not what its contract says."""


class Asked:
    """One call of a hook.

    `event` is the client's own name of what happens, `trigger` ours; `session` and `call` its ids, "" where it tells
    none; `folder` where the agent works; `tool` the client's name of the tool, with `input` and, afterwards, `output`
    and `is_error`; `again` says that the agent was kept from stopping just before; `in_box` is what `boxing.settle`
    found.
    """

    __slots__ = (
        "again",
        "call",
        "event",
        "folder",
        "in_box",
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
        self.in_box: Any = None
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

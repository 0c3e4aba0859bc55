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

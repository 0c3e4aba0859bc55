"""The table of clients: a module each, with what its hooks send and understand (docs/adding-a-host.md).  [light]

A client's module has `EVENTS` (its names of events → triggers), `CALL` (the event before a tool runs), `FOLDERS`
(variables that name the project's folder), `read(payload, event)` → `Asked`, and the answers `deny(event, reason)`,
`context(event, said)` and `rewrite(event, arguments, said)`, each the object to print. For `ahp install` and
`ahp doctor` it has `SETTINGS` (the file, from the top of the project or from the home), `FOUND` (files that tell that
the client is used here), `ROOT` (the project's folder in `sh`), `TRUST` (what a person has to do, "" for nothing),
`entry(event, command, timeout, refuses)` and `switched_off(settings)`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CLIENTS = ("claude", "codex")


def module(client: str) -> "Any":
    """The module of a client of `CLIENTS`."""
    return __import__("ahp.hosts.agents." + client, None, None, ("read",))


def speaker(client: str, payload: "dict[str, object]") -> str:
    """Whose words a payload is in: some clients also run the hooks of another's settings. "" for one nobody knows."""
    if "cursor_version" in payload:
        return "cursor"
    if "toolName" in payload or ("sessionId" in payload and "session_id" not in payload):
        return "copilot"
    return client

"""Which of the files that a call writes were refused to another tool a moment ago (design §9).  [light]

A refusal that speaks of one tool would else be gone round with the next: what `Write` may not, a script in the shell
would do. Where the new content can be read, its own rules judge it, so only what was refused counts.
"""

from ahp.journal import session_calls
from ahp.system import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.event import Event


def to_another_tool(event: "Event", call: "dict[str, object]") -> "list[dict[str, object]]":
    """`{path, rule, seconds, sure}` for each path, by its latest refusal. Raises AhpError."""
    from ahp.facts.call_view import CallView

    aimed = _aimed_at(call)
    if not event.session or not aimed:
        return []
    kind = str(call.get("name", ""))
    refused = [former for former in session_calls.read(event.journal, event.session) if former.denied and former.kind]
    if not refused:
        return []
    view = event.view if isinstance(event.view, CallView) else None
    contents = view.digests() if view else {}
    deleted = {path for path, file in view.files.items() if file.after is None} if view else set()
    found: list[dict[str, object]] = []
    for path, sure in aimed.items():
        for former in reversed(refused):
            same = path not in contents or contents[path] == former.contents.get(path)
            if path in former.writes and former.kind != kind and same and path not in deleted:
                oracle, _, name = next(iter(former.rules), "").partition("/")
                rule = oracle if name in ("", oracle) else f"{oracle}/{name}"
                found.append(
                    {"path": path, "rule": rule, "seconds": max(int(clock.now() - former.at), 0), "sure": sure}
                )
                break
    return found


def _aimed_at(call: "dict[str, object]") -> dict[str, bool]:
    """The paths that the call writes (true) and those that it may write."""
    listed, commands = call.get("writes"), call.get("commands")
    found = dict.fromkeys([str(path) for path in listed], True) if isinstance(listed, list) else {}
    for one in commands if isinstance(commands, list) else []:
        for path in one.get("may_write", []):
            found.setdefault(str(path), False)
    return found

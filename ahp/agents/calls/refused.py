"""Which of the files that a call writes were refused to another tool a moment ago (design §9).  [light]

A refusal that speaks of one tool would else be gone round with the next: what `Write` may not, a script in the shell
would do. Where the new content can be read, its own rules judge it, so only what was refused counts. What a tool that
shows what it writes has put there since settles it, and what git has of a file nobody refused.
"""

from ahp.facts.tool import WRITING
from ahp.journal import session_calls
from ahp.system import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ahp.protocol.event import Event


_BRINGS_BACK = ("checkout", "clean", "reset", "restore", "rm", "stash", "switch")


def to_another_tool(event: "Event", call: "dict[str, object]", view: "Any") -> "list[dict[str, object]]":
    """`{path, rule, seconds, sure}` for each path, by its latest refusal; `view` is the call's, None where it has none.

    Raises AhpError.
    """
    aimed = _aimed_at(call)
    if not event.session or not aimed:
        return []
    kind = str(call.get("name", ""))
    calls = [former for former in session_calls.read(event.journal, event.session) if former.kind]
    if not any(former.denied for former in calls):
        return []
    contents = view.digests() if view else {}
    deleted = {path for path, file in view.files.items() if file.after is None} if view else set()
    found: list[dict[str, object]] = []
    for path, sure in aimed.items():
        for former in reversed(calls):
            if path not in former.writes:
                continue
            if not former.denied and former.kind in WRITING:
                break
            same = path not in contents or contents[path] == former.contents.get(path)
            if former.denied and former.kind != kind and same and path not in deleted:
                oracle, _, name = next(iter(former.rules), "").partition("/")
                rule = oracle if name in ("", oracle) else f"{oracle}/{name}"
                found.append(
                    {"path": path, "rule": rule, "seconds": max(int(clock.now() - former.at), 0), "sure": sure}
                )
                break
    return found


def _aimed_at(call: "dict[str, object]") -> dict[str, bool]:
    """The paths that the call writes (true) and those that it may write, but for those that only git brings back."""
    listed, commands = call.get("writes"), call.get("commands")
    found = dict.fromkeys([str(path) for path in listed], True) if isinstance(listed, list) else {}
    back, other = set[str](), set[str]()
    for one in commands if isinstance(commands, list) else []:
        for path in one.get("may_write", []):
            found.setdefault(str(path), False)
        brings_back = one.get("program") == "git" and one.get("verb") in _BRINGS_BACK
        (back if brings_back else other).update(one.get("writes", []), one.get("may_write", []))
    return {path: sure for path, sure in found.items() if path in other or path not in back}

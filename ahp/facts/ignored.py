"""`ignored`: what a tool call writes and git ignores.

It is asked only where the rest of a rule leaves it open, for it costs a process. Nobody ignores what is committed,
so of every other change it tells of no file.
"""

from ahp.facts.registry import CHANGE, Namespace, fact
from ahp.protocol.event import Event
from ahp.protocol.triggers import TRIGGERS

NAMESPACE = Namespace(
    source="git's rules of what it ignores",
    triggers=CHANGE,
    assumed=True,
    late=True,
    schema={"paths": fact("list[str]", "untracked ignored files; of a tool call, else none")},
)


def gather(event: Event, fields: frozenset[str], settings: object) -> dict[str, object]:
    """The values of `fields`. Raises GitError, AhpError."""
    if event.repo is None or event.view is None or TRIGGERS[event.trigger].family != "tool-use":
        return {"paths": []}
    inside = [path for path in event.view.touched() if not path.startswith(("/", "~", "..")) and "\0" not in path]
    if not inside:
        return {"paths": []}
    asked = "\0".join(inside).encode("utf-8", "surrogateescape")
    told = event.repo.run("check-ignore", "-z", "--stdin", stdin=asked, ok=(0, 1))
    return {"paths": [path for path in told.decode("utf-8", "surrogateescape").split("\0") if path]}

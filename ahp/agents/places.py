"""Where a tool call is at work: what it writes, and where it runs git.  [light]"""

import posix

from ahp.agents.calls.call_paths import inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.event import Event


def leave(event: "Event") -> bool:
    """Whether the call may write into another work tree, make one, or run git there: only then are others asked."""
    written, folders = of(event)
    if any(path.startswith(("/", "~", "..")) or _is_nested(event.root, path) for path in (*written, *folders)):
        return True
    commands = (event.tool or {}).get("commands")
    return any(one["verb"] == "clone" for one in (commands if isinstance(commands, list) else []))


def of(event: "Event") -> tuple[list[str], list[str]]:
    """What the call writes, and where it runs git, as seen from the root."""
    call = event.tool or {}
    writes, commands, folder = call.get("writes"), call.get("commands"), str(call.get("folder", ""))
    written = [str(path) for path in writes] if isinstance(writes, list) else []
    written += [path for one in (commands if isinstance(commands, list) else []) for path in one["may_write"]]
    folders = [
        inside(one["folder"] or ".", event.root, folder)
        for one in (commands if isinstance(commands, list) else [])
        if one["program"] == "git" and (one["folder"] or folder)
    ]
    return written, folders


def _is_nested(root: str, path: str) -> bool:
    """Whether the path lies in a work tree within this one: a submodule, `.claude/worktrees/NAME`."""
    parts = path.split("/")
    return path != "." and any(
        _is_there(f"{root}/{'/'.join(parts[:count])}/.git") for count in range(1, len(parts) + 1)
    )


def _is_there(path: str) -> bool:
    try:
        posix.lstat(path)
    except (OSError, ValueError):
        return False
    return True

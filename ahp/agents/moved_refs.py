"""What a shell call moved on a remote though no push was judged: a script, a library, a repository elsewhere.  [light]

Before the call the remote-tracking refs are noted, and the branches of a remote that is a folder; after it they are
compared. What a fetch moved is no push.
"""

import posix

from ahp.system import files, jsontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.event import Event

_LIMIT, _PACKED = 1 << 20, 64 << 20
_LINES = 2000  # of the log
_ASKED = ("fetch", "pull", "clone", "remote")
_TRACKING, _BRANCHES = "refs/remotes/", "refs/heads/"
_SHOWN = 5


def note(event: "Event") -> None:
    """Notes what the refs are before the call. Raises OSError, AhpError."""
    if (path := _path(event)) and (refs := _refs(event)):
        files.make_dirs(path.rpartition("/")[0])
        files.replace(path, jsontext.encode(refs).encode("utf-8", "surrogateescape"))


def told(event: "Event") -> str:
    """What is told of refs that the call moved and no judged push explains; "" for none. Raises OSError, AhpError."""
    path, repo = _path(event), event.repo
    data = files.read(path, _LIMIT) if path else None
    if data is None or repo is None:
        return ""
    posix.unlink(path)
    before, now = jsontext.decode(data.decode("utf-8", "surrogateescape")), _refs(event)
    if not isinstance(before, dict):
        return ""
    moved = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if not moved:
        return ""
    from ahp.system import tracking

    moved = [name for name in moved if not (tracking.newest(repo, name) or "").startswith(_ASKED)]
    judged = _judged(event.journal) if moved else set()
    left = [name for name in moved if (now.get(name) or _branch(name)) not in judged]
    if not left:
        return ""
    from ahp.protocol.text import one_line

    shown = [f"{one_line(name, 200)} ({now.get(name, 'deleted')[:10]})" for name in left[:_SHOWN]]
    more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
    return f"ahp: this call moved {', '.join(shown)}{more}, and no push of that was judged; tell the person so"


def _path(event: "Event") -> str:
    from ahp.journal import session_calls

    return session_calls.refs_of(event.journal, event.session) if event.session and event.repo is not None else ""


def _refs(event: "Event") -> dict[str, str]:
    """The ids of the remote-tracking refs and, by folder and name, of the branches of remotes that are folders."""
    repo = event.repo
    assert repo is not None
    found = _read(repo.common_dir, _TRACKING)
    for line in (files.read(repo.common_dir + "/config", _LIMIT) or b"").decode("utf-8", "surrogateescape").split("\n"):
        key, _, value = line.partition("=")
        path = value.strip().strip('"').removeprefix("file://")
        if key.strip().lower() not in ("url", "pushurl") or path[:1] not in ("/", "."):
            continue
        named = path if path[:1] == "/" else f"{repo.root}/{path}"
        folder = next((one for one in (f"{named}/.git", named, f"{named}.git") if _is_there(f"{one}/HEAD")), "")
        if folder:
            found |= {f"{folder} {name}": oid for name, oid in _read(folder, _BRANCHES).items()}
    return found


def _read(folder: str, prefix: str) -> dict[str, str]:
    """The refs below `prefix`, from git's files: what this asks at every call starts no process."""
    lines = (files.read(folder + "/packed-refs", _PACKED) or b"").decode("utf-8", "surrogateescape").split("\n")
    found = {name: oid for oid, _, name in (line.partition(" ") for line in lines) if name.startswith(prefix)}
    waiting = [prefix.rstrip("/")]
    while waiting:
        place = waiting.pop()
        try:
            entries = list(posix.scandir(f"{folder}/{place}"))
        except OSError:
            continue
        for entry in entries:
            name = f"{place}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                waiting.append(name)
                continue
            oid = (files.read(f"{folder}/{name}", _LIMIT) or b"").decode("ascii", "replace").strip()
            if not oid.startswith("ref: "):
                found[name] = oid
    return found


def _is_there(path: str) -> bool:
    return posix.access(path, posix.F_OK)


def _branch(name: str) -> str:
    """What a remote calls the ref."""
    ref = name.rpartition(" ")[2]
    return _BRANCHES + ref.removeprefix(_TRACKING).partition("/")[2] if ref.startswith(_TRACKING) else ref


def _judged(folder: str) -> set[str]:
    """The commits, and the names of refs that were deleted, of pushes that were judged lately and not refused."""
    from ahp.journal import segments

    found = set()
    for number, line in enumerate(segments.backward(folder)):
        if number >= _LINES:
            break
        record = line.record() if b'"pre-push"' in line.raw else None
        if record is not None and record.get("kind") == "verdict" and record.get("decision") != "deny":
            head, target = str(record.get("head")), str(record.get("target"))
            found.add(head if head.strip("0") else target)
    return found

"""What an agent's hook starts: one event of one client, judged and answered in its words (design §9).  [light]

Clients let a tool run when its hook crashes, hangs or prints anything but one answer. So whatever goes wrong here
ends in a refusal, in time, and nothing is printed before the end.
"""

import gc
import posix
import sys

from ahp.agents import clients
from ahp.agents.clients import Asked, Client, Unreadable
from ahp.hosts import asking
from ahp.protocol.event import Workspace
from ahp.protocol.triggers import TRIGGERS
from ahp.system import environ, git, jsontext, patience
from ahp.system.errors import AhpError, LostDependency, lost_dependency
from ahp.system.version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

    from ahp.protocol.verdict import Verdict

BUDGET = 45.0  # s for one event: below what `install` writes as the client's own time limit
TIMEOUT = 60  # s, that limit
PROBE = "ahp-probe"  # the tool that `ahp doctor` calls: refused by all that is whole, whatever the policy says
_LIMIT = 16 << 20
_BLOCK = 1 << 20


class OutOfTime(BaseException):
    """The budget is spent, whatever is still going on."""


class Reply:
    """What goes out: one object or nothing on standard output, words on standard error, the exit code."""

    __slots__ = ("code", "said", "shown")

    def __init__(self, code: int = 0, shown: "dict[str, object] | None" = None, said: str = "") -> None:
        self.code, self.shown, self.said = code, shown, said


class Installed:
    """What the launcher knows: the id of the log, the policy of the user who made it (`asking.layer_by_hook`), git, and
    the ahp folder that it was made for.
    """

    __slots__ = ("folder", "genesis", "git", "user_policy")

    def __init__(self, genesis: str = "", user_policy: str = "", git: str = "git", folder: str = "") -> None:
        self.genesis, self.user_policy, self.git, self.folder = genesis, user_policy, git, folder


def main(stale_bundle: str = "") -> None:
    """Judges and ends the process. `sys.argv` holds "agent", what an `Installed` is made of, the folder first, then the
    client and its event. A `stale_bundle` is written anew at the end.
    """
    gc.disable()
    _, folder, genesis, user_policy, program, *arguments = sys.argv[1:]
    reply = reply_to(arguments, Installed(genesis, user_policy, program, folder))
    if reply.shown is not None:
        _put(1, jsontext.encode(reply.shown) + "\n")
    if reply.said:
        _put(2, reply.said + "\n")
    if stale_bundle:
        _renew(stale_bundle)
    posix._exit(reply.code)


def reply_to(arguments: list[str], installed: Installed) -> Reply:
    """The answer to what stands on standard input; never raises but to end the process by its own wish."""
    client, event = (*arguments, "", "")[:2]
    try:  # the alarm comes once, at any place of this
        patience.alarm(budget(environ.current()), _out_of_time)
        try:
            reply = _judged(client, event, installed)
        except Exception as error:  # noqa: BLE001  # whatever is wrong, the tool must not run unjudged
            reply = _failed(client, event, error)
        patience.alarm(0)
    except OutOfTime:
        reply = _failed(client, event, AhpError("it took longer than it may"))
    return reply


def budget(env: dict[str, str]) -> float:
    """The seconds for one event; AHP_HOOK_BUDGET may make them fewer."""
    try:
        return min(BUDGET, max(float(env.get("AHP_HOOK_BUDGET", "")), 0.1))
    except ValueError:
        return BUDGET


def _out_of_time(signum: int, frame: "FrameType | None") -> None:
    raise OutOfTime


def _judged(client: str, event: str, installed: Installed) -> Reply:
    if client not in clients.CLIENTS:
        raise AhpError(f"there is no client {client!r}; there are {', '.join(clients.CLIENTS)}")
    data = _input()
    try:
        payload = jsontext.decode(data.decode("utf-8"))
    except ValueError as error:  # UnicodeDecodeError is one
        raise Unreadable(f"what {client} sent is no JSON: {error}") from None
    if not isinstance(payload, dict):
        raise Unreadable(f"what {client} sent is no object")
    speaker = clients.speaker(client, payload)
    dialect = clients.CLIENTS[speaker]
    told = payload.get("hook_event_name")
    named = told if isinstance(told, str) and told in dialect.EVENTS else clients.event_of(client, event, speaker)
    if named not in dialect.EVENTS:
        return Reply()  # of what nobody asked about there is no opinion
    asked = dialect.read(payload, named)
    if asked.trigger == "task-complete" and asked.again:
        return Reply()  # it was kept from stopping once; twice would never end
    from ahp.agents import judging

    where = _workspace(dialect, asked, installed)
    if "traceparent" in payload:
        where.env = environ.traced(where.env, payload["traceparent"])
    seconds = budget(environ.current())
    if asked.tool == PROBE:
        said = judging.reached(asked, where, speaker, seconds)
        return Reply(dialect.DENIED, dialect.deny(named, said), said)
    verdict, said = judging.judge(asked, where, speaker, seconds)
    if dialect.MUTE and not verdict.denied and verdict.modified is None:
        said = judging.carried(asked, where, said, named in dialect.MUTE)
    call = verdict.modified.tool if verdict.modified is not None else None
    arguments: Any = (call or {}).get("input") or asked.input
    if (verdict.snapshot or verdict.box) is not None and not verdict.denied:
        from ahp.agents import boxing

        arguments, told = boxing.applied(verdict, asked, where.root)
        if arguments is None:
            return Reply(dialect.DENIED, dialect.deny(asked.event, told), told)
        said = "\n".join([part for part in (said, told) if part])
    return _answer(dialect, asked, verdict, arguments, said)


def _input() -> bytes:
    """All of standard input; what is too long is read to its end, so that the client is not cut off while it writes."""
    parts, size = [], 0
    while part := posix.read(0, _BLOCK):
        size += len(part)
        if size <= _LIMIT:
            parts.append(part)
    if size > _LIMIT:
        raise Unreadable(f"the call has {size} bytes, more than the {_LIMIT} that are judged")
    return b"".join(parts)


def _workspace(dialect: Client, asked: Asked, installed: Installed) -> Workspace:
    """The project that the agent works in: what its client calls so, else where its hook was started."""
    env = environ.current()
    folder = next((env[name] for name in dialect.FOLDERS if env.get(name)), "") or posix.getcwd()
    asked.folder = asked.folder or folder
    top = folder.rstrip("/")
    while top and not _is_there(top + "/.git"):
        top = top.rpartition("/")[0]
    if top and installed.folder:
        plain = environ.scrubbed(env)
        repo = git.locate(top, plain, installed.git)
        repo.env = {**plain, "GIT_DIR": repo.git_dir, "GIT_WORK_TREE": repo.root}
        if repo.root and repo.ahp_dir == installed.folder:
            user_policy = asking.layer_by_hook(installed.user_policy)
            return Workspace(repo.root, repo.ahp_dir, env, repo, installed.genesis or None, user_policy)
    return asking.around(folder)


def _is_there(path: str) -> bool:
    try:
        posix.lstat(path)
    except OSError:
        return False
    return True


def _answer(dialect: Client, asked: Asked, verdict: "Verdict", arguments: "Any", said: str) -> Reply:
    event = asked.event
    if verdict.denied and not TRIGGERS[asked.trigger].post:
        said = said or "ahp blocked this"
        return Reply(dialect.DENIED, dialect.deny(event, said), said)
    if arguments != asked.input and asked.trigger == "pre-tool-use":
        return Reply(0, dialect.rewrite(event, arguments, said))
    return Reply(0, dialect.context(event, said) if said else dialect.ALLOWED.get(event))


def _failed(client: str, event: str, error: Exception) -> Reply:
    """What could not be judged is refused, in the words of the client that the hook was installed for."""
    dialect = clients.CLIENTS[client if client in clients.CLIENTS else "claude"]
    trigger = dialect.EVENTS.get(event, "")
    if trigger and trigger != "pre-tool-use":
        # A tool call does something; of the rest nothing is left to refuse, or an agent could neither be told what is
        # broken nor stop.
        said = failure(event, error, refused=False)
        return Reply(0, dialect.context(event, said), said)
    said = failure(event, error, refused=True)
    return Reply(dialect.DENIED, dialect.deny(event if trigger else dialect.CALL, said), said)


def failure(event: str, error: Exception, refused: bool) -> str:
    """What an agent reads when its call could not be judged: what is broken, and who fixes it (design §9).

    At most 600 characters; a bug in ahp is told with the place where it shows.
    """
    import traceback

    from ahp.protocol.text import AGENT_LIMIT, one_line, trim

    error = lost_dependency(error) or error
    if isinstance(error, AhpError):
        why = one_line(str(error).splitlines()[0] if str(error) else "unknown error", 300)
        do = _fix(error)
    else:
        last = traceback.extract_tb(error.__traceback__)[-1:]
        where = f" at {last[0].filename.rpartition('/ahp/')[2]}:{last[0].lineno}" if last else ""
        why = f"a bug in ahp {__version__} (Python {sys.version.split()[0]}): {type(error).__name__}{where}"
        why += f": {one_line(error, 150)}"
        do = "tell your user; `ahp doctor`, run by your user in a terminal, says what is wrong here"
    head = "ahp blocked this: it could not be judged" if refused else f"ahp could not judge this {event}; it went on"
    return trim(f"{head}\nWhy: {why}\nDo: {do}", AGENT_LIMIT)


def _fix(error: AhpError) -> str:
    if isinstance(error, LostDependency):
        return "tell your user, who fixes it"
    from ahp.policy.problems import PolicyError

    if isinstance(error, PolicyError):
        return "tell your user that the policy does not load; `ahp policy lint` names the line"
    if isinstance(error, Unreadable):
        return "make the call in another form; if it is refused again, tell your user: `ahp doctor` tests these hooks"
    return "tell your user; `ahp doctor`, run by your user in a terminal, says what is wrong here"


def _put(fd: int, text: str) -> None:
    left = text.encode("utf-8", "replace")
    try:
        while left:
            left = left[posix.write(fd, left) :]
    except BrokenPipeError:
        return


def _renew(path: str) -> None:
    """Writes the bundle anew; where that cannot be, the next hook is as slow as this one, and no less right.

    A repository that was moved is not made again where it was.
    """
    from ahp.agents import starter
    from ahp.hosts.git import bundle, installation

    try:
        if not posix.access(path.rsplit("/", 2)[0], posix.F_OK):
            return
        bundle.write(path, sys.executable, installation.import_paths(), starter.PLACE)
    except AhpError:
        return

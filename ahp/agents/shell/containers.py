"""What a command in a container writes: only what is mounted there is a file of this machine (docker-run(1))."""

from ahp.agents.shell import roles
from ahp.agents.shell.marks import ANYTHING, Marks
from ahp.agents.shell.usage import Usage

_STARTS = ("run", "create", "container run", "container create")
# With these it may reach more of the machine than what is mounted.
_OPEN = frozenset(("--privileged", "--device", "--pid", "--volumes-from", "--cap-add"))


def read(program: str, args: list[str], stdin: str | None, known: Marks) -> Usage:
    """`docker run -v HOST:INSIDE IMAGE COMMAND`."""
    found = roles.read(program, args, stdin, known)
    if found.verb in _STARTS and not _OPEN & {*found.flags, *[name for name, _ in found.values]}:
        mounts = [_mount(name, known.pattern(value)) for name, value in found.values if name in ("--volume", "--mount")]
        if all(inside and not inside.startswith(ANYTHING) and host != "/" for inside, host in mounts):
            found.mounts = sorted(mounts, key=lambda mount: -len(mount[0]))
    return found


def _mount(option: str, text: str) -> tuple[str, str]:
    """Where it is mounted, and what: a path, or "" for a volume."""
    if option == "--mount":
        fields = dict([part.partition("=")[::2] for part in text.split(",")])
        host = fields.get("source", fields.get("src", ""))
        inside = fields.get("target", fields.get("destination", fields.get("dst", "")))
    else:
        host, glue, rest = text.partition(":")
        inside = rest.partition(":")[0]
        host, inside = (host, inside) if glue else ("", host)
    return inside.rstrip("/"), host if host.startswith((".", "/", "~", ANYTHING)) else ""


def on_this_machine(path: str, mounts: list[tuple[str, str]]) -> list[str]:
    """The files that a path of a container stands for; a relative one is left as it is, for its folder is not known."""
    if not path.startswith(("/", "~")):
        return [path]
    for inside, host in mounts:
        if (path + "/").startswith(inside + "/"):
            return [f"{host.rstrip('/')}{path[len(inside) :]}"] if host else []
    return [host for inside, host in mounts if host and (inside + "/").startswith(path.rstrip("/") + "/")]

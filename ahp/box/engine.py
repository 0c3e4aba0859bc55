"""bubblewrap: a plan as its arguments, with what has to be mounted before it starts.

Overlays are mounted in a user and mount namespace of our own, for bubblewrap 0.8 has none; it starts in there.
"""

import ctypes
import errno
import os
import platform
import re
import shutil
import struct
import subprocess
import sys

from ahp.box import init
from ahp.box.table import CannotBox, Mount, Plan

# Not searched on PATH: there may lie what an agent wrote.
_FOLDERS = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/opt/local/bin")
_OLDEST = (0, 8)
_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000  # unshare(2)
_PRIVATE = 0x4000 | 0x40000  # mount(2): MS_REC, MS_PRIVATE
ISOLATED = [
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL", "--die-with-parent", "--as-pid-1"),
]
_WHOLE = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
# seccomp(2), audit(3): architecture, number of ioctl. A program of another one is told that there are no system calls.
_MACHINES = {"x86_64": (0xC000003E, 16), "aarch64": (0xC00000B7, 29), "riscv64": (0xC00000F3, 29)}
_TYPING = (0x5412, 0x541C)  # ioctl_tty(2): TIOCSTI and TIOCLINUX put input into a terminal
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_X32 = 0x40000000


def bwrap() -> str:
    """The path of bubblewrap. Raises CannotBox."""
    found = next((f"{folder}/bwrap" for folder in _FOLDERS if os.access(f"{folder}/bwrap", os.X_OK)), "")
    if not found:
        where = ", ".join(_FOLDERS[:3])
        raise CannotBox(f"bubblewrap is not installed in {where}; fix: `apt install bubblewrap` or the like")
    return found


def try_out() -> str:
    """Starts an empty box; the version of bubblewrap. Raises CannotBox with what the system says."""
    program = bwrap()
    told = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, env={}).stdout
    version = tuple(map(int, re.findall(r"\d+", told)[:2]))
    if version < _OLDEST:
        raise CannotBox(f"{program} is {told.strip() or 'of no known version'}; a box needs 0.8 or newer")
    argv = [program, *ISOLATED, *_WHOLE, "--", "/bin/sh", "-c", ":"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, env={}, stdin=subprocess.DEVNULL)
    if done.returncode:
        words = done.stderr.strip().splitlines()
        raise CannotBox(
            f"bubblewrap cannot start: {words[-1] if words else f'exit code {done.returncode}'}; a box needs user "
            "namespaces: sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, AppArmor's "
            "kernel.apparmor_restrict_unprivileged_userns, or the seccomp profile of the container"
        )
    return told.strip()


def become(plan: Plan, folder: str, listener: int, network: int, *, terminal: bool) -> None:
    """Turns this process into bubblewrap; it starts `init` on the sockets `listener` and `network`.

    `folder` is the session's own. In a terminal the box stays in our session, so that job control works, and cannot
    type there. Raises OSError, CannotBox.
    """
    _enter_namespaces()
    argv = [bwrap(), *ISOLATED, *_WHOLE, *_processes_read_only()]
    if terminal:
        argv += ["--seccomp", str(_filter())]
    else:
        argv.append("--new-session")
    closed = []
    for mount in plan.mounts:
        argv += _arguments(mount, folder)
        closed += ["--remount-ro", mount.place] if mount.kind == "empty" else []
    for number in (listener, network):
        os.set_inheritable(number, True)
    inside = [sys.executable, "-I", "-S", os.path.realpath(init.__file__), str(listener), str(network)]
    inside.append("terminal" if terminal else "-")
    os.execve(argv[0], [*argv, *closed, "--chdir", "/", "--", *inside], plan.env)  # noqa: S606


def bare() -> list[str]:
    """The beginning of a command line of bubblewrap for a box with the programs of the system and nothing else."""
    argv = [bwrap(), *ISOLATED, "--new-session", "--proc", "/proc", *_processes_read_only(), "--dev", "/dev"]
    for name in ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/usr", "/nix/store", "/gnu/store", "/etc/ld.so.cache"):
        if os.path.islink(name):
            argv += ["--symlink", os.readlink(name), name]
        elif os.path.exists(name):
            argv += ["--ro-bind", name, name]
    return [*argv, "--tmpfs", "/tmp", "--tmpfs", "/run"]  # noqa: S108


def _enter_namespaces() -> None:
    """A user and a mount namespace in which this user may mount; nothing that is mounted there is seen elsewhere."""
    user, group = os.getuid(), os.getgid()
    _call("unshare", _NEW_USER | _NEW_MOUNTS)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    _call("mount", b"none", b"/", None, _PRIVATE, None)


def _call(name: str, *arguments: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _processes_read_only() -> list[str]:
    """What may be written in /proc but the processes: switches of the whole machine, which root could turn."""
    argv: list[str] = []
    for one in sorted(os.listdir("/proc")):
        path = f"/proc/{one}"
        if not one.isdecimal() and not os.path.islink(path) and (os.path.isdir(path) or os.stat(path).st_mode & 0o222):
            argv += ["--ro-bind", path, path]
    return argv


def _arguments(mount: Mount, folder: str) -> list[str]:
    """Of bubblewrap for one mount; what it takes from the session's folder is made there."""
    name = mount.place.strip("/").replace("%", "%25").replace("/", "%2F")
    if mount.kind == "ro":
        return ["--ro-bind", mount.source, mount.place]
    if mount.kind == "rw":
        return ["--bind", mount.source, mount.place]
    if mount.kind == "empty":
        return ["--tmpfs", mount.place]
    if mount.kind == "nothing":
        return ["--ro-bind", "/dev/null", mount.place]
    if mount.kind == "text":
        path = f"{folder}/texts/{name}"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(mount.source.encode("utf-8", "surrogateescape"))
        os.chmod(path, 0o755 if mount.source.startswith("#!") else 0o644)
        return ["--ro-bind", path, mount.place]
    if mount.kind == "link":
        return ["--symlink", mount.source, mount.place]
    place = f"{folder}/{mount.kind}/{name}"
    if mount.kind == "own":
        os.makedirs(place, exist_ok=True)
        os.chmod(place, 0o1777 if mount.place.startswith(("/tmp", "/var/tmp", "/dev/shm")) else 0o700)  # noqa: S108
        return ["--bind", place, mount.place]
    if mount.kind == "draft" and os.path.isdir(place):
        remove(place)
    return ["--bind" if _overlay(mount.source, place) else "--ro-bind", f"{place}/on", mount.place]


def _overlay(lower: str, place: str) -> bool:
    """Mounts a folder with writes kept in `place`; where no overlay can be, plain, to be read only (False)."""
    for name in ("up", "work", "on"):
        os.makedirs(f"{place}/{name}", exist_ok=True)
    paths = [re.sub(r"([\\:,])", r"\\\1", path) for path in (lower, f"{place}/up", f"{place}/work")]
    options = "lowerdir={},upperdir={},workdir={},userxattr".format(*paths).encode("utf-8", "surrogateescape")
    on = os.fsencode(f"{place}/on")
    try:
        _call("mount", b"overlay", on, b"overlay", 0, options)
        return True
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EPERM, errno.ENODEV, errno.EOPNOTSUPP):
            raise
        _call("mount", os.fsencode(lower), on, None, 0x1000 | 0x4000, None)  # MS_BIND, MS_REC
        return False


def remove(path: str) -> None:
    """Removes a folder, also what nobody may enter: an overlay leaves such folders, and calls may make some."""
    os.chmod(path, 0o700)
    for folder, names, _ in os.walk(path):
        for one in [f"{folder}/{name}" for name in names]:
            if not os.path.islink(one):
                os.chmod(one, 0o700)
    shutil.rmtree(path)


def _filter() -> int:
    """A file with the program of seccomp that keeps a process from typing into the terminal. Raises CannotBox."""
    known = _MACHINES.get(platform.machine())
    if known is None:
        raise CannotBox(f"in a terminal, no box is known for {platform.machine()}; without one (`… | cat`) it starts")
    machine, ioctl = known
    steps = [
        (0x20, 0, 0, 4),  # the architecture
        (0x15, 1, 0, machine),
        (0x06, 0, 0, _ERRNO | errno.ENOSYS),
        (0x20, 0, 0, 0),  # the number of the call
        (0x54, 0, 0, 0xFFFFFFFF & ~_X32),
        (0x15, 0, 4, ioctl),
        (0x20, 0, 0, 24),  # the lower half of its second argument
        (0x15, 1, 0, _TYPING[0]),
        (0x15, 0, 1, _TYPING[1]),
        (0x06, 0, 0, _ERRNO | errno.EPERM),
        (0x06, 0, 0, _ALLOW),
    ]
    file = os.memfd_create("ahp-box", 0)
    os.write(file, b"".join(struct.pack("HBBI", *step) for step in steps))
    os.lseek(file, 0, os.SEEK_SET)
    return file

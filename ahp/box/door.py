"""The door: what git in a box asks of a remote, done outside by git with the person's credentials (docs/box.md).

It takes a remote's name, ids and refs, and writes its own command. So nothing inside, no variable, option, URL or
setting, has a say in which program runs and where it leads. A push is taken in first, and judged as the hook would.
"""

import json
import os
import re
import select
import socket
from typing import TYPE_CHECKING, Any

from ahp.box.quarantine import Copy, ended
from ahp.hosts.git import lfs
from ahp.protocol.event import PushRef
from ahp.system import environ
from ahp.system.errors import AhpError
from ahp.system.git import as_settings

if TYPE_CHECKING:
    from ahp.box.table import Mount

_REF = re.compile(r"refs/[^\s\0-\x20~^:?*\[\\\x7f]+")
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LEASE = re.compile(f"cas ({_REF.pattern}:{_OID.pattern})")
_TIMEOUT = 1800.0
_LIMIT = 8 << 20  # bytes of a wish
_MOST = 16  # wishes at once
_PUSHED = ("refs/heads/", "refs/tags/")
# Settings that name a repository, or that the door sets itself; all others may be what git runs.
_OF_REPOSITORIES = ("safe.directory", "core.worktree", "maintenance.repo", "scalar.repo", "core.hookspath")


def serve(listener: socket.socket, channel: socket.socket, copy: Copy, mounts: "list[Mount]") -> None:
    """Until the box ends, of which `channel` tells. Each wish has a process of its own."""
    ends = select.poll()
    ends.register(channel, 0)
    ends.register(listener, select.POLLIN)
    busy: set[int] = set()
    while not any(number == channel.fileno() for number, _ in ends.poll()):
        connection, _ = listener.accept()
        while busy and (done := os.waitpid(-1, os.WNOHANG if len(busy) < _MOST else 0)[0]):
            busy.discard(done)
        if child := os.fork():
            busy.add(child)
            connection.close()
            continue
        try:
            _answer(connection, copy, mounts)
        finally:
            os._exit(0)


def _answer(connection: socket.socket, copy: Copy, mounts: "list[Mount]") -> None:
    connection.settimeout(60)
    said: list[str] = []
    with connection.makefile("rwb") as file:
        lines = None
        try:
            wish, door = json.loads(file.readline(_LIMIT)), Door(copy, mounts, said)
            lines = {"list": door.listed, "fetch": door.fetch, "push": door.push}[wish["do"]](wish)
        except Exception as error:  # noqa: BLE001  # whoever asked learns of whatever goes wrong here
            said.append(f"{error}" if isinstance(error, AhpError) else f"not understood: {error!r}")
        file.write(json.dumps({"lines": lines, "said": said}).encode("ascii"))


class Door:
    """One wish; `said` are the sentences for whoever asked."""

    def __init__(self, copy: Copy, mounts: "list[Mount]", said: list[str]) -> None:
        self.copy, self.mounts, self.said = copy, mounts, said
        self.open = [one.place for one in mounts if one.kind == "rw" and one.source == one.place]
        env = environ.scrubbed(environ.current())
        path = [one for one in env.get("PATH", "").split(":") if one.startswith("/") and not self._writes(one)]
        self.env = {name: value for name, value in env.items() if name == "HOME" or not self._names_open(value)}
        self.env |= {"PATH": ":".join(path), "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        self.off = copy.repo.drivers()  # hooks of the configuration, which git runs since 2.54
        self.env |= as_settings(self.off, self.env)
        self.env["GIT_ALLOW_PROTOCOL"] = "file:git:http:https:ssh"  # no `ext::`, no helper of any other name

    def listed(self, wish: dict[str, Any]) -> list[str]:
        """The refs of a remote, as a helper lists them."""
        listed = []
        for line in self._git("ls-remote", "--symref", "--", self._remote(wish, "list")).splitlines():
            oid, _, name = line.partition("\t")
            if not name.endswith("^{}"):
                listed.append(f"@{oid[5:]} {name}" if oid.startswith("ref: ") else f"{oid} {name}")
        return listed

    def fetch(self, wish: dict[str, Any]) -> list[str]:
        """Has the objects join the repository; branches as the remote's, tags where they are new."""
        remote = self._remote(wish, "fetch")
        known = self.copy._real().refs
        specs = []
        for _, ref in wish["refs"]:
            if ref != "HEAD" and not _REF.fullmatch(ref):
                raise AhpError(f"{ref!r} is no ref")
            to = f":refs/remotes/{remote}/{ref.removeprefix(_PUSHED[0])}" if ref.startswith(_PUSHED[0]) else ""
            to = f":{ref}" if ref.startswith(_PUSHED[1]) and ref not in known else to
            specs.append(f"+{ref}{to}")
        none = ("no-tags", "no-prune", "no-write-fetch-head", "no-recurse-submodules", "no-auto-maintenance", "refmap=")
        listed = "".join(f"{spec}\n" for spec in specs).encode("utf-8", "surrogateescape")
        self._git("fetch", "-q", "--stdin", *(f"--{one}" for one in none), "--", remote, stdin=listed)
        return []

    def push(self, wish: dict[str, Any]) -> list[str]:
        """A line for each ref: what became of it."""
        from ahp.box.judging import Judge

        remote = self._remote(wish, "push")
        self.said += self.copy.sync()
        there = dict(line.split("\t")[::-1] for line in self._git("ls-remote", "--", remote).splitlines())
        zero = "0" * len(next(iter(there.values()), "0" * 40))
        mine, refs, specs = self.copy._real().refs, [], []
        for target, oid, name, force in wish["refs"]:
            if not (_REF.fullmatch(target) and target.startswith(_PUSHED) and (not oid or _OID.fullmatch(oid))):
                raise AhpError(f"{target!r}: only branches and tags are pushed from a box")
            if oid:
                self._is_known(oid, name)
            local = name if mine.get(name) == oid else oid
            refs.append(PushRef(local or "(delete)", oid or zero, target, there.get(target, zero), bool(force)))
            specs.append(f"{'+' * bool(force)}{oid}:{target}")
        if denied := Judge(self.copy.session).of_push(self.copy.repo, refs, remote):
            self.said += denied
            return [f"error {ref.remote_ref} refused by the policy" for ref in refs]
        none = ("no-verify", "no-recurse-submodules", "no-signed", "no-follow-tags", *self._asked(wish["options"]))
        told = self._git("push", "--porcelain", *(f"--{one}" for one in none), "--", remote, *specs, ok=(0, 1))
        lines = []
        for flag, moved, why in (line.split("\t", 2) for line in told.splitlines() if line.count("\t") >= 2):
            reason = re.search(r"\((.*)\)$", why)
            status = f"error {{}} {reason[1] if reason else why}" if flag == "!" else "ok {}"
            lines.append(status.format(moved.partition(":")[2]))
        return lines

    def _asked(self, options: list[str]) -> list[str]:
        """The options of git push that were asked for, written anew."""
        asked = []
        for option in options:
            if option in ("dry-run true", "atomic true"):
                asked.append(option.removesuffix(" true"))
            elif lease := _LEASE.fullmatch(option):
                asked.append(f"force-with-lease={lease[1]}")
            elif option.startswith("cas "):
                raise AhpError(f"{option!r} is no lease")
        return asked

    def _is_known(self, oid: str, name: str) -> None:
        """Raises AhpError where no ref of the repository has it: it is held, or the box alone has it."""
        try:
            is_new = self.copy.git("rev-list", "-n1", oid, "--not", "--all")
        except AhpError:
            is_new = b"x"
        if is_new:
            raise AhpError(
                f"{name} is not pushed: the repository has not taken it in. Mend what is held, then push again"
            )

    def _remote(self, wish: dict[str, Any], verb: str) -> str:
        """The name of a remote that the real configuration has, all of which is out of the box's reach."""
        name = wish["remote"]
        mend = f"a person may run `git {verb if verb != 'list' else 'ls-remote'} …` outside"
        fields = self._git("config", "--list", "--show-origin", "-z").split("\0")
        for origin, entry in zip(fields[::2], fields[1::2], strict=False):
            key, _, value = entry.partition("\n")
            file = os.path.join(self.copy.git_dir, origin.removeprefix("file:"))
            if origin.startswith("file:") and self._writes(file):
                raise AhpError(f"git's settings include {file}, which a box may write; {mend}")
            if key.startswith("hook.ahp-") or f"{key.rpartition('.')[0]}.enabled" in self.off:
                continue
            is_url = key.startswith("remote.") and key.endswith("url")
            if self._names_open(value) and key not in _OF_REPOSITORIES and not is_url:
                raise AhpError(f"git's setting {key} names {value}, which a box may write; {mend}")
        if name not in self._git("remote").splitlines():
            raise AhpError(f"the repository has no remote {name!r}; {mend}")
        if verb == "push" and lfs.is_used(self.copy.repo, everywhere=True):
            raise AhpError(f"Git LFS has files here, whose content no box pushes; {mend}")
        how = ("--push",) if verb == "push" else ()
        for url in self._git("remote", "get-url", "--all", *how, "--", name).splitlines():
            folder = url.removeprefix("file://")
            is_folder = folder != url or not re.match(r"[^/]*:", url)
            if is_folder and (not folder.startswith("/") or self._writes(folder, below=True)):
                raise AhpError(f"{name} is {url}, a folder that a box may write, and its hooks run outside; {mend}")
        return str(name)

    def _writes(self, path: str, below: bool = False) -> bool:
        """Whether the box writes there on the host, by any of its names; `below`: or at any place in it."""
        for one in {os.path.normpath(path), os.path.realpath(path)}:
            found = [mount.place for mount in self.mounts if f"{one}/".startswith(f"{mount.place}/")]
            over = max(found, key=len, default="")
            if over in self.open or (below and any(place.startswith(f"{one}/") for place in self.open)):
                return True
        return False

    def _names_open(self, text: str) -> bool:
        return any(place in text for place in self.open)

    def _git(self, *args: str, ok: tuple[int, ...] = (0,), stdin: bytes = b"") -> str:
        """git on the real repository, as the person has set it up, without hooks."""
        argv, env = self.copy.repo.command(*args, fetch=True, objects=True)
        env = {**self.env, "GIT_DIR": env["GIT_DIR"], "GIT_WORK_TREE": env["GIT_WORK_TREE"]}
        done = ended(argv, env, _TIMEOUT, input=stdin)
        words = done.stderr.decode("utf-8", "replace").strip()
        if done.returncode not in ok:
            raise AhpError(f"git {args[0]} failed: {words[-1000:] or done.returncode}")
        if args[0] == "push" and words:
            self.said += words[-2000:].splitlines()
        return done.stdout.decode("utf-8", "surrogateescape")

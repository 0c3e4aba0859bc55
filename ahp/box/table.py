"""What is in a box: every place with what it is there, and the environment (docs/box.md has it as a table).

One list of mounts from the file system's root downwards, the deeper place on top of the one above it. Who adds a place
adds it here; `ahp doctor` starts a box and tries each kind (`ahp.box.doctor`).
"""

import os
import pwd
import re
import shlex
import stat
import sys
from typing import NamedTuple

from ahp.box import init, remote
from ahp.protocol.event import markers
from ahp.system import guarded
from ahp.system.errors import AhpError
from ahp.system.git import Repository

Keys = dict[str, list[str]]
"""What the policy says of a box (`BoxKeys` of `ahp.policy.control`)."""
SESSIONS = "ahp-box"  # in the git directory, the folders of the sessions
PASSING = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108  # each box has its own
_SECRET_LINE = re.compile(rb"(?i)token|passw|secret|credential|_auth|api.?key|helper|signingkey|extraheader")
_LOGIN_IN_URL = re.compile(rb"://[^/@\s\"']+@")
_LISTENS = 0x10000  # a flag of /proc/net/unix
_VARIABLES = """
    HOME USER LOGNAME SHELL PATH TERM COLORTERM LANG LANGUAGE TZ NO_COLOR FORCE_COLOR CLICOLOR COLUMNS LINES CI
    EDITOR VISUAL PAGER GIT_EDITOR GIT_PAGER GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME
    GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE NODE_ENV PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONHASHSEED
    RUST_BACKTRACE MAKEFLAGS SOURCE_DATE_EPOCH
"""


_PROXY = f"http://127.0.0.1:{init.PORT}"
HELPER = "/run/ahp-bin/git-remote-ahp"
_REMOTE = [sys.executable, "-I", "-S", os.path.realpath(remote.__file__)]
_NETWORK = {
    **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), _PROXY),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), "localhost,127.0.0.1,::1"),
}


class CannotBox(AhpError):
    """There is no box for this call; the text says why, and what to do."""


class Mount(NamedTuple):
    """A place in the box. `kind`: `ro` and `rw` are `source` of the host, `layer` the same with
    writes kept apart, `draft` with writes that are gone when the box ends, `own` a folder that lasts as long as the
    session, `empty` an empty folder, `nothing` a file that cannot be opened for anything, `link` leads to `source`,
    `text` is a file with the content `source`.
    """

    place: str
    kind: str
    source: str = ""


class Plan(NamedTuple):
    """A box before it starts. `covers` are folders to be made on the host, upper ones first, for that the places are
    not there yet; `twins` files with a second name, to be copied before; `network` the hosts that may be reached.
    """

    mounts: list[Mount]
    covers: list[str]
    twins: list[str]
    env: dict[str, str]
    network: list[str]


def plan(root: str, repo: Repository | None, keys: Keys, env: dict[str, str], covers: list[str], git: str = "") -> Plan:
    """The box of a project. `keys` are those of the policy, `covers` what another box of this session has
    made on the host, `git` the session's copy of the git directory, "" where it has none. Raises CannotBox.
    """
    root, home = os.path.realpath(root), _home(env)
    if root == "/":
        raise CannotBox("the project is all of the file system, so nothing would be left out of its box")
    place = _Places(root, home)
    for one in PASSING:
        place.add(one, "own")
    place.add("/run", "own")
    for one in _other_homes(home):
        place.add(one, "empty")
    place.add(home, "own")
    for one in _not_for_everybody() if os.getuid() == 0 else ():
        place.hide(one)
    _of_home(place, home)
    for folder in env.get("PATH", "").split(":"):
        if folder.startswith("/") and os.path.isdir(folder):
            place.show(folder)
    for name in keys.get("shown", []):
        if not name.startswith("$"):
            place.show(place.of_policy(name))
    place.add(root, "rw")
    if home == root:
        _of_home_that_is_the_project(place, root, repo)
    for name in keys.get("writable", []):
        place.add(place.of_policy(name), "rw")
    twins = _git(place, root, repo, git)
    made, more = _guarded(place, root, set(covers))
    for name in keys.get("read_only", []):
        place.add(place.of_policy(name), "ro")
    for name in keys.get("hidden", []):
        place.hide(place.of_policy(name))
    _own_programs(place)
    for one in sockets():
        place.hide(one)
    return Plan(place.sorted(), made, [*twins, *more], environment(env, keys, place), keys.get("network", []))


class _Places:
    """The places by their path; one that is given again is what it was given last."""

    def __init__(self, root: str, home: str) -> None:
        self.root, self.home = root, home
        self.found: dict[str, Mount] = {}

    def of_policy(self, name: str) -> str:
        """A path as the policy writes it: from the root, from the home (`~/`), or whole."""
        whole = self.home + name[1:] if name == "~" or name.startswith("~/") else os.path.join(self.root, name)
        return os.path.normpath(whole)

    def add(self, path: str, kind: str, source: str = "") -> None:
        """Puts what is there on the host; what is not there is left out."""
        real = os.path.realpath(path)
        if kind in ("text", "link"):
            self.found[path] = Mount(path, kind, source)
        elif os.path.lexists(real):
            self.found[real] = Mount(real, kind, source or real)

    def hide(self, path: str) -> None:
        self.add(path, "empty" if os.path.isdir(path) else "nothing")

    def show(self, path: str) -> None:
        """Has what lies in a place that is hidden or of the box's own there as it is on the host."""
        if self.over(path).kind in ("own", "empty", "nothing"):
            self.add(path, "ro")

    def over(self, path: str) -> Mount:
        """The mount in which a path lies."""
        path = os.path.realpath(path)
        while path not in self.found and path != "/":
            path = os.path.dirname(path)
        return self.found.get(path, Mount("/", "ro", "/"))

    def sorted(self) -> list[Mount]:
        return sorted(self.found.values(), key=lambda one: one.place.split("/"))


def _home(env: dict[str, str]) -> str:
    home = env.get("HOME", "")
    if not (home.startswith("/") and len(home) > 1 and os.path.isdir(home)):
        home = pwd.getpwuid(os.getuid()).pw_dir
    return os.path.realpath(home)


def _other_homes(home: str) -> list[str]:
    """The homes of people: folders of the password database that belong to their own user."""
    found = []
    for user in pwd.getpwall():
        try:
            is_own = os.stat(user.pw_dir).st_uid == user.pw_uid and (user.pw_uid >= 1000 or user.pw_uid == 0)
        except OSError:
            continue
        if is_own and len(user.pw_dir) > 1 and os.path.realpath(user.pw_dir) != home:
            found.append(os.path.realpath(user.pw_dir))
    return found


def _not_for_everybody() -> list[str]:
    """Of /etc what root alone may read: keys and passwords of the machine, which an ordinary user never sees."""
    found = []
    for folder, folders, names in os.walk("/etc"):
        for name in [*folders, *names]:
            path = f"{folder}/{name}"
            mode = os.lstat(path).st_mode
            if not mode & 0o004 and mode & 0o170000 != 0o120000:
                found.append(path)
                if name in folders:
                    folders.remove(name)
    return found


def _of_home(place: _Places, home: str) -> None:
    for name in guarded.TOOLS:
        path = f"{home}/{name}"
        if os.path.islink(path):
            place.add(path, "link", os.path.realpath(path))
        if os.path.isdir(path) and os.path.realpath(path) != "/":
            place.add(path, "layer")
            for one in _key_files(path):
                place.hide(one)
    for name in guarded.SETTINGS:
        path = f"{home}/{name}"
        if os.path.isfile(path):
            place.add(path, "text", without_secrets(_read(path)).decode("utf-8", "surrogateescape"))


def _key_files(folder: str) -> list[str]:
    """What by its name holds keys: at the top of a folder and one level below it."""
    found = []
    for one in os.scandir(folder):
        if guarded.is_key_file(one.name):
            found.append(one.path)
        elif one.is_dir(follow_symlinks=False) and os.access(one.path, os.R_OK):
            found += [inner.path for inner in os.scandir(one.path) if guarded.is_key_file(inner.name)]
    return found


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(1 << 20)


def without_secrets(text: bytes) -> bytes:
    """A file of settings without the lines that may hold a key, and without logins in addresses."""
    kept = [line for line in text.splitlines(keepends=True) if not _SECRET_LINE.search(line)]
    return _LOGIN_IN_URL.sub(b"://", b"".join(kept))


def _of_home_that_is_the_project(place: _Places, root: str, repo: Repository | None) -> None:
    """Hides what begins with a dot and is no file of the project's: keys lie beside the work there."""
    tracked: set[str] = set()
    if repo is not None:
        listed = repo.run("ls-files", "-z", "--", ".").split(b"\0")
        tracked = {os.fsdecode(path).partition("/")[0] for path in listed}
    for one in os.scandir(root):
        known = {".git", ".ahp", *guarded.TOOLS, *(name.partition("/")[0] for name in guarded.SETTINGS), *tracked}
        if one.name.startswith(".") and one.name not in known:
            place.hide(one.path)


def _git(place: _Places, root: str, repo: Repository | None, copy: str) -> list[str]:
    """The git directories: a copy, else read-only, both of a linked work tree, and the links that lead there."""
    if repo is None:
        return []
    for folder in (repo.common_dir, repo.git_dir):
        place.add(folder, "ro")
    if os.path.isfile(f"{root}/.git"):
        place.add(f"{root}/.git", "ro")
    modules = f"{repo.common_dir}/modules"
    for folder, folders, names in os.walk(modules):
        if "HEAD" in names and "objects" in folders:
            folders[:] = [name for name in folders if name == "modules"]
            link = re.search(rb"(?m)^[ \t]*worktree[ \t]*=[ \t]*(.+?)[ \t]*$", _read(f"{folder}/config"))
            if link is not None:
                place.add(os.path.join(folder, os.fsdecode(link[1]), ".git"), "ro")
    if copy:
        place.found[f"{root}/.git"] = Mount(f"{root}/.git", "rw", copy)
        place.found["/run/ahp-objects"] = Mount("/run/ahp-objects", "ro", f"{root}/.git/objects")
        place.add(HELPER, "text", f'#!/bin/sh\nexec {shlex.join(_REMOTE)} {init.DOOR} "$@"\n')
        for name in ("modules", "worktrees", "lfs"):
            place.add(f"{root}/.git/{name}", "ro")
        for name in ("hooks", "ahp"):  # what hooks in the box do to each other, and note, ends with it
            place.add(f"{root}/.git/{name}", "draft")
    else:
        place.hide(f"{repo.common_dir}/{SESSIONS}")
        config = os.path.realpath(f"{repo.common_dir}/config")
        place.add(config, "text", without_secrets(_read(config)).decode("utf-8", "surrogateescape"))
    listed = ("config", "config.worktree", "HEAD", "index", "packed-refs", "hooks", "info", "refs", "logs", "ahp")
    paths = [f"{folder}/{name}" for folder in {repo.common_dir, repo.git_dir} for name in listed]
    return [twin for path in paths for twin in _twins(path)]


def _twins(path: str) -> list[str]:
    """The files at and below `path` that have a second name: written there, they would be written here."""
    listed = [path] if os.path.isfile(path) else []
    for folder, _, names in os.walk(path):
        listed += [f"{folder}/{name}" for name in names]
    known = [(one, os.lstat(one)) for one in listed]
    return [one for one, status in known if status.st_nlink > 1 and stat.S_ISREG(status.st_mode)]


def _guarded(place: _Places, root: str, covers: set[str]) -> tuple[list[str], list[str]]:
    """The policy and agents' settings: read-only, also where they are not there yet; the covers and the twins.

    A cover is an empty folder: git never stages one, no program takes it for settings, and taking it away cannot lose
    anything.
    """
    made: list[str] = []
    twins: list[str] = []
    names = dict.fromkeys(name for kind in ("policy", "agent settings") for name in guarded.IN_PROJECT[kind])
    for name in names:
        path = f"{root}/{name}"
        parts = name.split("/")[:-1]
        above = ["/".join(parts[: count + 1]) for count in range(len(parts))]
        if any(one in names for one in above):
            continue  # all of the folder is guarded
        link = next((one for one in (*above, name) if os.path.islink(f"{root}/{one}")), "")
        if link:  # a link can be taken away and put elsewhere, whatever is mounted on what it leads to
            raise CannotBox(f"{root}/{link} is a symbolic link, which no box can keep as it is; fix: make it a folder")
        for folder in above:
            if not os.path.lexists(f"{root}/{folder}") or f"{root}/{folder}" in covers:
                made.append(f"{root}/{folder}")
            place.found.setdefault(f"{root}/{folder}", Mount(f"{root}/{folder}", "rw", f"{root}/{folder}"))
        if not os.path.lexists(path) or path in covers:
            made.append(path)
            place.found[path] = Mount(path, "empty")
            continue
        place.add(path, "ro")
        twins += _twins(path)
        for work in guarded.OF_WORK:
            if os.path.isdir(f"{path}/{work}") and not os.path.islink(f"{path}/{work}"):
                place.add(f"{path}/{work}", "rw")
    return list(dict.fromkeys(made)), twins


def own_places() -> list[str]:
    """Where ahp and its interpreter lie."""
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    found = [package, *map(os.path.realpath, (sys.prefix, sys.base_prefix))]
    venv = os.path.dirname(os.path.dirname(sys.executable))
    if os.path.isfile(f"{venv}/pyvenv.cfg"):  # without `site`, Python does not say that it runs in one
        found.append(os.path.realpath(venv))
    return [one for one in dict.fromkeys(found) if one != "/"]


def _own_programs(place: _Places) -> None:
    for one in own_places():
        over = place.over(one)
        if over.kind == "rw":
            raise CannotBox(
                f"ahp lies in {one}, which a call in the box may write, so the box could be changed from inside; "
                "fix: install ahp outside the project, as pipx and `uv tool` do"
            )
        if over.kind != "ro":
            place.add(one, "ro")


def sockets() -> list[str]:
    """The sockets in the file system that somebody listens at: no read-only mount keeps a call from connecting."""
    listening = []
    with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as file:
        for line in file.readlines()[1:]:
            parts = line.rstrip("\n").split(maxsplit=7)
            if len(parts) == 8 and int(parts[3], 16) & _LISTENS and parts[7].startswith("/"):
                listening.append(parts[7])
    return sorted({path for path in listening if os.path.exists(path)})


def environment(env: dict[str, str], keys: Keys, place: _Places) -> dict[str, str]:
    """The variables in the box: those of a list, those of the policy, and those that name a place which is there."""
    listed = {*_VARIABLES.split(), *markers(), *(name[1:] for name in keys.get("shown", []) if name.startswith("$"))}
    made = {}
    for name, value in env.items():
        names_place = not name.startswith(("GIT_", "AHP_")) and value.startswith("/") and os.path.exists(value)
        is_there = names_place and place.over(value).kind not in ("own", "empty", "nothing")
        if name in listed or name.startswith("LC_") or is_there:
            made[name] = value
    if made.get("TMPDIR") not in PASSING:
        made.pop("TMPDIR", None)
    path = f"{made.get('PATH', os.defpath)}:{os.path.dirname(HELPER)}"
    return {**made, **_NETWORK, "PATH": path, "HOME": place.home, "AHP_BOX": "1"}

"""The probe of `ahp doctor`: is ahp reached by the hooks that git would run, and does it refuse (design §9)?

A copy of the hooks runs in a scratch repository whose only rule, under a name drawn for this run, refuses everything:
it is reached when that name is in what it says. So nothing is judged, touched or logged here, and there is no mode of
the hooks that could be switched on from outside. Only scripts of ahp and of tools that are known to call it run; of
husky's hooks only ahp's line does, for the others are the project's own.
"""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from ahp.hosts.git import hook_managers, husky
from ahp.hosts.git.githooks import HOOKS, IDLE
from ahp.hosts.git.hook_managers import CHAINED, MARK
from ahp.hosts.git.install import asked_folder
from ahp.protocol.text import one_line
from ahp.protocol.triggers import TRIGGERS
from ahp.system import environ, files, process
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.patience import AFTER

_CONFIG = {".pre-commit-config.yaml": "repos: []\n"}  # what pre-commit and prek want to see; nothing of it runs
_TIMEOUT = 60.0
_IDENTITY = {
    **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "ahp doctor"),
    **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "doctor@localhost"),
}


class Probe:
    """A scratch repository behind copies of the hooks of `repo`, which are in the folder `asked`."""

    def __init__(self, repo: Repository, root: str) -> None:
        self.repo, self.root, self.asked = repo, root, asked_folder(repo)
        self.env = environ.scrubbed(environ.current())
        self.name = f"probe-{secrets.token_hex(8)}"
        self._git("init", "--quiet", "--template=")
        for path, text in {".ahp/hooks.yaml": _policy(self.name), "message": "probe\n", **_CONFIG}.items():
            files.make_dirs(os.path.dirname(f"{root}/{path}"))
            files.replace(f"{root}/{path}", text.encode())
        tree = self._git("hash-object", "-t", "tree", "-w", "--stdin")
        self.commit = self._git("commit-tree", tree, "-m", "probe")
        self._git("update-ref", "HEAD", self.commit)

    def ask(self, hook: str) -> str:
        """Why the hook that git would run does not refuse in ahp's name, "" when it does. Raises AhpError, OSError."""
        arguments, stdin = self._given(hook)
        done = process.capture(
            [self._copy(hook), *arguments], cwd=self.root, env=self.env, stdin=stdin.encode(), timeout=_TIMEOUT
        )
        said = done.err.decode("utf-8", "replace")
        if self.name in said and (done.code != 0 or TRIGGERS[hook].post):
            return ""
        lines = [line for line in said.strip().splitlines() if f" is slow (over {AFTER:g} s), at: " not in line]
        return f"it ended with {done.code} without ahp's refusal: {one_line((lines or ['it says nothing'])[0], 300)}"

    def _given(self, hook: str) -> tuple[list[str], str]:
        """The arguments and standard input that git gives to a hook (githooks)."""
        given = HOOKS[hook].gives
        if given == "refs":
            ref = "refs/heads/probe"
            return ["origin", "nowhere"], f"{ref} {self.commit} {ref} {'0' * len(self.commit)}\n"
        return (["message"] if given == "message" else []), ""

    def _copy(self, hook: str) -> str:
        """The copy of what git would run, and of what that needs to come to ahp's shim."""
        asked = self.asked
        if not husky.is_active(asked):
            if not os.path.lexists(f"{asked}/{hook}"):
                self._take(f"{asked}/{hook}{IDLE}", f".git/hooks/{hook}")
            for name in (hook, hook + CHAINED):
                self._take(f"{asked}/{name}", f".git/hooks/{name}")
            return f"{self.root}/.git/hooks/{hook}"
        for name in ("line.sh", f"{hook}.sh"):
            self._take(f"{self.repo.ahp_dir}/husky/{name}", f".git/ahp/husky/{name}")
        for name in ("h", hook):
            self._take(f"{asked}/{name}", f".husky/{os.path.basename(asked)}/{name}")
        ours = f"{self.root}/.husky/{hook}"
        line = next((line for line in husky.lines_of(f"{husky.folder_of('', asked)}/{hook}") if MARK in line), b"")
        files.replace(ours, line, 0o755)
        return ours if os.path.basename(asked) != "_" else f"{self.root}/.husky/_/{hook}"

    def _take(self, path: str, to: str) -> None:
        if os.path.isfile(path):
            files.make_dirs(os.path.dirname(f"{self.root}/{to}"))
            shutil.copy(path, f"{self.root}/{to}")

    def _git(self, *arguments: str) -> str:
        env = {**self.env, **_IDENTITY}
        return Repository(self.root, self.root, self.root, env, self.repo.git).line(*arguments)


def _policy(name: str) -> str:
    """A policy that speaks at every hook, and refuses where a hook can."""
    rules = [
        f'  {name}-{hook}: {{at: {hook}, {"aid" if TRIGGERS[hook].post else "block"}: "true", message: {name}}}'
        for hook in HOOKS
    ]
    return "\n".join(["version: 1", "rules:", *rules, ""])


def may_write(path: str) -> bool:
    """Whether this process may write there."""
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


@contextmanager
def probe(repo: Repository) -> Iterator[Probe]:
    """A probe, gone afterwards; beside the log where that can be written, for /tmp may forbid to run programs.

    Raises AhpError.
    """
    folder = repo.ahp_dir
    beside = folder if may_write(folder) else None
    try:
        with tempfile.TemporaryDirectory(prefix="probe-", dir=beside, ignore_cleanup_errors=True) as root:
            yield Probe(repo, os.path.realpath(root))
    except OSError as error:
        raise AhpError(f"cannot make a scratch repository: {error.strerror}") from None


def obstacle(repo: Repository, hook: str, asked: str = "") -> str:
    """What keeps git from our shim of `hook`, as far as looking shows it; "" when nothing does. Raises AhpError.

    `asked` is the folder that git takes hooks from; git is asked for it where it is not given.
    """
    asked = asked or asked_folder(repo)
    return _husky_trouble(repo, asked, hook) if husky.is_active(asked) else _trouble(f"{asked}/{hook}")


def _trouble(path: str) -> str:
    """Why git does not come to our shim by the hook `path`, "" when it looks as if it did."""
    who = hook_managers.owner(path)
    if not who and hook_managers.owner(path + IDLE) == "ahp" and os.access(path + IDLE, os.X_OK):
        return ""  # pre-commit puts it there when it has work
    if not who:
        return f"{path} is not there"
    if not os.access(path, os.X_OK):
        return f"{path} may not be executed, so git skips it"
    if who == "lefthook":
        return "lefthook took ahp's place and does not run it"
    if who == "other":
        return f"{path} is another program's, and ahp cannot tell that it runs ahp"
    if who in hook_managers.CHAINING:
        behind = path + hook_managers.CHAINED
        if hook_managers.owner(behind) != "ahp" or not os.access(behind, os.X_OK):
            return f"{who} is in ahp's place and does not run it"
    return ""


def _husky_trouble(repo: Repository, asked: str, hook: str) -> str:
    if os.path.basename(asked) == "_" and not os.path.isfile(f"{asked}/{hook}"):
        return f"{asked}/{hook} is not there: husky was not set up in this clone (npm install)"
    if hook_managers.owner(f"{repo.ahp_dir}/husky/{hook}.sh") != "ahp":
        return "husky took ahp's place and does not run it"
    return husky.trouble(f"{husky.folder_of(repo.root, asked)}/{hook}")

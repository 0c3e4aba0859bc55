"""git's second way to ahp: since 2.54 git runs hooks that its configuration names, wherever it takes the others from.

Each of ours first looks whether git will run the shim in the hooks folder, and is silent then: an action is judged
once, after the hooks of others. An older git reads these settings and runs nothing.
"""

import os
import shlex
import shutil

from ahp.hosts.git.hook_managers import write
from ahp.hosts.templates import template
from ahp.system import files
from ahp.system.git import CHANNEL, Repository

SINCE = (2, 54)
"""The git that runs such hooks."""
_ASKS = ".ask"


def join(repo: Repository, places: dict[str, str], git: str) -> None:
    """Has git ask a twin of each shim, at its place by hook, where it would not run that. Raises AhpError, GitError."""
    if "\n" in repo.common_dir:
        return
    files.make_dirs(_place(repo))
    for hook in CHANNEL:
        twin, asks = f"{_place(repo)}/{hook}", f"{_place(repo)}/{hook}{_ASKS}"
        shutil.copyfile(places[hook], twin)
        shutil.copystat(places[hook], twin)
        known = {"@HOOK@": hook, "@GIT@": git, "@PLACE@": places[hook].removeprefix(f"{repo.common_dir}/")}
        text = template("git/second.sh")
        for name, value in known.items():
            text = text.replace(name, shlex.quote(value))
        write(asks, text.encode("utf-8", "surrogateescape"))
        # git appends the hook's arguments.
        command = f"! [ -r {shlex.quote(asks)} ] || . {shlex.quote(asks)}"
        repo.run("config", "--local", f"hook.ahp-{hook}.command", command)
        repo.run("config", "--local", "--replace-all", f"hook.ahp-{hook}.event", hook)


def leave(repo: Repository) -> None:
    """Takes all of it away. Raises GitError."""
    for hook in CHANNEL:
        repo.run("config", "--local", "--remove-section", f"hook.ahp-{hook}", ok=(0, 128))
    shutil.rmtree(_place(repo), ignore_errors=True)


def is_there(repo: Repository) -> bool:
    """Whether the configuration names all of ours, and they are there. Raises GitError."""
    wanted = {f"hook.ahp-{hook}.{key}" for hook in CHANNEL for key in ("command", "event")}
    return wanted <= named(repo) and all(
        os.path.isfile(f"{_place(repo)}/{hook}{end}") for hook in CHANNEL for end in ("", _ASKS)
    )


def named(repo: Repository) -> set[str]:
    """Which keys of ours the configuration has, be the hooks there or not. Raises GitError."""
    told = repo.run("config", "--local", "--get-regexp", r"^hook\.ahp-.*\.(command|event)$", ok=(0, 1))
    return {line.partition(b" ")[0].decode("latin-1") for line in told.splitlines()}


def _place(repo: Repository) -> str:
    return repo.ahp_dir + "/second"

"""The place `box`: where a command of the policy, and a shell call of an agent, may run (`ahp.system.wings`)."""

import json
import os
import shlex
import sys
from typing import TYPE_CHECKING

from ahp.box import engine, quarantine, saved, session, start, table
from ahp.protocol.text import one_line
from ahp.system import environ, git, process
from ahp.system.errors import AhpError

if TYPE_CHECKING:
    from ahp.box.table import Keys

_SHELLS = ("bash", "zsh")
_BEGIN = [sys.executable, "-I", "-S", os.path.realpath(start.__file__)]


def launcher(*arguments: str) -> list[str]:
    """The command line of `start`."""
    return [*_BEGIN, ":".join([one for one in sys.path if one]), *arguments]


def run(argv: list[str], **options: object) -> process.Result:
    """A command of the policy in a box of its own; what it takes and gives is as of `process.capture`."""
    folder = str(options.get("cwd") or os.getcwd())
    env = options.get("env") or environ.current()
    assert isinstance(env, dict)
    root, _ = _project(folder, env)
    try:
        engine.try_out()
    except table.CannotBox as error:
        raise process.NotStarted(f"cannot start {argv[0]} in a box: {error}") from None
    inner = launcher(root, "", "", "{}", "/bin/sh", shlex.join(argv))
    return process.capture(inner, **options)  # type: ignore[arg-type]


def shell(command: str, keys: "Keys", root: str, name: str) -> str:
    """The text that a client's shell runs instead of `command`: the same, in the box of the session `name`.

    Raises CannotBox where none can start; a box that ran in this session has shown that one can.
    """
    env = environ.current()
    root, repo = _project(root, env)
    noted = session.place_of(repo, name) if name else ""
    if repo is not None and not quarantine.Copy.fits(repo):
        raise table.CannotBox(quarantine.UNFIT)
    if not os.path.exists(f"{noted}/key"):
        engine.try_out()
        table.plan(root, repo, keys, env, [])
    number = os.urandom(8).hex()
    own = env.get("SHELL", "")
    run_by = own if os.path.basename(own) in _SHELLS and os.access(own, os.X_OK) else "/bin/bash"
    run_by = run_by if os.access(run_by, os.X_OK) else "/bin/sh"
    argv = launcher(root, name, number, json.dumps(keys), run_by, command)
    if not name:
        return shlex.join(argv)
    ended = shlex.quote(f"{noted}/folder-{number}")
    back = f'if [ -f {ended} ]; then cd -- "$(cat {ended})"; rm -f {ended}; fi'
    return f"{shlex.join(argv)}; ahp_code=$?; {back}; (exit $ahp_code)"


def save(root: str, name: str, call: str) -> None:
    """Keeps the work tree at `root` as it is before a call of the session `name`. Raises AhpError, OSError."""
    _, repo = _project(root or os.getcwd(), environ.current())
    if repo is None:
        raise AhpError("there is no repository here")
    saved.Store(repo).save(name, one_line(call, 200))


def _project(folder: str, env: dict[str, str]) -> tuple[str, git.Repository | None]:
    try:
        repo = git.discover(folder, env)
    except git.NotARepository:
        return folder, None
    if not repo.root:
        raise AhpError(f"{folder} is in a bare repository, which has no work tree")
    return repo.root, repo

"""What the git shims start: one hook of one git command, judged and answered (design §9).  [light]

This module and all it imports at its head is the no-signal path: a quiet commit loads nothing else (design §12).
"""

import gc
import posix
import sys

from ahp.hosts import asking
from ahp.hosts.git.githooks import HOOKS, Hook
from ahp.protocol.event import Actor, Workspace, identify
from ahp.system import environ, git, patience
from ahp.system.errors import AhpError


def main(stale_bundle: str = "") -> None:
    """Judges and ends the process: 0 allowed, 1 the policy refuses (11 where the shim asks for that), 2 ahp could not
    judge (design §10).

    `sys.argv` holds the hook's name and the process id of git; then what is baked into the shim: the id of the log, who
    installed it with the path of their policy (`asking.layer_by_hook`), and that of git; then git's own arguments. A
    `stale_bundle` is written anew at the end.
    """
    gc.disable()  # the process ends before a collection would find anything
    name, parent, genesis, known, program, *arguments = sys.argv[1:]
    actor = Actor("human")
    try:
        env = environ.current()
        patience.begin(name, env)
        actor = identify(env)
        repo = git.locate(posix.getcwd(), env, program)
        where = Workspace(repo.root, repo.ahp_dir, env, repo, genesis or None, asking.layer_by_hook(known))
        repo.unhashed = {}
        code = HOOKS[name].judge(Hook(name, parent, arguments, actor, repo, where))
        if stale_bundle:
            _renew(stale_bundle, repo.ahp_dir)
    except AhpError as error:
        from ahp.hosts.git.failure import refuse

        code = refuse(name, error, actor)
    except KeyboardInterrupt:
        code = 130
    except BaseException as error:  # noqa: BLE001  # whatever goes wrong, a person must learn of it and git must stop
        from ahp.hosts.git.failure import report

        code = report(name, error, actor)
    patience.end()
    if code == 1 and posix.environ.get(b"AHP_REFUSED") == b"11":
        code = 11  # the shim tells it from an interpreter that fails
    # Leaving without the interpreter's own clean-up saves a millisecond; nothing is buffered here.
    posix._exit(code)


def _renew(path: str, folder: str) -> None:
    """Writes the bundle anew, where there is none into the repository's ahp `folder`: it may have been moved since the
    hooks were made. Where that cannot be, the next hook is as slow as this one, and no less right.
    """
    from ahp.hosts import verdict_text
    from ahp.hosts.git import bundle, installation
    from ahp.system import files

    try:
        if not posix.access(path, posix.F_OK):
            path = folder + bundle.PLACE
            if bundle.is_fresh(files.read(path) or b""):
                return
        bundle.write(path, sys.executable, installation.import_paths())
    except AhpError as error:
        verdict_text.write(f"ahp: hooks are slower than they could be: {error}")

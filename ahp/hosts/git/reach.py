"""Whether git comes to our shims, as far as looking at its hooks tells; `probe` tries them."""

import os

from ahp.hosts.git import hook_managers, husky
from ahp.hosts.git.idle_hook import IDLE
from ahp.hosts.git.install import asked_folder
from ahp.system.git import Repository


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

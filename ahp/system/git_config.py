"""Which of git's settings cannot be set, told from the files themselves: to ask git starts a process.  [light]"""

import sys

from ahp.system import files
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.system.git import Repository

_LIMIT = 1 << 20
# Where the git of a Linux distribution has its settings; of another git this depends on how it was built.
_SYSTEM = {"/usr/bin/git": "/etc/gitconfig"}


def may_set(repo: "Repository", name: str) -> bool:
    """Whether a file that git reads for `repo` may set the key that ends in `name`; True where not all are known."""
    system, home = _SYSTEM.get(repo.git), repo.env.get("HOME")
    if system is None or not home or sys.platform != "linux":
        return True
    shared = repo.env.get("XDG_CONFIG_HOME") or f"{home}/.config"
    places = [f"{repo.common_dir}/config", f"{repo.git_dir}/config.worktree", system, f"{home}/.gitconfig"]
    wanted = name.lower().encode()
    try:
        for place in (*places, f"{shared}/git/config"):
            told = (files.read(place, _LIMIT) or b"").lower()
            if wanted in told or b"include" in told:
                return True
    except AhpError:  # too large, or no file: git has its own way with it
        return True
    return False

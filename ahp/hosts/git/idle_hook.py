"""commit-msg lies idle beside git's hooks until a commit has work for it: each hook costs a commit a process.  [light]

git looks commit-msg up when pre-commit has ended, so pre-commit puts it in its place in time. It is taken out again by
`ahp install git` only: work trees share their hooks, and another one's commit may be waiting for it.
"""

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.system.git import Repository

HOOK = "commit-msg"
IDLE = ".idle-ahp"


def wake(repo: "Repository") -> str:
    """Puts our commit-msg where git finds it; the path of another tool's that came there, else "". Raises OSError."""
    place = f"{repo.common_dir}/hooks/{HOOK}"
    try:
        ours = posix.stat(place + IDLE)
    except OSError:
        return ""  # installed for every commit, as where another hook runs through it
    try:
        there = posix.stat(place)
    except FileNotFoundError:
        _put(place)
        return ""
    return "" if (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino) else place


def _put(place: str) -> None:
    try:
        posix.link(place + IDLE, place)
    except FileExistsError:
        return  # the commit of another work tree has just put it there
    except OSError:  # a file system without hard links: from now on it is there for every commit
        posix.rename(place + IDLE, place)

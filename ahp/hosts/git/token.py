"""The word that pre-commit leaves for the later hooks of the same `git commit` (design §9).

One line, `PARENT HEAD MESSAGE AFTER ATTEMPT`: the process id of git, what HEAD named, whether commit-msg and
post-commit have work (`quiet` or `work`), and the name of this attempt in the log. The shims read it without starting
Python. No word, or another process's, means work.
"""

from ahp.system import files
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.system.git import Repository

_NAME = "/ahp-token"


class Token:
    """What the first hook of a commit knows about the later ones."""

    __slots__ = ("after", "attempt", "head", "message", "parent")

    def __init__(self, parent: str, head: str, message: bool, after: bool, attempt: str) -> None:
        self.parent, self.head, self.message, self.after, self.attempt = parent, head, message, after, attempt


def leave(repo: "Repository", parent: str, attempt: str, *, message: bool, after: bool) -> None:
    """Says whether commit-msg (`message`) and post-commit (`after`) have work. Raises AhpError when it cannot."""
    words = ["quiet", "work"]
    line = f"{parent} {_head(repo)} {words[message]} {words[after]} {attempt}\n"
    files.replace(repo.git_dir + _NAME, line.encode("utf-8", "surrogateescape"))


def find(repo: "Repository", parent: str) -> Token | None:
    """The token of this git process, None when there is none or it is another's."""
    data = files.read(repo.git_dir + _NAME, 4096)
    fields = (data or b"").decode("utf-8", "surrogateescape").split()
    if len(fields) != 5 or fields[0] != parent:
        return None
    return Token(parent, fields[1], fields[2] == "work", fields[3] == "work", fields[4])


def withdraw(repo: "Repository") -> None:
    """Takes the word back, so that nothing later relies on it."""
    try:
        files.replace(repo.git_dir + _NAME, b"")
    except AhpError:
        return  # a git directory that cannot be written holds no token of this run either


def _head(repo: "Repository") -> str:
    text = repo.head_text()
    return text[5:].strip() if text.startswith("ref: ") else text

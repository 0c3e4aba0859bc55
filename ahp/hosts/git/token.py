"""The token that one hook of a `git commit` leaves for the later ones (design §9).  [light]

Its first line is `PARENT HEAD MESSAGE AFTER ATTEMPT TREE`: the process id of git, what HEAD named, whether commit-msg
and post-commit have work (`quiet` or `work`), the name of this attempt in the log, and the tree that was judged. What
stands behind it is the rest of a longer one. The shims read it without starting Python. It saves work and lets nothing
pass: without it, with that of another process, and where the commit has another tree, the later hooks judge.

Where nobody types a message, pre-commit's shim may leave its own work to commit-msg, so that one start of Python does
both; MESSAGE is then `pre-commit` or `pre-merge-commit`. It does so only while `ahp-message` lies beside the token,
which says that the policy has rules for messages.
"""

import posix

from ahp.journal.index import LogFiles
from ahp.system import files, jsontext
from ahp.system.errors import AhpError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ahp.protocol.event import Event
    from ahp.system.git import Repository

_NAME = "/ahp-token"
_DEFER = "/ahp-message"
_INDEX = "/ahp-index."  # before the process id of git: the index that its shim listed, by a name of its own
_JUDGED = "/ahp-judged"  # that of the last commit that was let pass
_WORDS = ("quiet", "work")
_LOOKED_AT = 1 << 18  # bytes of the log: a few hundred records


class Token:
    """What an earlier hook of a commit knows: `deferred` is the trigger that it left to commit-msg, "" when none;
    `tree` what it judged, "-" where nothing tells.
    """

    __slots__ = ("attempt", "deferred", "tree")

    def __init__(self, deferred: str, attempt: str, tree: str = "-") -> None:
        self.deferred, self.attempt, self.tree = deferred, attempt, tree


def leave(repo: "Repository", parent: str, attempt: str, *, message: bool, after: bool, tree: str = "") -> None:
    """Says whether commit-msg (`message`) and post-commit (`after`) have work, and which `tree` was judged.

    Raises AhpError when it cannot.
    """
    listed = f"{repo.git_dir}{_INDEX}{parent}"
    try:
        posix.rename(listed, repo.git_dir + _JUDGED)
        posix.unlink(listed)  # it is still there where both were one file (rename(2))
    except OSError:
        pass  # it is gone; or the shim made none, and post-commit compares the trees
    line = f"{parent} {_head(repo)} {_WORDS[message]} {_WORDS[after]} {attempt} {tree or '-'}\n"
    files.overwrite(repo.git_dir + _NAME, line.encode("utf-8", "surrogateescape"), truncate=False)


def allow_deferring(repo: "Repository", allowed: bool) -> None:
    """Lets the next commit's pre-commit leave its work to commit-msg, or not. Raises AhpError when it cannot say so."""
    path = repo.git_dir + _DEFER
    if allowed != posix.access(path, posix.F_OK):
        try:
            if allowed:
                files.replace(path, b"")
            else:
                posix.unlink(path)
        except OSError as error:
            raise AhpError(f"cannot remove {path}: {error.strerror}") from None


def find(repo: "Repository", parent: str) -> Token | None:
    """The token of this git process, None when there is none or it is another's."""
    data = files.read(repo.git_dir + _NAME, 4096)
    fields = (data or b"").partition(b"\n")[0].decode("utf-8", "surrogateescape").split()
    if len(fields) != 6 or fields[0] != parent:
        return None
    return Token("" if fields[2] in _WORDS else fields[2], fields[4], fields[5])


def is_allowed(part: "Event", left: Token | None) -> bool:
    """Whether the log tells that the hook of `part` has just let this change pass, in this attempt where it is known.

    The token cannot tell that: two commits share one, and anybody may write it.
    """
    assert part.repo is not None and part.view is not None
    wanted = {"kind": "verdict", "hook": part.trigger, "host": part.host, "actor": str(part.actor)}
    wanted |= {"change": part.view.digest(), "head": part.repo.head_id(), "subject": part.subject}
    if left is not None:
        wanted["attempt"] = left.attempt
    for line in reversed((files.tail(LogFiles(part.journal, None).log_path, _LOOKED_AT) or b"").split(b"\n")):
        if b'"verdict"' in line and wanted["change"].encode() in line:
            try:
                found = jsontext.decode(line.decode())
            except ValueError:
                continue  # the beginning of what was read
            if isinstance(found, dict) and wanted.items() <= found.items():
                return found.get("decision") != "deny"
    return False


def withdraw(repo: "Repository") -> None:
    """Takes the token back, so that nothing later relies on it."""
    try:
        files.overwrite(repo.git_dir + _NAME, b"-\n", truncate=False)
    except AhpError:
        return  # a git directory that cannot be written holds no token of this run either


def _head(repo: "Repository") -> str:
    text = repo.head_text()
    return text[5:].strip() if text.startswith("ref: ") else text

"""The default branch of a repository, read from git's files where they tell, without starting a process.  [light]"""

import posix

from ahp.system import files
from ahp.system.git import DEFAULT_BRANCH, Repository

USUAL = ("main", "master", "trunk", "develop")
_REF_LIMIT = 1 << 16


def default_branch(repository: Repository, remote: str = "") -> str:
    """Short name of the default branch, "" when unknown. Raises GitError, AhpError.

    What the remote's HEAD was at the last clone or fetch (`remote`, else origin, else the only one); else what
    `ahp install git` found; else the first of `USUAL` that the remote or this repository has; else git's
    `init.defaultBranch`, if there is such a branch.
    """
    return remote_head(repository, remote) or installed(repository) or usual(repository, remote)


def default_branches(repository: Repository, remote: str = "") -> list[str]:
    """`default_branch`, and what `ahp install git` found where that is another one: anybody can write a remote's HEAD.

    Raises GitError, AhpError.
    """
    return [name for name in dict.fromkeys((default_branch(repository, remote), installed(repository))) if name]


def is_default(repository: Repository, name: str, remote: str = "") -> bool:
    """Whether `name` is the default branch, by the remote's HEAD or by what `ahp install git` found.

    Either suffices: a HEAD of the remote that is written by hand takes no protection away. Where nothing tells that
    HEAD, as in a clone of one branch, a usual name counts unless a branch of one that comes before it is here: the
    remote may have it. Raises GitError, AhpError.
    """
    if not name:
        return False
    head, noted = remote_head(repository, remote), installed(repository)
    if head or name == noted:
        return name in (head, noted)
    guess = noted or usual(repository, remote)
    before = USUAL[: USUAL.index(guess)] if guess in USUAL else USUAL if not guess else ()
    return name == guess or name in before


def installed(repository: Repository) -> str:
    """The default branch that `ahp install git` found, "" without one. Raises AhpError."""
    noted = files.read(repository.common_dir + DEFAULT_BRANCH, _REF_LIMIT) or b""
    return noted.decode("utf-8", "surrogateescape").removesuffix("\n")


def usual(repository: Repository, remote: str = "") -> str:
    """The first of the usual names that a branch of the remote or of this repository has. Raises GitError."""
    prefixes = [f"refs/remotes/{name}/" for name in _named(repository, remote)]
    for name in USUAL:
        if has_branch(repository, name) or any(repository.has_ref(prefix + name) for prefix in prefixes):
            return name
    configured = repository.config("init.defaultBranch")
    return configured if configured and has_branch(repository, configured) else ""


def has_branch(repository: Repository, name: str) -> bool:
    """Whether the branch exists, or is the one checked out before its first commit. Raises GitError."""
    return repository.branch() == name or repository.has_ref("refs/heads/" + name)


def remote_head(repository: Repository, remote: str) -> str:
    """The branch that the remote's HEAD named at the last clone or `git remote set-head`, "" when unknown."""
    for name in _named(repository, remote):
        prefix = f"refs/remotes/{name}/"
        text = files.read(f"{repository.common_dir}/{prefix}HEAD", _REF_LIMIT)
        if text is None and repository.has_tables():
            target = repository.line("symbolic-ref", "-q", prefix + "HEAD", ok=(0, 1, 128))
        else:
            target = (text or b"").decode("utf-8", "surrogateescape").removeprefix("ref: ").strip()
        if target.startswith(prefix):
            return target[len(prefix) :]
    return ""


def _named(repository: Repository, remote: str) -> list[str]:
    """The remotes to ask, in order. A push may name an address instead of a remote: nothing is known under that."""
    first = [remote] if remote and ":" not in remote and len(remote) < 200 else []
    return list(dict.fromkeys([*first, *remotes(repository)]))


def remotes(repository: Repository) -> list[str]:
    """The remote whose default branch counts: the only one, else origin."""
    try:
        names = posix.listdir(repository.common_dir + "/refs/remotes")
    except OSError:
        return ["origin"]
    return names if len(names) == 1 else ["origin"]

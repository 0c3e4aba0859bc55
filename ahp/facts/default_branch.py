"""The default branch of a repository, read from git's files where they tell, without starting a process."""

import posix

from ahp.system import files
from ahp.system.git import Repository

_REF_LIMIT = 1 << 16
_PACKED_LIMIT = 64 << 20


def default_branch(repository: Repository, remote: str = "") -> str:
    """Short name of the default branch, "" when unknown. Raises GitError.

    What the remote's HEAD was at the last clone or fetch (`remote`, else origin, else the only one); without a remote
    `main` or `master` if there is such a branch, then git's `init.defaultBranch`.
    """
    named = _remote_head(repository, remote)
    if named:
        return named
    for name in ("main", "master"):
        if has_branch(repository, name):
            return name
    configured = repository.config("init.defaultBranch")
    return configured if configured and has_branch(repository, configured) else ""


def has_branch(repository: Repository, name: str) -> bool:
    """Whether the branch exists, or is the one checked out before its first commit. Raises GitError."""
    if repository.branch() == name:
        return True
    ref = "refs/heads/" + name
    if files.read(f"{repository.common_dir}/{ref}", _REF_LIMIT) is not None:
        return True
    if files.read(repository.common_dir + "/reftable/tables.list", _REF_LIMIT) is not None:
        return repository.commit_id(ref) is not None
    packed = files.read(repository.common_dir + "/packed-refs", _PACKED_LIMIT) or b""
    return f" {ref}\n".encode() in packed


def _remote_head(repository: Repository, remote: str) -> str:
    # A push may name an address instead of a remote; there is nothing to look up under that.
    first = [remote] if remote and ":" not in remote and len(remote) < 200 else []
    for name in [*first, *remotes(repository)]:
        prefix = f"refs/remotes/{name}/"
        text = files.read(f"{repository.common_dir}/{prefix}HEAD", _REF_LIMIT)
        if text is None and files.read(repository.common_dir + "/reftable/tables.list", _REF_LIMIT) is not None:
            target = repository.line("symbolic-ref", "-q", prefix + "HEAD", ok=(0, 1, 128))
        else:
            target = (text or b"").decode("utf-8", "surrogateescape").removeprefix("ref: ").strip()
        if target.startswith(prefix):
            return target[len(prefix) :]
    return ""


def remotes(repository: Repository) -> list[str]:
    """The remote whose default branch counts: the only one, else origin."""
    try:
        names = posix.listdir(repository.common_dir + "/refs/remotes")
    except OSError:
        return ["origin"]
    return names if len(names) == 1 else ["origin"]

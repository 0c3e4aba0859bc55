"""Git LFS beside ahp: whether the hook is there that brings the content of its files to the remote.

`git lfs install` puts no hook where another one is, so in a clone where ahp came first it is missing unless somebody
asks for it; git then pushes pointers to content that nobody else has.
"""

import os

from ahp.hosts.git import hook_managers, husky
from ahp.hosts.git.install import asked_folder
from ahp.hosts.table import Check
from ahp.system import files
from ahp.system.git import Repository
from ahp.system.view import names

HOOK = "pre-push"
MEND = "git lfs update --force && ahp install git"
_FILTER = b"filter=lfs"
_CALLS = (b"git lfs pre-push", b"git-lfs pre-push")
_LIMIT = 1 << 20


def check(repo: Repository) -> Check:
    """Whether git comes to the hook of Git LFS. Raises AhpError."""
    if _is_called(repo, asked_folder(repo)):
        return Check("git-lfs", "ok", "its hook pre-push is reached")
    return Check("git-lfs", "wrong", "its hook pre-push is missing, so the content of its files is not pushed", MEND)


def warning(repo: Repository) -> str:
    """What a push has to say, as far as the attributes at the top tell; "" where all is well. Raises AhpError."""
    found = check(repo) if is_used(repo) else None
    return f"git-lfs: {found.detail}; fix: {MEND}" if found and found.mend else ""


def is_used(repo: Repository, everywhere: bool = False) -> bool:
    """Whether an attribute, of the top or of `everywhere`, gives files to Git LFS, and it is set up here.

    Raises AhpError.
    """
    paths = [f"{repo.root}/.gitattributes", f"{repo.common_dir}/info/attributes"]
    if everywhere:
        listed = names(repo.run("ls-files", "-z", "--", ".gitattributes", "*/.gitattributes"))
        paths += [f"{repo.root}/{path}" for path in listed]
    return any(_FILTER in _text(path) for path in paths) and bool(
        repo.config("filter.lfs.process") or repo.config("filter.lfs.clean")
    )


def _is_called(repo: Repository, folder: str) -> bool:
    """Whether a hook calls Git LFS; lefthook does by itself."""
    places = [f"{folder}/{HOOK}{ending}" for ending in ("", hook_managers.KEPT, hook_managers.CHAINED)]
    if husky.is_active(folder):
        places.append(f"{husky.folder_of(repo.root, folder)}/{HOOK}")
    found = [place for place in places if os.access(place, os.X_OK) or husky.is_active(folder)]
    return any(hook_managers.owner(one) == "lefthook" or any(call in _text(one) for call in _CALLS) for one in found)


def _text(path: str) -> bytes:
    return (files.read(path, _LIMIT) or b"") if os.path.isfile(path) else b""

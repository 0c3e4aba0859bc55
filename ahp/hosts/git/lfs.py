"""Git LFS beside ahp: whether the hooks are there that bring the content of its files to the remote.

`git lfs install` puts no hook where another one is, so in a clone where ahp came first they are missing unless somebody
asks for them; git then pushes pointers to content that nobody else has.
"""

import os

from ahp.hosts.git import hook_managers, husky
from ahp.hosts.git.install import asked_folder
from ahp.hosts.table import Check
from ahp.system import files
from ahp.system.git import Repository
from ahp.system.view import names

PUSH = "pre-push"
HOOKS = (PUSH, "post-checkout", "post-commit", "post-merge")  # git-lfs(1), `git lfs update`
MEND = "git lfs update --force && ahp install git"
_FILTER = b"filter=lfs"
_CALLS = (b"git lfs %s", b"git-lfs %s")
_LIMIT = 1 << 20


def check(repo: Repository) -> Check:
    """Whether Git LFS has its hooks. Raises AhpError."""
    name = "git-lfs"
    missing = _missing(repo)
    if not missing:
        return Check(name, "ok", "its hooks are reached")
    told = f"its hooks {', '.join(missing)} are missing" if len(missing) > 1 else f"its hook {missing[0]} is missing"
    if PUSH not in missing:
        return Check(name, "note", told, MEND)
    return Check(name, "wrong", f"{told}, so a push does not bring the content of its files", MEND)


def warning(repo: Repository) -> str:
    """What a push has to say, as far as the attributes at the top tell; "" where all is well. Raises AhpError."""
    if not is_used(repo) or PUSH not in _missing(repo):
        return ""
    return f"the pre-push hook of git-lfs is missing, so the content of its files is not pushed; fix: {MEND}"


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


def _missing(repo: Repository) -> list[str]:
    folder = asked_folder(repo)
    return [hook for hook in HOOKS if not _is_called(repo, folder, hook)]


def _is_called(repo: Repository, folder: str, hook: str) -> bool:
    """Whether git comes to Git LFS by its hook `hook`; lefthook calls it by itself."""
    places = [f"{folder}/{hook}{ending}" for ending in ("", hook_managers.KEPT, hook_managers.CHAINED)]
    if husky.is_active(folder):
        places.append(f"{husky.folder_of(repo.root, folder)}/{hook}")
    found = [place for place in places if os.access(place, os.X_OK) or husky.is_active(folder)]
    calls = [call % hook.encode() for call in _CALLS]
    texts = [_text(place) for place in found if hook_managers.owner(place) != "lefthook"]
    return len(texts) < len(found) or any(call in text for call in calls for text in texts)


def _text(path: str) -> bytes:
    return (files.read(path, _LIMIT) or b"") if os.path.isfile(path) else b""

"""Changes in a partial clone (git-clone, --filter): told as far as what is here tells them, for nothing is fetched."""

import shlex
from collections.abc import Iterable, Sequence
from typing import Protocol

from ahp.system import change as changes
from ahp.system.errors import Unknown
from ahp.system.git import GitError, Repository

WHOLE = "git fetch --refetch --no-filter"
"""Makes a partial clone a whole one: without the second option git asks by the filter that it was cloned with."""

_PROMISORS = r"^(extensions\.partialclone|remote\..*\.promisor)$"
_PATHS_AT_ONCE = 1000


class Told(Protocol):
    """git's comparison of two states under some options, of all or of some paths (`View._told`)."""

    def __call__(self, *options: str, paths: Sequence[str] = ...) -> bytes: ...


def is_one(repo: Repository) -> bool:
    """Whether a remote has promised objects that are not here. Raises GitError."""
    if not any(repo.may_set(key) for key in ("partialclone", "promisor")):
        return False
    return bool(repo.run("config", "--get-regexp", _PROMISORS, ok=(0, 1)))


def present(repo: Repository, oids: Iterable[str]) -> set[str]:
    """Those of the objects that are here. Raises GitError."""
    asked = "".join(f"{oid}\n" for oid in dict.fromkeys(oids)).encode()
    options = ("--no-walk", "--objects", "--ignore-missing", "--missing=allow-any", "--stdin")
    return {line.split(" ")[0] for line in repo.run("rev-list", *options, stdin=asked).decode().splitlines()}


def lacks(repo: Repository, name: str) -> bool:
    """Whether git knows of the object `name` (`REV:PATH`, `:PATH` of the index, an id), and it is not here.

    git 2.45 and newer, told to fetch nothing, call it missing as they do what there never was. Raises GitError.
    """
    if not is_one(repo):
        return False
    revision, colon, path = name.partition(":")
    if not colon or not revision:
        return bool(repo.run("rev-parse", "-q", "--verify", "--end-of-options", name, ok=(0, 1, 128)))
    try:
        return bool(repo.run("--literal-pathspecs", "ls-tree", "-z", "--full-tree", revision, "--", path))
    except GitError:
        return True  # a tree on the way to it


def lacks_trees(repo: Repository, commits: Iterable[str]) -> bool:
    """Whether the tree of one of the commits is not here. Raises GitError."""
    if not is_one(repo):
        return False
    asked = "".join(f"{commit}^{{tree}}\n" for commit in commits).encode()
    return b" missing\n" in repo.run("cat-file", "--batch-check=%(objectname)", stdin=asked)


def not_here(name: str) -> Unknown:
    """Why the object `name` cannot be read, and how to get it."""
    return Unknown(f"{name} is not in this partial clone", f"git cat-file -s {shlex.quote(name)}")


def change(repo: Repository, told: Told, raw: tuple[str, ...]) -> changes.Change:
    """The change with lines counted, and renamed files looked for, where both versions are here. Raises GitError.

    `raw` are the options by which a whole clone is asked.
    """
    # A file that only has another name is found by its id: nothing is opened.
    names = [option for option in raw if option not in ("--numstat", "-M")]
    listed = changes.parse(told(*names, "-M100%")).entries
    here = present(repo, [oid for entry in listed for oid in _contents(entry)])
    lacking = [entry for entry in listed if not here.issuperset(_contents(entry))]
    known = {path for entry in listed if entry not in lacking for path in (entry.path, entry.old_path) if path}
    paths = sorted(known - {path for entry in lacking for path in (entry.path, entry.old_path) if path})
    found = list(lacking)
    for start in range(0, len(paths), _PATHS_AT_ONCE):
        found += changes.parse(told(*raw, paths=paths[start : start + _PATHS_AT_ONCE])).entries
    return changes.Change(sorted(found, key=lambda entry: entry.path), frozenset(entry.path for entry in lacking))


def _contents(entry: changes.FileChange) -> list[str]:
    """The ids of the blobs before and after; a submodule's commit is none, nor an edited file of the work tree."""
    sides = ((entry.old_mode, entry.old_oid), (entry.new_mode, entry.new_oid))
    return [oid for mode, oid in sides if mode not in (0, changes.SUBMODULE) and oid.strip("0")]

"""A digest of files as they lie in the work tree: what tells whether evidence was made from what is there now."""

import os
import stat
from collections.abc import Callable, Collection
from hashlib import sha256

from ahp.system import digest
from ahp.system.git import Repository
from ahp.system.view import names

_FILE_LIMIT = 64 << 20  # bytes; of a larger file that git has not hashed yet, size and time stand for the content


def of(repository: Repository, told: str, matches: Callable[[str], object], more: Collection[str] = ()) -> str:
    """SHA-256 in hex of `told` and of path and content of every file that git tracks or would track and `matches`.

    `more` are further paths, relative to the root, that count although git ignores them. Staging and committing a file
    changes nothing, deleting it does. Raises GitError.
    """
    found = sha256(told.encode("utf-8", "surrogateescape"))
    for path, content in sorted(state(repository).contents(matches, more).items()):
        found.update(os.fsencode(f"{path}\0{content}\0"))
    return found.hexdigest()


class State:
    """The work tree as `git status` sees it: what is in the index, and which paths lie there otherwise.

    `changed` are the paths that differ from HEAD, staged or not, with untracked and deleted ones.
    """

    def __init__(self, repository: Repository, known: dict[str, str], edited: set[str], changed: set[str]) -> None:
        self._repository, self._known, self._edited, self.changed = repository, known, edited, changed

    def paths(self) -> list[str]:
        """Every file that git tracks or would track, also one that is not there any more."""
        return sorted(self._known.keys() | self._edited)

    def contents(self, matches: Callable[[str], object], more: Collection[str] = ()) -> dict[str, str]:
        """Mode and object id, as git would store it, of each file as it lies in the work tree. Raises GitError.

        A submodule has the commit that it is at, a repository inside its size and time.
        """

        def counts(path: str) -> object:
            return path in more or matches(path)

        kept = {path: content for path, content in self._known.items() if path not in self._edited and counts(path)}
        return kept | _hashed(self._repository, [path for path in self._edited.union(more) if counts(path)])


def state(repository: Repository, untracked: str = "all") -> State:
    """The state of the work tree now; `untracked`: all or no. Raises GitError."""
    # `status` looks into files whose time alone is new; without locks it does not write the index.
    listed = repository.run("status", "--porcelain", "-z", "--no-renames", f"--untracked-files={untracked}")
    entries = names(listed)
    edited = {entry[3:] for entry in entries if entry[1] != " "}
    known = {}
    for item in names(repository.run("ls-files", "--stage", "-v", "-z")):
        words, _, path = item.partition("\t")
        tag, mode, oid, _ = words.split(" ")
        known[path] = f"{mode} {oid}"
        if tag != "H" and os.path.lexists(f"{repository.root}/{path}"):
            edited.add(path)  # assume-unchanged or skip-worktree (git-update-index): status does not look at it
    return State(repository, known, edited, edited | {entry[3:] for entry in entries})


def _hashed(repository: Repository, paths: list[str]) -> dict[str, str]:
    """Mode and object id of each path that exists, as git would store it."""
    found, plain, length = {}, {}, len(repository.empty_tree()) if paths else 0
    for path in paths:
        place = f"{repository.root}/{path}"
        try:
            status = os.lstat(place)
        except OSError:
            continue
        if stat.S_ISLNK(status.st_mode):
            found[path] = f"120000 {digest.object_id(b'blob', os.fsencode(os.readlink(place)), length)}"
        elif stat.S_ISREG(status.st_mode) and status.st_size <= _FILE_LIMIT and os.access(place, os.R_OK):
            plain[path] = "100755" if status.st_mode & stat.S_IXUSR else "100644"
        else:
            found[path] = f"{status.st_size} {status.st_mtime_ns}"
    quoted = "".join(
        ['"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"\n' for path in plain]
    )
    ids = repository.run("hash-object", "--stdin-paths", stdin=os.fsencode(quoted)).decode().split() if plain else []
    return {**found, **{path: f"{mode} {id}" for (path, mode), id in zip(plain.items(), ids, strict=True)}}

"""A digest of files as they lie in the work tree: what tells whether evidence was made from what is there now."""

import os
import stat
from collections.abc import Callable, Collection
from hashlib import sha1, sha256

from ahp.system.git import Repository

_FILE_LIMIT = 64 << 20  # bytes; of a larger file that git has not hashed yet, size and time stand for the content


def of(repository: Repository, told: str, matches: Callable[[str], object], more: Collection[str] = ()) -> str:
    """SHA-256 in hex of `told` and of path and content of every file that git tracks or would track and `matches`.

    `more` are further paths, relative to the root, that count although git ignores them. Staging and committing a file
    changes nothing, deleting it does. Raises GitError.
    """
    digest = sha256(told.encode("utf-8", "surrogateescape"))
    for path, content in sorted(contents(repository, matches, more).items()):
        digest.update(os.fsencode(f"{path}\0{content}\0"))
    return digest.hexdigest()


def contents(
    repository: Repository, matches: Callable[[str], object], more: Collection[str] = (), untracked: str = "all"
) -> dict[str, str]:
    """Mode and object id, as git would store it, of each file as it lies in the work tree; `untracked`: all or no.

    Raises GitError.
    """
    # `status` looks into files whose time alone is new; without locks it does not write the index.
    listed = repository.run(
        *("--no-optional-locks", "status", "--porcelain", "-z", "--no-renames", f"--untracked-files={untracked}")
    )
    edited = {entry[3:] for entry in _names(listed) if entry[1] != " "}
    known = {}
    for item in _names(repository.run("ls-files", "--stage", "-z")):
        words, _, path = item.partition("\t")
        if path not in edited and (path in more or matches(path)):
            known[path] = words[:-2]  # mode and object id, without the stage
    return known | _hashed(repository, [path for path in edited.union(more) if path in more or matches(path)])


def _hashed(repository: Repository, paths: list[str]) -> dict[str, str]:
    """Mode and object id of each path that exists, as git would store it."""
    found, plain, length = {}, {}, len(repository.empty_tree())
    for path in paths:
        place = f"{repository.root}/{path}"
        try:
            status = os.lstat(place)
        except OSError:
            continue
        if stat.S_ISLNK(status.st_mode):
            found[path] = f"120000 {_blob_id(os.fsencode(os.readlink(place)), length)}"
        elif stat.S_ISREG(status.st_mode) and status.st_size <= _FILE_LIMIT and os.access(place, os.R_OK):
            plain[path] = "100755" if status.st_mode & stat.S_IXUSR else "100644"
        else:
            found[path] = f"{status.st_size} {status.st_mtime_ns}"
    quoted = "".join(
        ['"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"\n' for path in plain]
    )
    ids = repository.run("hash-object", "--stdin-paths", stdin=os.fsencode(quoted)).decode().split() if plain else []
    return {**found, **{path: f"{mode} {id}" for (path, mode), id in zip(plain.items(), ids, strict=True)}}


def _blob_id(content: bytes, length: int) -> str:
    """The id of a blob in a repository whose ids have `length` hex digits."""
    return (sha256 if length == 64 else sha1)(b"blob %d\0" % len(content) + content).hexdigest()


def _names(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").split("\0")[:-1]

"""The files of a step that ran beside others, joined with what the project holds by now, and what does not fit."""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable

from ahp.runner.parallel.checkouts import Checkouts
from ahp.system.change import EXECUTABLE, LINK, SUBMODULE
from ahp.system.errors import AhpError
from ahp.system.trees import Changed

_ROUNDS = 5  # of merging anew, because somebody changed a file at that moment


class Conflict(AhpError):
    """Changes that cannot be joined; `paths` are the files."""

    def __init__(self, paths: list[str], why: str) -> None:
        super().__init__(why)
        self.paths = paths


def merge(
    checkouts: Checkouts, base: str, theirs: str, begin: Callable[[str, str, list[str]], object] = lambda *_: None
) -> list[str]:
    """Joins the tree `theirs`, which began as `base`, with the project's files: the paths that change.

    HEAD and index stay as they are. `begin(ours, merged, paths)` hears of it before the first file is written: with
    that, one that was killed can be carried to its end. Raises Conflict, AhpError.
    """
    store, stale = checkouts.store, set[str]()
    nested = [one.path for one in store.changed(base, theirs) if one.mode == SUBMODULE]
    if nested:
        raise Conflict(nested, "it made git repositories inside the project, which cannot be merged")
    for _ in range(_ROUNDS):
        ours = checkouts.now()
        merged, conflicts = store.merge(base, ours, theirs)
        if conflicts:
            raise Conflict(conflicts, "other steps, or somebody else, changed the same lines")
        changes = store.changed(ours, merged)
        paths = [one.path for one in changes]
        begin(ours, merged, paths)
        stale = _stale(checkouts, changes) if changes else set()
        if not stale:
            _write(checkouts, merged, changes)
            return paths
    why = "a file that git ignores is in the way, or they are being changed all the time"
    raise Conflict(sorted(stale), why)


def _stale(checkouts: Checkouts, changes: list[Changed]) -> set[str]:
    """Of the files that change those that are not what they were when the merge was worked out."""
    stale = checkouts.store.stale("project") & {one.path for one in changes}
    # What is in the way of a new file came up since, or git ignores it and nobody has a copy.
    gone = {one.path for one in changes if not one.mode}
    return stale | {one.path for one in changes if not one.old_mode and _in_the_way(checkouts.root, one.path, gone)}


def _write(checkouts: Checkouts, merged: str, changes: list[Changed]) -> None:
    """Writes what a merge was worked out to. Raises AhpError where a file cannot be written."""
    root, store = checkouts.root, checkouts.store
    staged = tempfile.mkdtemp(prefix="written-", dir=store.folder)
    try:
        store.write_out(merged, [one.path for one in changes if one.mode], staged)
        for one in changes:
            if one.old_mode and _kind(one.mode) != _kind(one.old_mode):
                _remove(root, one.path)
        for one in changes:
            if one.mode:
                _put(staged, root, one)
    except OSError as error:
        raise AhpError(f"the files of a step cannot be written: {error.filename}: {error.strerror}") from error
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _in_the_way(root: str, path: str, gone: set[str]) -> bool:
    """Whether something is at `path`, or in the folder there, that is not among the files that go."""
    place = os.path.join(root, path)
    if os.path.islink(place) or not os.path.isdir(place):
        return os.path.lexists(place)
    found = [os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(place) for name in names]
    return not gone.issuperset(found)


def _kind(mode: int) -> int:
    return mode & 0o170000


def _remove(root: str, path: str) -> None:
    """Removes a file and the folders that it leaves empty."""
    place = os.path.join(root, path)
    if os.path.lexists(place):
        os.unlink(place)
    folder = os.path.dirname(path)
    while folder:
        try:
            os.rmdir(os.path.join(root, folder))
        except OSError:  # there is something else in it
            return
        folder = os.path.dirname(folder)


def _put(staged: str, root: str, one: Changed) -> None:
    """Puts one file in its place: who reads it meanwhile sees the old bytes or the new ones."""
    place = os.path.join(root, one.path)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    if os.path.realpath(os.path.dirname(place)) != os.path.join(
        os.path.realpath(root), os.path.dirname(one.path)
    ).rstrip("/"):
        raise AhpError(f"{one.path}: a link has taken the place of its folder")
    source = os.path.join(staged, one.path)
    if one.mode != LINK:
        os.chmod(source, _mode(place, source, one.mode))
    try:
        os.replace(source, place)
    except OSError as error:
        if error.errno != errno.EXDEV:  # the git directory lies on another disk
            raise
        temporary = f"{place}.{os.path.basename(staged)}.tmp"
        shutil.copy2(source, temporary, follow_symlinks=False)
        os.replace(temporary, place)


def _mode(place: str, source: str, mode: int) -> int:
    """The permissions that a file has already, as far as git does not say otherwise."""
    new = os.stat(source).st_mode & 0o777
    if not os.path.isfile(place) or os.path.islink(place):
        return new
    kept = os.stat(place).st_mode & 0o777
    return kept | (new & 0o111) if mode == EXECUTABLE else kept & ~0o111

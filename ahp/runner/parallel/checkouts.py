"""Linked work trees for steps that run beside each other: each begins as the project lies there, whatever is committed.

They lie in a temporary folder, not in the project and not in `.git`, where test runners would not look for tests.
"""

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ahp.system import environ, git, trees
from ahp.system.change import EXECUTABLE, LINK, SUBMODULE
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.trees import TreeStore
from ahp.system.view import names

PREFIX = "ahp-steps-"
_INSTALLED = ("node_modules", "vendor")  # folders that hold what a project depends on
_VENV = "pyvenv.cfg"  # is in every virtual environment of Python (PEP 405)
_LARGEST = 1 << 20  # bytes of an ignored file that is copied
_MOST = 200  # of them


@dataclass
class Checkout:
    """The linked work tree of one step: the folder, and what is there but is never merged, since git ignores it."""

    folder: str
    repo: Repository
    index: str
    extra: list[str] = field(default_factory=list)


class Checkouts:
    """The checkouts of one run of the project at `root`; `kept` is where their trees outlive a kill.

    Raises AhpError where steps cannot work beside each other: outside of git, before the first commit, below the top of
    a work tree, with submodules, in a sparse checkout, with filters of its own, with an old git.
    """

    def __init__(self, root: str, kept: str) -> None:
        self.root = root
        self._repo = git.discover(root, environ.scrubbed(environ.current()))
        if not self._repo.root or self._repo.commit_id("HEAD") is None:
            raise AhpError("there is no commit yet that a work tree could be linked to")
        if os.path.realpath(root) != os.path.realpath(self._repo.root):
            raise AhpError(f"the run works below {self._repo.root}, and a work tree can be linked only as a whole")
        if self._repo.config("core.sparseCheckout") == "true":
            raise AhpError("it is a sparse checkout, and what a step adds outside of that could not be taken")
        if any(key.startswith("filter.") and not value for key, value in self._repo.drivers().items()):
            raise AhpError("filters of its own .git/config are not run; set them with git config --global")
        self.store = TreeStore(self._repo, kept)
        if self.store.submodules(self.now()):
            raise AhpError("it has submodules, which a linked work tree would not have")
        # Made when it is needed: by then the events name it, so that nothing is left of a kill.
        self.folder = os.path.join(os.path.realpath(tempfile.gettempdir()), PREFIX + secrets.token_hex(8))
        self._made = 0
        self._ignored: list[str] | None = None

    def now(self) -> str:
        """The tree of the project's files as they lie there now."""
        return self.store.take(self._repo, "project")

    def place(self) -> str:
        """The folder of the next checkout; nothing is made."""
        self._made += 1
        return f"{self.folder}/{self._made}"

    def fill(self, tree: str, place: str) -> Checkout:
        """A checkout at `place`, which `place()` gave, with the files of `tree` and what is installed in the project.

        Raises AhpError.
        """
        index = os.path.basename(place)
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        if not _is_ours(self.folder):
            raise AhpError(f"{self.folder} is somebody else's")
        repo = self.store.check_out(tree, place, index)
        made = Checkout(place, repo, index)
        for path in self._ignored_paths():
            self._bring(path, made)
        return made

    def tree(self, checkout: Checkout) -> str:
        """The tree of a checkout's files as they lie there now. Raises AhpError."""
        return self.store.take(checkout.repo, checkout.index, checkout.extra)

    def left_at(self, place: str, known: str) -> str:
        """The tree of a checkout that a killed run left; `known` where it is not there any more. Raises AhpError."""
        if not _is_ours(os.path.dirname(place)) or not os.path.isdir(place):
            return known
        return self.store.take(git.discover(place, self._repo.env), "left", self._ignored_paths())

    def remove(self, place: str) -> None:
        """Removes the checkout at `place`, also one of a killed run, and what git knows of it."""
        folder = os.path.dirname(place)
        if os.path.basename(folder).startswith(PREFIX):
            trees.forget(self._repo, place)
        if _is_ours(folder):
            shutil.rmtree(place, ignore_errors=True)

    def close(self, *, keep: bool) -> None:
        """Removes all that is left; with `keep` not the trees, which who resumes the run needs."""
        remove_all(self.root, [self.folder])
        if not keep:
            shutil.rmtree(self.store.folder, ignore_errors=True)

    def _ignored_paths(self) -> list[str]:
        """What git ignores and a step needs all the same: installed packages, and small files such as settings."""
        if self._ignored is None:
            listed = [(name, os.path.join(self.root, name)) for name in _ignored(self._repo)]
            folders = [name.rstrip("/") for name, place in listed if name.endswith("/") and _is_installed(place[:-1])]
            files = [name for name, place in listed if not name.endswith("/") and _is_small(place)]
            self._ignored = [*folders, *files[:_MOST]]
        return self._ignored

    def _bring(self, path: str, checkout: Checkout) -> None:
        """Links an ignored folder, which may be large, and copies an ignored file, which a step may change."""
        there, here = os.path.join(self.root, path), os.path.join(checkout.folder, path)
        if os.path.lexists(here):
            return
        try:
            os.makedirs(os.path.dirname(here), exist_ok=True)
            if os.path.isdir(there):
                os.symlink(there, here)
            else:
                shutil.copy2(there, here)
        except OSError as error:
            raise AhpError(f"{path} cannot be brought into a checkout: {error.strerror}") from None
        checkout.extra.append(path)


def _is_installed(folder: str) -> bool:
    return os.path.basename(folder) in _INSTALLED or os.path.isfile(os.path.join(folder, _VENV))


def _is_small(place: str) -> bool:
    return os.path.isfile(place) and not os.path.islink(place) and os.path.getsize(place) <= _LARGEST


def _ignored(repo: Repository) -> list[str]:
    """What git ignores in a work tree; a folder that it ignores as a whole ends with a slash."""
    asked = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    return names(repo.run(*asked))


def remove_all(root: str, folders: Iterable[str]) -> None:
    """Removes what runs of the project at `root` have left in these folders, which checkouts were in."""
    for folder in filter(_is_ours, folders):
        repo = git.discover(root, environ.scrubbed(environ.current()))
        for name in os.listdir(folder):
            trees.forget(repo, os.path.join(folder, name))
        shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: str) -> bool:
    """Whether a folder that some events name is one that a run made: what is there is removed."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    named = os.path.basename(folder).startswith(PREFIX)
    return named and stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


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
    store, paths = checkouts.store, list[str]()
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
        kept = {one.path: _permissions(checkouts.root, one.path) for one in changes}
        gone = {one.path for one in changes if not one.mode}
        # What is in the way of a new file came up since, or git ignores it and nobody has a copy.
        blocked = any(not one.old_mode and _in_the_way(checkouts.root, one.path, gone) for one in changes)
        if not changes or (not blocked and store.update(ours, merged)):
            for one in changes:
                _keep(os.path.join(checkouts.root, one.path), kept[one.path], one.mode)
            return paths
    why = "a file that git ignores is in the way, or they are being changed all the time"
    raise Conflict(paths, why)


def _in_the_way(root: str, path: str, gone: set[str]) -> bool:
    """Whether something is at `path`, or in the folder there, that is not among the files that go."""
    place = os.path.join(root, path)
    if os.path.islink(place) or not os.path.isdir(place):
        return os.path.lexists(place)
    found = [os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(place) for name in names]
    return not gone.issuperset(found)


def _permissions(root: str, path: str) -> int | None:
    place = os.path.join(root, path)
    return os.stat(place).st_mode & 0o777 if os.path.isfile(place) and not os.path.islink(place) else None


def _keep(place: str, kept: int | None, mode: int) -> None:
    """Gives a file the permissions that it had, as far as git does not say otherwise."""
    if kept is not None and mode and mode != LINK and os.path.isfile(place):
        new = os.stat(place).st_mode & 0o111
        os.chmod(place, kept | new if mode == EXECUTABLE else kept & ~0o111)

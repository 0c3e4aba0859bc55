"""The files of a project as they lie there now: what checks are found in, and what remembered results hang on."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from ahp.facts import tree_digest
from ahp.hosts.asking import around
from ahp.runner.tools import project_files
from ahp.system import digest, environ, files, git
from ahp.system.change import SUBMODULE
from ahp.system.errors import AhpError
from ahp.system.git import Repository
from ahp.system.view import names
from ahp.system.worktree import WorkTreeView

_DEEPEST = 6  # folders down to a manifest
_READ = 512 << 10  # bytes of a manifest
_WITH_ID = 40  # characters of mode and object id; those of size and time are fewer
_LINK = "120000 "  # the mode of a symbolic link
# What lies in these is other people's code, made by tools, or made to be looked at by tests.
_LISTED = (
    "node_modules vendor third_party testdata fixtures __fixtures__ .venv venv env site-packages dist build "
    "target .git .tox .nox __pycache__"
)
_NOT_OURS = frozenset(_LISTED.split())
# What interpreters and tools keep of files that are looked at anyway.
DERIVED = (".pyc", ".pyo", ".tsbuildinfo")


class Project:
    """The files below `root` that git tracks or would track, all files where there is no repository.

    `changed` are the paths that differ from HEAD, and from the commit `since` where one is given, but for those in
    folders of other people's code, such as `.venv`. `repository` is the one that holds `root`, if that is known.
    """

    def __init__(self, root: str, since: str = "", repository: Repository | None = None) -> None:
        self.root = os.path.abspath(root)
        self._base = since or "HEAD"
        self.changed: set[str] = set()
        found = repository or around(self.root).repo
        self.repository = found if found and found.root else None
        self._state: tree_digest.State | None = None
        self.prefix = ""
        if self.repository is None:
            paths = project_files.listed(self.root, ".")
        else:
            top = os.path.relpath(os.path.realpath(self.root), os.path.realpath(self.repository.root))
            self.prefix = "" if top == "." else f"{top}/"
            self._state = tree_digest.state(self.repository)
            paths = self._below(self._state.paths())
            changed = self._below([*self._state.changed, *_since(self.repository, since)])
            self.changed = set(filter(ours, changed))
        self._known = frozenset(paths)
        # Names by folder, "." for the root, and folders by name; without other people's code.
        self._folders: dict[str, list[str]] = {}
        self._named: dict[str, list[str]] = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            if ours(folder):
                self._folders.setdefault(folder or ".", []).append(name)
                self._named.setdefault(name, []).append(folder or ".")
        self._texts: dict[str, str] = {}

    def _below(self, paths: list[str]) -> list[str]:
        long = len(self.prefix)
        return [path[long:] for path in paths if path.startswith(self.prefix)] if long else paths

    def has(self, path: str) -> bool:
        """Whether this is one of the paths."""
        return path in self._known

    def has_moved(self, module: str) -> bool:
        """Whether the change makes or deletes a file of a module, by its name or that of its folder."""
        names = {module, f"{module}.py"}
        named = [path for path in self.changed if not names.isdisjoint(path.split("/"))]
        return any(not self.there(path) or not self.before(path) for path in named)

    def text(self, path: str) -> str:
        """What stands in a file, "" where there is none that could be read."""
        if path not in self._texts:
            try:
                data = files.read(os.path.join(self.root, path), _READ) if path in self._known else None
            except AhpError:
                data = None
            self._texts[path] = (data or b"").decode("utf-8", "replace")
        return self._texts[path]

    @cached_property
    def has_before(self) -> bool:
        """Whether there is a commit that the change can be held against."""
        if self.repository is None:
            return False
        return bool(self.repository.run("rev-parse", "-q", "--verify", f"{self._base}^{{commit}}", ok=(0, 1, 128)))

    def before(self, path: str) -> str:
        """What stood in a file before the change, "" where it was not there."""
        if self.repository is None:
            return ""
        shown = self.repository.run("cat-file", "blob", f"{self._base}:{self.prefix}{path}", ok=(0, 128))
        return shown[:_READ].decode("utf-8", "replace")

    def folders_with(self, *names: str) -> list[str]:
        """The folders that hold a file of one of these names, upper ones first; "." is the root."""
        found = {
            folder
            for name in names
            for folder in self._named.get(name, ())
            if (folder == "." or folder.count("/") < _DEEPEST) and self.there(joined(folder, name))
        }
        return upper_first(found)

    def folders_where(self, matches: Callable[[str], object]) -> list[str]:
        """The folders that hold a file whose name `matches`, upper ones first."""
        return self.folders_with(*filter(matches, self._named))

    def names(self, folder: str) -> list[str]:
        """The names of the files in a folder."""
        return self._folders.get(folder, [])

    def below(self, directory: str) -> list[str]:
        """The paths below a folder, relative to it, without those of other people's code."""
        above = "" if directory == "." else f"{directory}/"
        return [
            joined(folder, name).removeprefix(above)
            for folder, names in self._folders.items()
            if f"{folder}/".startswith(above)
            for name in names
        ]

    def there(self, path: str) -> bool:
        """Whether a file of the index is also on the disk."""
        return os.path.lexists(os.path.join(self.root, path))

    def digest(self) -> str | None:
        """SHA-256 of path and content of every file of the repository.

        None where it cannot be told: without a repository, with changes inside of a repository in it, with a link that
        leads elsewhere.
        """
        if self._state is None or self.repository is None:
            return None
        contents = self._state.contents(lambda path: not path.endswith(DERIVED))
        top = os.path.realpath(self.repository.root)
        for path, content in contents.items():
            # A folder with a git of its own, a pipe, or a file so large that only size and time count.
            if len(content) < _WITH_ID or (content.startswith(_LINK) and not _leads_into(top, path)):
                return None
        return _digest(contents)

    def ignored(self, paths: Iterable[str]) -> set[str]:
        """Those of these paths that git ignores."""
        if self.repository is None:
            return set()
        asked = "".join(f"{self.prefix}{path}\0" for path in paths).encode("utf-8", "surrogatepass")
        return set(
            self._below(names(self.repository.run("check-ignore", "-z", "--stdin", stdin=asked, ok=(0, 1, 128))))
        )

    def ignored_digest(self) -> str:
        """SHA-256 of the files that git ignores, such as local settings, outside of folders that it ignores."""
        assert self.repository is not None and self._state is not None
        listed = self.repository.run(
            *("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--no-empty-directory")
        )
        paths = [path for path in names(listed) if not path.endswith(("/", *DERIVED)) and ours(path)]
        return _digest(self._state.contents(lambda path: False, paths))


def ours(path: str) -> bool:
    """Whether a path lies outside of the folders of other people's code."""
    return _NOT_OURS.isdisjoint(path.split("/"))


def upper_first(folders: Iterable[str]) -> list[str]:
    """Folders in the order of their depth, the root first."""
    return sorted(folders, key=lambda folder: (folder != ".", folder.count("/"), folder))


def tops(folders: list[str]) -> list[str]:
    """Of folders, upper ones first, those that lie in no other."""
    kept: list[str] = []
    for folder in folders:
        if "." not in kept and not any(folder.startswith(f"{one}/") for one in kept):
            kept.append(folder)
    return kept


def joined(directory: str, path: str) -> str:
    """A path relative to `directory`, as one relative to the root."""
    return path if directory == "." else f"{directory}/{path}"


def _since(repository: Repository, commit: str) -> list[str]:
    """The paths that were changed since a commit; none where it is not there."""
    if not commit:
        return []
    listed = repository.run("diff", "--name-only", "-z", "--no-renames", "--end-of-options", commit, "--", ok=(0, 128))
    return names(listed)


def _leads_into(top: str, path: str) -> bool:
    """Whether a link of the project leads to something in it."""
    return os.path.commonpath([top, os.path.realpath(os.path.join(top, path))]) == top


def _digest(contents: Mapping[str, str]) -> str:
    told = "".join([f"{path}\0{content}\0" for path, content in sorted(contents.items())])
    return sha256(os.fsencode(told)).hexdigest()


_LARGEST = 16 << 20  # bytes of a file that is read; of larger ones the size tells
_MOST = 2_000  # files; of more it is only known how many there are


def view_of(root: str, base: str = "") -> WorkTreeView | None:
    """The work tree at `root` against `base` (default: HEAD); None in a bare repository. Raises AhpError."""
    repo = git.discover(root, environ.current())
    return WorkTreeView(repo, base or None) if repo.root else None


@dataclass(frozen=True)
class Snapshot:
    """The files that differed from the commit `base`: path → id of the content, "" for a deleted one."""

    base: str
    files: dict[str, str]


def take(root: str, base: str = "") -> Snapshot | None:
    """The project at `root` now, against `base` (default: HEAD); None where git cannot tell, or for too many files.

    Tracked and untracked files count, ignored ones do not, nor new ones in folders such as `.venv`.
    """
    try:
        view = view_of(root, base)
        if view is None:
            return None
        entries = view.change().entries
        if len(entries) > _MOST:
            return None
        files: dict[str, str] = {}
        for entry in entries:
            if not entry.old_mode and not ours(entry.path):
                continue
            if entry.old_path:
                files[entry.old_path] = ""
            is_file = entry.new_mode not in (0, SUBMODULE)
            mode = "+x" if is_file and entry.new_mode & 0o111 else ""
            files[entry.path] = _id(view, entry.path) + mode if is_file else entry.new_oid if entry.new_mode else ""
        return Snapshot(view.base(), files)
    except AhpError:
        return None


def _id(view: WorkTreeView, path: str) -> str:
    """What tells one content from another, whether git knows it or not."""
    size = view.size(path) or 0
    return digest.sha256((view.read(path) or b"") if size <= _LARGEST else f"{size} bytes".encode())[:16]


def changed_since(root: str, before: Snapshot) -> list[str] | None:
    """The files that hold something else than at `before`, in order; None where that cannot be told any more.

    What was committed meanwhile as it lay there has not changed.
    """
    now = take(root, before.base)
    if now is None:
        return None
    return differing(before, now)


def differing(before: Snapshot, now: Snapshot) -> list[str]:
    """The files that hold something else in two snapshots against one commit, in order."""
    paths = before.files.keys() | now.files.keys()
    return sorted(path for path in paths if before.files.get(path) != now.files.get(path))

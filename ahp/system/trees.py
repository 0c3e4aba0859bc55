"""What a work tree holds as a git tree: taken, checked out, compared and merged, in an object store of its own.

Neither HEAD, nor the index, nor a branch of the repository is touched, and none of its objects is written: what is not
committed does not get among them.
"""

import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from ahp.system import files, git
from ahp.system.bare_merge import AUTHOR
from ahp.system.errors import AhpError
from ahp.system.git import GitError, Repository

OLDEST = (2, 38)  # of git: `merge-tree --write-tree`
_TIMEOUT = 300.0  # s
_LINE = 1 << 16  # bytes
# What is written here is gone when the run is: nothing waits for the disk, nobody reads advice.
_QUICK = ("-c", "core.fsync=none", "-c", "core.safecrlf=false", "-c", "advice.addEmbeddedRepo=false")


@dataclass(frozen=True)
class Changed:
    """A path that two trees have otherwise; `mode` is git's of the second, 0 where that has none."""

    path: str
    old_mode: int
    mode: int


class TreeStore:
    """Trees of the repository `repo` and its linked work trees, kept in `folder`, which is made.

    Raises AhpError where git is too old or the repository has nothing that could be checked out.
    """

    def __init__(self, repo: Repository, folder: str) -> None:
        self._repo = repo
        self.folder = folder
        said = repo.line("version")
        found = re.search(r"(\d+)\.(\d+)", said)
        if found is None or (int(found[1]), int(found[2])) < OLDEST:
            raise AhpError(f"git {'.'.join(map(str, OLDEST))} or newer is needed; this is {said}")
        self._store = {"GIT_OBJECT_DIRECTORY": f"{folder}/objects"}
        os.makedirs(f"{folder}/objects/info", mode=0o700, exist_ok=True)
        own = repo.line("rev-parse", "--path-format=absolute", "--git-path", "objects")
        with open(f"{folder}/objects/info/alternates", "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(own + "\n")

    def take(self, repo: Repository, index: str, leaving: Iterable[str] = ()) -> str:
        """The tree of all files in the work tree of `repo` but those that git ignores and those in `leaving`.

        `index` is the name of an index of its own, which knows afterwards what lies on the disk. Raises AhpError.
        """
        path = self._index(index)
        if not os.path.exists(path) and os.path.exists(f"{repo.git_dir}/index"):
            # With its time stamp: by that git knows which entries may have changed unseen.
            shutil.copy2(f"{repo.git_dir}/index", path)
        self._run(repo, path, *_QUICK, "add", "--all", "--", ":/")
        if names := "\0".join(leaving):
            # Not by a pathspec: git refuses those that name what is ignored.
            told = names.encode("utf-8", "surrogateescape")
            self._run(repo, path, "update-index", "--force-remove", "-z", "--stdin", stdin=told)
        return self._line(repo, path, "write-tree")

    def update(self, old: str, new: str) -> bool:
        """Has the main work tree hold the files of `new` where `take` found those of `old`, as its index "project".

        False, and nothing is written, where a file has changed since or something is in the way of a new one.
        """
        try:
            self._run(self._repo, self._index("project"), *_QUICK, "read-tree", "-m", "-u", old, new)
        except GitError:
            return False
        return True

    def check_out(self, tree: str, place: str, index: str) -> Repository:
        """A linked work tree at `place` on the commit of HEAD, detached, with the files of `tree`. Raises AhpError."""
        self._repo.run("worktree", "add", "--detach", "--no-checkout", "--quiet", place)
        made = git.discover(place, self._repo.env)
        path = self._index(index)
        self._run(made, path, "read-tree", tree)
        self._run(made, path, *_QUICK, "checkout-index", "--all", "--force", "--quiet", "--index")
        made.run("read-tree", "HEAD")
        return made

    def has(self, tree: str) -> bool:
        """Whether the tree is here, with all that it names."""
        try:
            self._run(self._repo, "", "ls-tree", "-r", tree)
        except GitError:
            return False
        return True

    def submodules(self, tree: str) -> bool:
        """Whether a tree names commits of other repositories."""
        return b"\x00160000 " in b"\0" + self._run(self._repo, "", "ls-tree", "-r", "-z", tree)

    def merge(self, base: str, ours: str, theirs: str) -> tuple[str, list[str]]:
        """(the tree with what both have changed since `base`, the paths at which they cannot be joined)."""
        begin = self._commit(base)
        sides = [self._commit(one, begin) for one in (ours, theirs)]
        out = self._run(
            self._repo, "", "merge-tree", "--write-tree", "--no-messages", "--name-only", "-z", *sides, ok=(0, 1)
        )
        tree, *paths = _text(out).split("\0")
        return tree, sorted({path for path in paths if path})

    def changed(self, old: str, new: str) -> list[Changed]:
        """The paths that two trees have otherwise, in order."""
        out = self._run(self._repo, "", "diff-tree", "-r", "-z", "--no-renames", "--raw", old, new)
        told = _text(out).split("\0")
        return [
            Changed(path, int(old_mode, 8), int(mode, 8))
            for entry, path in zip(told[::2], told[1::2], strict=False)
            for old_mode, mode in [entry.removeprefix(":").split(" ")[:2]]
        ]

    def patch(self, old: str, new: str) -> bytes:
        """git's diff of two trees, as `git apply` takes it."""
        return self._run(self._repo, "", "diff-tree", "-r", "-p", "--binary", "--no-color", old, new)

    def _index(self, name: str) -> str:
        """The path of an index, which only one thread uses: a lock on it is one that a killed git has left."""
        path = f"{self.folder}/index-{name}"
        with suppress(FileNotFoundError):
            os.unlink(f"{path}.lock")
        return path

    def _commit(self, tree: str, *parents: str) -> str:
        above = [word for parent in parents for word in ("-p", parent)]
        return self._line(self._repo, "", "commit-tree", "-m", "ahp", *above, tree)

    def _line(self, repo: Repository, index: str, *args: str) -> str:
        return _text(self._run(repo, index, *args)).strip()

    def _run(self, repo: Repository, index: str, *args: str, stdin: bytes = b"", ok: tuple[int, ...] = (0,)) -> bytes:
        env = {**repo.env, **self._store, **AUTHOR, **({"GIT_INDEX_FILE": index} if index else {})}
        here = Repository(repo.root, repo.git_dir, repo.common_dir, env, repo.git, repo.folder)
        return here.run(*args, stdin=stdin, ok=ok, timeout=_TIMEOUT)


def forget(repo: Repository, place: str) -> None:
    """Removes the linked work tree at `place`, where git knows one there."""
    try:
        repo.run("worktree", "remove", "--force", "--force", place, timeout=_TIMEOUT)
    except GitError:  # there is none, or its `.git` is gone, by which git would go: then what git knows of it goes
        link = os.fsencode(os.path.join(place, ".git"))
        known = f"{repo.common_dir}/worktrees"
        for name in os.listdir(known) if os.path.isdir(known) else ():
            if (files.read(f"{known}/{name}/gitdir", _LINE) or b"").rstrip(b"\n") == link:
                shutil.rmtree(f"{known}/{name}")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")

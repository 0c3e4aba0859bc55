"""What git itself makes of the parents of a merge, in a bare repository of ahp's own (authority §8.1).

There are no attributes, no drivers and no settings: `merge=union` in the work tree would bring removed lines back. What
git writes for that is gone with the folder.
"""

import os
import shutil
import tempfile
from collections.abc import Sequence
from functools import cached_property

from ahp.system import environ, files
from ahp.system.git import GitError, Repository
from ahp.system.view import names

_SETTINGS = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
}
AUTHOR = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "ahp"), ("EMAIL", "ahp@localhost"), ("DATE", "@0 +0000"))
}
_KEPT = ("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")  # of a server: what is pushed lies apart

Merged = tuple[str, frozenset[str]]
"""The tree that git makes, and the paths that are in conflict there."""


class BareMerges:
    """Merges of commits of `of`. The folder that they need is made for the first of them and goes at the end."""

    def __init__(self, of: Repository) -> None:
        self._of, self._folder = of, ""
        self._known: dict[tuple[str, ...], Merged | None] = {}

    def __enter__(self) -> "BareMerges":
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    @cached_property
    def repo(self) -> Repository:
        """The bare repository, which sees every object of the other one. Raises GitError, OSError."""
        of = self._of
        self._folder = folder = tempfile.mkdtemp(prefix="ahp-merge-")
        for part in ("objects/info", "refs"):
            os.makedirs(f"{folder}/{part}")
        given = of.absolute_paths({name: of.env[name] for name in _KEPT if of.env.get(name)})
        others = [f"{of.common_dir}/objects", *":".join(given.values()).split(":")]
        config = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n"
        if len(of.empty_tree()) > 40:
            config += "[extensions]\n\tobjectformat = sha256\n"
        _write(f"{folder}/HEAD", "ref: refs/heads/none\n")
        _write(f"{folder}/config", config)
        _write(f"{folder}/objects/info/alternates", "".join(f"{one}\n" for one in others if one))
        if shallow := files.read(of.common_dir + "/shallow"):
            _write(f"{folder}/shallow", shallow.decode("ascii", "replace"))
        env = {**environ.scrubbed(of.env), **_SETTINGS, **AUTHOR, "GIT_DIR": folder}
        return Repository("", folder, folder, env, of.git)

    def of(self, commits: Sequence[str]) -> Merged | None:
        """What git makes of some commits, one after the other; None where it cannot, as before 2.38."""
        key = tuple(commits)
        if key not in self._known:
            try:
                self._known[key] = self._fold(key)
            except GitError:
                self._known[key] = None
        return self._known[key]

    def index(self, parents: Sequence[str]) -> str:
        """A commit of what is staged, with these parents. Raises GitError."""
        of, repo = self._of, self.repo
        index = of.absolute_paths(of.env).get("GIT_INDEX_FILE") or f"{of.git_dir}/index"
        shutil.copyfile(index, f"{self._folder}/index")  # git locks the one that it reads a tree from
        for name in os.listdir(of.git_dir):
            if name.startswith("sharedindex."):
                shutil.copyfile(f"{of.git_dir}/{name}", f"{self._folder}/{name}")
        return self._commit(repo.line("write-tree"), parents)

    def _fold(self, commits: tuple[str, ...]) -> Merged:
        ours, *others = commits
        tree, conflicts = f"{ours}^{{tree}}", frozenset[str]()
        for number, theirs in enumerate(others, 1):
            options = ("--write-tree", "--no-messages", "--name-only", "-z")
            told = names(self.repo.run("merge-tree", *options, ours, theirs, ok=(0, 1)))
            tree, conflicts = told[0], conflicts | {path for path in told[1:] if path}
            ours = self._commit(tree, [ours, theirs]) if number < len(others) else ours
        return tree, conflicts

    def _commit(self, tree: str, parents: Sequence[str]) -> str:
        above = [word for parent in parents for word in ("-p", parent)]
        return self.repo.line("commit-tree", "-m", "ahp", *above, tree)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)

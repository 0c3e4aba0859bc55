"""The policy that a command looks at: the work tree's with all its layers, or the one that a person names."""

import os

from ahp.hosts import asking
from ahp.policy import cache, layers
from ahp.policy import tree as trees
from ahp.policy.rule import Policy
from ahp.policy.sources import FileSource, TextSource, TreeSource
from ahp.policy.yamltext import MAX_BYTES
from ahp.protocol.event import Workspace
from ahp.protocol.text import one_line
from ahp.system import files
from ahp.system.errors import AhpError


def of_work_tree(where: Workspace) -> Policy:
    """The work tree's policy with all its layers; where it has no file, as in a sparse checkout, HEAD's, which judges.

    Raises PolicyError, AhpError.
    """
    if where.repo is not None and not os.path.lexists(where.root + cache.PROJECT):
        head = trees.of_commit(where.repo, "HEAD")
        if head.has_policy:
            return layers.load(TreeSource(head, "HEAD"))
    return layers.load(FileSource(where.root, where.user_policy))


def looked_at(name: str | None, where: Workspace) -> Policy:
    """The policy called `name`, else that of the work tree. Raises PolicyError, AhpError."""
    return named(name) if name else of_work_tree(where)


def named(name: str) -> Policy:
    """The policy that a person names: in a file by itself, which may extend packs, else of a commit.

    Raises PolicyError, AhpError.
    """
    data = files.read(os.path.abspath(name), MAX_BYTES)
    if data is not None:
        return layers.load(TextSource(data, name))
    repo = asking.repository_here()
    commit = repo.commit_id(name)
    if commit is None:
        raise AhpError(f"there is no file and no commit {one_line(name)}")
    return layers.load(TreeSource(trees.of_commit(repo, commit), name))

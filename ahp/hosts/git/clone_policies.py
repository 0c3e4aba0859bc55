"""The policies that checks of a clone look at: each is loaded and compiled once, when the first check asks for it."""

import os
from collections.abc import Callable
from functools import cached_property, partial

from ahp.policy import cache, layers
from ahp.policy import compile as compiling
from ahp.policy import tree as trees
from ahp.policy.problems import PolicyError
from ahp.policy.program import Program
from ahp.policy.rule import Policy
from ahp.policy.sources import FileSource, TreeReader, TreeSource
from ahp.system.digest import tagged
from ahp.system.git import Repository

Find = Callable[[str], Program | None]
"""What is stored of a policy for a trigger."""


class ClonePolicy:
    """One policy: `name` says whose it is, `find` what is stored of it. Raises PolicyError where it does not load."""

    def __init__(self, name: str, source: FileSource | TreeSource, find: Find) -> None:
        self.name, self.find, self._source = name, find, source

    @cached_property
    def policy(self) -> Policy:
        return layers.load(self._source)

    @cached_property
    def programs(self) -> dict[str, Program]:
        """By trigger, as the policy says and not as they are stored."""
        return compiling.programs(self.policy, self._source.watched)

    def is_that_of(self, tree: TreeReader) -> bool:
        """Whether `tree` has each of its files as it is; False where it does not load.

        Packs lie with ahp, by absolute paths, and are the same for both.
        """
        try:
            _ = self.policy
        except PolicyError:
            return False
        own = [(path, digest) for path, digest in self._source.watched if not os.path.isabs(path)]
        return all(tagged(tree.read(path) or b"") == digest for path, digest in own)


class ClonePolicies:
    """HEAD's policy, and the work tree's with the user's layer at the path `user`. Raises AhpError."""

    def __init__(self, repo: Repository, user: str) -> None:
        self.repo, self.user = repo, user

    @cached_property
    def of_head(self) -> ClonePolicy | None:
        """None where HEAD has none."""
        tree = trees.of_commit(self.repo, "HEAD")
        find = partial(cache.find_committed, tree, self.repo.ahp_dir)
        return ClonePolicy("HEAD's policy", TreeSource(tree), find) if tree.has_policy else None

    @cached_property
    def of_work_tree(self) -> ClonePolicy:
        source = FileSource(self.repo.root, self.user)
        find = partial(cache.find, self.repo.root, self.repo.ahp_dir, user=self.user)
        return ClonePolicy("the work tree's policy", source, find)

    @cached_property
    def looked_at(self) -> ClonePolicy:
        """The work tree's; HEAD's where that is not there or does not load. Raises PolicyError."""
        if self.of_head is not None and not os.path.lexists(self.repo.root + cache.PROJECT):
            return self.of_head
        try:
            _ = self.of_work_tree.policy
        except PolicyError:
            if self.of_head is None:
                raise
            return self.of_head
        return self.of_work_tree

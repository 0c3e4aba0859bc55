"""The policy that a commit would bring has to load: nobody could judge by it afterwards (authority §2.4)."""

from ahp.policy import cache, compile
from ahp.policy import tree as trees
from ahp.policy.problems import PolicyError, Problem
from ahp.system.git import Repository


def check(repo: Repository, folder: str) -> None:
    """Raises PolicyError for a staged policy that is a link or does not load; GitError.

    It is compiled for the next event, which it may judge. `folder` is the repository's ahp folder.
    """
    tree = trees.of_index(repo)
    if not tree.has_policy or cache.find_committed(tree, folder, "pre-commit"):
        return
    try:
        compile.committed(tree, folder)
    except PolicyError as error:
        why = "this is staged, and a commit may not bring a policy that does not load"
        first, *others = error.problems
        raise PolicyError([Problem(first.place, f"{first.what}; {why}", first.mended), *others]) from None

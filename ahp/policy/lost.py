"""A policy that git holds and the work tree lacks: lost, not given up (design §4)."""

from ahp.policy.cache import PROJECT
from ahp.policy.problems import Place, PolicyError, Problem
from ahp.system.git import Repository

_PATH = PROJECT[1:]
_LOST = (
    "git has this policy, but the work tree does not, so nobody would judge; "
    f"take it back with `git restore --staged --worktree --source=HEAD {_PATH}` (in a sparse checkout: "
    "`git sparse-checkout add .ahp`), or give the gate up: `ahp uninstall git`"
)


def refuse(repo: Repository) -> None:
    """Raises PolicyError when the index or HEAD of `repo` holds a project policy: removing the file is no way round it.

    A sparse checkout loses it without anybody's will. Raises GitError.
    """
    answer = repo.run("cat-file", "--batch-check", stdin=f":{_PATH}\nHEAD:{_PATH}\n".encode())
    if any(not line.endswith(b" missing") for line in answer.splitlines()):
        raise PolicyError([Problem(Place(_PATH), _LOST)])

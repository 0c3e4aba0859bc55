"""A project policy that was removed from the work tree, or emptied, while git still holds it (design §4)."""

from ahp.policy.cache import PROJECT
from ahp.policy.problems import Place, PolicyError, Problem
from ahp.system.git import Repository

_PATH = PROJECT[1:]
_LOST = (
    "git has this policy, but the work tree does not, or has an empty file, so nobody would judge; "
    f"take it back with `git restore --staged --worktree --source=HEAD {_PATH}` (in a sparse checkout: "
    "`git sparse-checkout add .ahp`)"
)


def refuse(repo: Repository, actor_kind: str = "") -> None:
    """Raises PolicyError when the index or HEAD of `repo` holds a project policy that is not empty: removing or
    emptying the file is no way round it. A sparse checkout or a full disk may have done so.

    Raises GitError.
    """
    answer = repo.run("cat-file", "--batch-check", stdin=f":{_PATH}\nHEAD:{_PATH}\n".encode())
    if any(not line.endswith((b" missing", b" 0")) for line in answer.splitlines()):
        # An agent is not told how the gate is taken away.
        more = ", or give the gate up: `ahp uninstall git`" if actor_kind == "human" else ""
        raise PolicyError([Problem(Place(_PATH), _LOST + more)])

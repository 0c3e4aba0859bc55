"""Which push brought a commit, by what git lists."""

from __future__ import annotations

import os

from ahp.insight.audit import Push, pushed
from ahp.system import git
from tests.conftest import Repo


def test_the_first_push_that_brought_a_commit(repo: Repo) -> None:
    made = [repo.commit(str(n)) for n in range(5)]
    repo.git("tag", "-a", "-m", "v1", "v1", made[2])
    tag = repo.git("rev-parse", "v1")
    where = git.discover(str(repo.root), dict(os.environ))
    first, second, gone = (
        Push(head, base, many, {})
        for head, base, many in ((tag, [made[0]], 1), (made[4], [made[0]], 0), ("f" * 40, [], 9))
    )
    brought, before = pushed(where, [gone, first, second], [made[1]])
    assert before == {made[0], made[1]}
    assert [brought[commit] for commit in made[2:]] == [first, second, second] and made[1] not in brought

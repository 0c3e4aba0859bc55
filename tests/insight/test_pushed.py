"""What a push brings is what git says, in a history with merges."""

from __future__ import annotations

import os
import random

from ahp.insight.audit import Push, _History, pushed
from ahp.system import git
from tests.conftest import Repo


def grown(repo: Repo, size: int) -> list[str]:
    """Commits with up to three parents each."""
    chance, made = random.Random(3), []
    tree = repo.git("mktree", stdin=b"")
    for n in range(size):
        parents = chance.sample(made[-5:], min(len(made), chance.choice([1, 1, 1, 2, 3])))
        options = [word for parent in parents for word in ("-p", parent)]
        made.append(repo.git("commit-tree", tree, "-m", str(n), *options))
    return made


def test_it_brings_what_git_lists(repo: Repo) -> None:
    made = grown(repo, 24)
    where = git.discover(str(repo.root), dict(os.environ))
    history, chance = _History(where, made), random.Random(4)
    for _ in range(25):
        tip, base = chance.choice(made), chance.sample(made, chance.randint(0, 2))
        listed = repo.git("rev-list", tip, "--not", *base).split()
        assert history.brings([tip], [*base, "0" * 40]) == set(listed)


def test_the_first_push_that_brought_a_commit(repo: Repo) -> None:
    made = [repo.commit(str(n)) for n in range(5)]
    repo.git("tag", "-a", "-m", "v1", "v1", made[2])
    tag = repo.git("rev-parse", "v1")
    where = git.discover(str(repo.root), dict(os.environ))
    first, second, gone = (
        Push(head, base, many, {})
        for head, base, many in ((tag, [made[0]], 1), (made[4], [made[0]], 0), ("f" * 40, [], 9))
    )
    found = pushed(where, made, [gone, first, second], [made[1]])
    assert found.before == {made[0], made[1]}
    assert found.brought == {made[2]: (first, True), made[3]: (second, False), made[4]: (second, False)}

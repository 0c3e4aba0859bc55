"""`repo`: the repository as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def test_a_shallow_clone_says_so(repo: Any, make_event: Any, gather: Any, tmp_path: Path) -> None:
    from ahp.system import git

    repo.commit("one")
    repo.commit("two")
    repo.git("clone", "-q", "--depth=1", f"file://{repo.root}", str(tmp_path / "shallow"))
    event = make_event(repo=git.discover(str(tmp_path / "shallow"), {}))
    assert gather(event, "repo.is_shallow") == {"repo.is_shallow": True}
    facts = gather(make_event(), "repo.is_shallow", "repo.root")
    assert facts == {"repo.is_shallow": False, "repo.root": str(repo.root)}

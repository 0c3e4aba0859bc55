"""A digest of the work tree tells any other content from this one, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.facts import tree_digest


def digest(event: Any) -> str:
    return tree_digest.of(event.repo, "", lambda path: True)


def test_each_content_has_its_own_digest(repo: Any, make_event: Any) -> None:
    repo.commit("first", **{"a.py": "1\n"})
    event = make_event()
    seen = [digest(event)]
    repo.write("a.py", "2\n")
    seen.append(digest(event))
    repo.add()
    assert digest(event) == seen[-1]
    repo.write("new.txt", "x")
    seen.append(digest(event))
    (repo.root / "new.txt").chmod(0o755)
    seen.append(digest(event))
    (repo.root / "link").symlink_to("a.py")
    seen.append(digest(event))
    (repo.root / "a.py").unlink()
    seen.append(digest(event))
    assert len(set(seen)) == len(seen)


def test_a_file_too_large_to_read_is_told_by_size_and_time(
    repo: Any, make_event: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_digest, "_FILE_LIMIT", 3)
    repo.write("big", "x" * 10)
    event = make_event()
    before = digest(event)
    assert digest(event) == before
    repo.write("big", "x" * 11)
    assert digest(event) != before

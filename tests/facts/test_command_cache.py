"""A command's result holds for the content it was made from and for nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ahp.facts import command_facts, tree_digest
from tests.facts.conftest import command_of, settings, spec


@pytest.fixture
def count(repo: Any, make_event: Any, gather: Any, tmp_path: Path) -> Any:
    """`count()` → how often the command has run so far, after asking for its fact once more."""
    log = tmp_path / "runs"
    log.write_text("")
    more: dict[str, Any] = {}

    def ask(**changed: Any) -> int:
        more.update(changed)
        command = spec(f"echo run >> '{log}'; printf 'caf\\351\\n'", **more)
        command["extract"] = {"first": {"value": "output[0]", "type": "str"}}
        facts = gather(make_event(), "lint.first", settings=settings(command))
        assert facts == {"lint.first": "caf\udce9"}
        return len(log.read_text().splitlines())

    return ask


def test_the_same_content_is_looked_at_once(repo: Any, count: Any) -> None:
    repo.commit("first", **{"a.py": "1\n"})
    assert [count(), count()] == [1, 1]
    repo.write("a.py", "2\n")
    assert [count(), count()] == [2, 2]
    repo.add()
    assert count() == 2
    repo.write("new.txt", "x")
    assert [count(), count()] == [3, 3]
    (repo.root / "new.txt").chmod(0o755)
    assert [count(), count()] == [4, 4]
    (repo.root / "a.py").unlink()
    assert [count(), count()] == [5, 5]


def test_only_the_files_it_looks_at_matter(repo: Any, count: Any) -> None:
    repo.write("a.py", "1\n")
    repo.add()
    assert count(when_changed=["*.py"]) == 1
    repo.write("b.txt", "x")
    assert count() == 1
    (repo.root / "c.py").symlink_to("a.py")
    assert [count(), count()] == [2, 2]


def test_another_command_has_its_own_result(repo: Any, count: Any) -> None:
    assert count() == 1
    assert count(directory="./") == 2


def test_a_damaged_store_is_no_store(repo: Any, count: Any) -> None:
    assert count() == 1
    (kept,) = (repo.root / ".git/ahp/cache/facts").iterdir()
    good = json.loads(kept.read_text())
    others = [json.dumps(other).encode() for other in ({**good, "code": "0"}, {"key": "x"})]
    for bad in (b"{", b"[]", b"\xff", *others):
        kept.write_bytes(bad)
        before = count()
        assert before > 1
    assert count() == before


def test_where_nothing_can_be_written_it_runs_again(repo: Any, count: Any) -> None:
    (repo.root / ".git/ahp").write_text("a file where a folder should be")
    assert [count(), count()] == [1, 2]


def test_a_loud_result_is_not_kept(count: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_facts, "_OUTPUT_LIMIT", 3)
    assert [count(), count()] == [1, 2]


def test_a_file_too_large_to_read_is_told_by_size_and_time(
    repo: Any, count: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_digest, "_FILE_LIMIT", 3)
    repo.write("big", "x" * 10)
    assert [count(), count()] == [1, 1]


def test_outside_a_repository_nothing_is_kept(make_event: Any) -> None:
    store = command_facts.Store(make_event(repo=None, view=None), command_of(spec("exit 0")), "/bin/sh")
    store.save(0, b"")
    assert store.load() is None

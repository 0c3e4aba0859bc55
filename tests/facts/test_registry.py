"""Gathering: only what is read, each absence with its reason, given facts in place of gathered ones."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from ahp.facts import given, registry
from ahp.system.errors import AhpError
from ahp.system.git import GitError


def test_a_namespace_nobody_reads_is_not_imported() -> None:
    program = """
import sys
from ahp.facts import registry
from ahp.protocol.actor import Actor
from ahp.protocol.event import Event
event = Event("pre-commit", "git", Actor("human"), root="/", journal="/", env={}, deadline=0.0)
registry.gather({"actor": ["kind"], "branch": ["name"]}, event, {})
print(*sorted(name for name in sys.modules if name.startswith("ahp.facts.")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    expected = ["absent", "actor", "branch", "branches", "registry"]
    assert done.stdout.split() == [f"ahp.facts.{name}" for name in expected]


def test_the_light_collectors_load_nothing_heavy(repo: Any) -> None:
    repo.commit("first", **{"a.txt": "1\n"})
    repo.write("a.txt", "2\n")
    repo.add()
    program = """
import sys
sys.path.insert(0, sys.argv[2])
from ahp.facts import registry
from ahp.protocol.actor import Actor
from ahp.protocol.event import Event
from ahp.system import environ, git
from ahp.system.view import IndexView
repo = git.locate(sys.argv[1], environ.current())
event = Event("commit-msg", "git", Actor("human"), root=repo.root, journal="", env=environ.current(),
              deadline=0.0, repo=repo, view=IndexView(repo), draft=b"feat: x\\n")
reads = {"files": ["changed_count", "largest_bytes", "changes"], "diff": ["added"], "branch": ["name", "is_default"],
         "repo": ["root", "is_shallow"], "commit": ["subject", "type", "author", "is_merge"], "actor": ["kind"],
         "time": ["hour"], "env": ["CI"], "limits": ["x"], "environment": [""], "deps": ["changed"],
         "session": ["id"], "tool": ["name"], "push": ["ref"]}
values, missing = registry.gather(reads, event, {"limits": {"x": 1}, "env_allow": ["CI"]})
assert set(missing) == {"tool.name", "push.ref"}, missing
heavy = {"os", "re", "json", "typing", "dataclasses", "enum", "functools", "collections", "pathlib", "subprocess"}
print(*sorted(heavy & set(sys.modules)))
"""
    root = registry.__file__.rpartition("/ahp/")[0]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(repo.root), root], capture_output=True, text=True, check=False
    )
    assert (done.stderr, done.stdout.split()) == ("", [])


def test_one_pass_may_leave_namespaces_for_another(make_event: Any) -> None:
    reads = {"actor": ["kind"], "branch": ["name"]}
    assert registry.gather(reads, make_event(), {}, only={"actor"}) == ({"actor.kind": "human"}, {})


def test_given_facts_replace_whole_namespaces(make_event: Any, gather: Any) -> None:
    event = make_event(given={"files": {"changed_count": 25}, "checklist": {"tasks": {"total": 3}, "review.done": 1}})
    facts = gather(
        event, "files.changed_count", "files.changed", "checklist.tasks.total", "checklist.review.done", "branch.name"
    )
    assert facts == {
        "files.changed_count": 25,
        "checklist.tasks.total": 3,
        "checklist.review.done": 1,
        "branch.name": "main",
        "missing": {"files.changed": ("the given facts do not hold it", "")},
    }
    missing = gather(make_event(given={"checklist": {"tasks": 1}}), "checklist.tasks.total")["missing"]
    assert "checklist.tasks.total" in missing


@pytest.mark.parametrize(
    ("facts", "path", "says"),
    [
        ({"files": {"changed_count": "abc"}}, "files.changed_count", "is of type int, not 'abc'"),
        ({"files": {"changed_count": True}}, "files.changed_count", "is of type int, not True"),
        ({"files": {"changed_count": -1}}, "files.changed_count", "is from 0 to any number, not -1"),
        ({"files": {"changed": ["a", 1]}}, "files.changed", "one of its items is not"),
        ({"diff": {"added": ["a"]}}, "diff.added", "one of its items is not"),
        ({"tool": {"name": "bash"}}, "tool.name", "is one of shell, write"),
        ({"checklist": {"completion_rate": 80}}, "checklist.completion_rate", "is from 0.0 to 1.0, not 80"),
        ({"coverage": {"current": None}}, "coverage.current", "never null; leave it out"),
        ({"environment": {"": 3}}, "environment", "is of type str, not 3"),
    ],
)
def test_given_facts_have_the_types_of_facts(
    make_event: Any, gather: Any, facts: dict[str, Any], path: str, says: str
) -> None:
    with pytest.raises(AhpError, match=says):
        gather(make_event(given=facts), path)


def test_given_whole_numbers_may_stand_for_others_and_null_where_it_may(make_event: Any, gather: Any) -> None:
    event = make_event(given={"coverage": {"current": 80}, "lint": {"count": "anything"}})
    assert gather(event, "coverage.current", "lint.count") == {"coverage.current": 80.0, "lint.count": "anything"}
    assert given._fitting("x", None, {"type": "str", "nullable": True}) is None


def test_a_field_that_a_collector_leaves_out_is_absent(make_event: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ahp.facts import actor

    monkeypatch.setattr(actor, "gather", lambda event, fields, settings: {})
    assert registry.gather({"actor": ["kind"]}, make_event(), {})[1] == {"actor.kind": ("nothing tells it here", "")}


def test_what_git_refuses_is_an_error_not_an_absence(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("a", "x")
    repo.add()
    (repo.root / ".git" / "index").write_bytes(b"DIRC rubbish")
    with pytest.raises(GitError):
        gather(make_event(), "files.changed")

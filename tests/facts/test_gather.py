"""Gathering: only what is read, each absence with its reason."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from ahp import facts
from ahp.facts.gather import gather as gather_facts
from ahp.system.git import GitError


def test_a_namespace_nobody_reads_is_not_imported() -> None:
    program = """
import sys
from ahp.facts.gather import gather
from ahp.protocol.event import Actor
from ahp.protocol.event import Event, Workspace
event = Event("pre-commit", "git", Actor("human"), Workspace("/", "/", {}), 0.0)
gather({"actor": ["kind"], "branch": ["name"]}, event, None)
print(*sorted(name for name in sys.modules if name.startswith("ahp.facts.")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    expected = ["actor", "branch", "default_branch", "gather", "registry"]
    assert done.stdout.split() == [f"ahp.facts.{name}" for name in expected]


def test_the_light_collectors_load_nothing_heavy(repo: Any) -> None:
    repo.commit("first", **{"a.txt": "1\n"})
    repo.write("a.txt", "2\n")
    repo.add()
    program = """
import sys
sys.path.insert(0, sys.argv[2])
from ahp.facts.gather import gather
from ahp.facts.registry import Settings
from ahp.protocol.event import Actor
from ahp.protocol.event import Event, Workspace
from ahp.system import environ, git
from ahp.system.view import IndexView
repo = git.locate(sys.argv[1], environ.current())
event = Event("commit-msg", "git", Actor("human"), Workspace(repo.root, "", environ.current(), repo), 0.0)
event.view, event.draft = IndexView(repo), b"feat: x\\n"
reads = {"files": ["changed_count", "largest_bytes", "changes"], "diff": ["added"], "branch": ["name", "is_default"],
         "repo": ["root", "is_shallow"], "commit": ["subject", "type", "author", "is_merge"], "actor": ["kind"],
         "time": ["hour"], "env": ["CI"], "limits": ["x"], "environment": [""], "deps": ["changed"],
         "session": ["id"], "tool": ["name"], "push": ["ref"]}
settings = Settings(limits={"x": 1}, env_allow=["CI"], timezone="", reports=None, commands={}, environment=[],
                    namespaces={})
values, missing = gather(reads, event, settings)
assert set(missing) == {"tool.name", "push.ref"}, missing
heavy = {"os", "re", "json", "typing", "dataclasses", "enum", "functools", "collections", "pathlib", "subprocess"}
print(*sorted(heavy & set(sys.modules)))
"""
    root = facts.__file__.rpartition("/ahp/")[0]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(repo.root), root],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "TZ"},  # the machine's zone needs no library
    )
    assert (done.stderr, done.stdout.split()) == ("", [])


def test_a_field_that_a_collector_leaves_out_is_absent(make_event: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from ahp.facts import actor

    monkeypatch.setattr(actor, "gather", lambda event, fields, settings: {})
    missing = gather_facts({"actor": ["kind"]}, make_event(), {})[1]
    assert missing["actor.kind"].reason == "not available at this trigger" and not missing["actor.kind"].unknowable


def test_what_git_refuses_is_an_error_not_an_absence(repo: Any, make_event: Any, gather: Any) -> None:
    repo.write("a", "x")
    repo.add()
    (repo.root / ".git" / "index").write_bytes(b"DIRC rubbish")
    with pytest.raises(GitError):
        gather(make_event(), "files.changed")
